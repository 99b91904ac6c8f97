import type { RecordedTurn } from "../../transcripts/index.ts";
import { blockText } from "./block-text.ts";
import { identifiersIn } from "./identifiers.ts";
import type { PlayedPrompt } from "./simulated-cache.ts";
import { shownNames, type UnitNames } from "./unit-names.ts";
import type { SizedPromptUnit } from "./unit-sizer.ts";

const noNames: ReadonlySet<string> = new Set();

/**
 * Finds answers that use a name which the client sent and the prompt did not show. Notes of ours do not count
 * as shown: a name in a manifest is no content.
 */
export class MissDetector {
  readonly #unitNames: UnitNames;
  readonly #originals = new ClientTexts();
  readonly #shown = new Map<string, ReadonlySet<string>>();
  #own: number[] = [];
  #others: number[] = [];

  constructor(unitNames: UnitNames) {
    this.#unitNames = unitNames;
  }

  /** The names that the answer needed and the prompt lacked. Must be called for every request, in order. */
  missedNames({ client, upstream, used }: MissInput): readonly string[] {
    for (const unit of client.units.slice(client.same)) this.#originals.add(unit);
    this.#classify(upstream);
    // Nothing is hidden: every unit is the client's or ours, and none of the client's is missing.
    if (this.#others.length === 0 && upstream.units.length - this.#own.length === client.units.length)
      return [];
    const sent = new Set(upstream.units.map(({ bare }) => bare));
    const hidden = client.units.filter((unit) => !sent.has(unit.bare));
    if (hidden.length === 0) return [];
    const wanted = [...used].filter((name) => hidden.some((unit) => this.#unitNames.namesIn(unit).has(name)));
    return wanted.filter((name) => !upstream.units.some((unit) => this.#shownIn(unit).has(name)));
  }

  /** Finds the units that are ours, and those that are neither ours nor the client's. */
  #classify({ units, same }: PlayedPrompt<SizedPromptUnit>): void {
    const isKept = (at: number): boolean => at < same;
    this.#own = this.#own.filter(isKept);
    this.#others = this.#others.filter(isKept);
    units.slice(same).forEach((unit, at) => {
      if (unit.own !== null) this.#own.push(same + at);
      else if (!this.#originals.has(unit)) this.#others.push(same + at);
    });
  }

  #shownIn(unit: SizedPromptUnit): ReadonlySet<string> {
    if (unit.own !== null) return noNames;
    if (this.#originals.has(unit)) return this.#unitNames.namesIn(unit);
    const known = this.#shown.get(unit.key);
    if (known !== undefined) return known;
    const names = shownNames(unit.text, this.#originals.of(unit));
    this.#shown.set(unit.key, names);
    return names;
  }
}

export type MissInput = {
  readonly client: PlayedPrompt<SizedPromptUnit>;
  readonly upstream: PlayedPrompt<SizedPromptUnit>;
  /** The names in the answer. */
  readonly used: ReadonlySet<string>;
};

/** The texts that the client sent: a result by its call, any other text by its role. */
class ClientTexts {
  readonly #keys = new Set<string>();
  /** By call or by role; several texts if a call id is used again. */
  readonly #texts = new Map<string, string[]>();

  add(unit: SizedPromptUnit): void {
    if (this.#keys.has(unit.bare)) return;
    this.#keys.add(unit.bare);
    const key = textKey(unit);
    this.#texts.set(key, [...(this.#texts.get(key) ?? []), unit.text]);
  }

  has(unit: SizedPromptUnit): boolean {
    return this.#keys.has(unit.bare);
  }

  of(unit: SizedPromptUnit): string {
    return (this.#texts.get(textKey(unit)) ?? []).join("\n");
  }
}

function textKey({ role, callId, run }: SizedPromptUnit): string {
  return callId === null ? role : `${run} ${callId}`;
}

export function namesUsed({ a }: RecordedTurn): ReadonlySet<string> {
  return new Set(a.flatMap((block) => [...identifiersIn(blockText(block))]));
}

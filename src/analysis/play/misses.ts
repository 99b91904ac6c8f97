import type { RecordedTurn } from "../../transcripts/index.ts";
import { blockText } from "./block-text.ts";
import type { Prompt } from "./cache.ts";
import { identifiersIn } from "./identifiers.ts";
import { type NameBook, shownNames } from "./name-book.ts";
import type { SizedUnit } from "./units.ts";

const nothing: ReadonlySet<string> = new Set();

/**
 * Finds answers that use a name which stands in what the client sent, and in nothing that was shown of it.
 * What is ours shows nothing: a name in a manifest is no content.
 */
export class MissWatch {
  readonly #book: NameBook;
  readonly #originals = new Originals();
  readonly #shown = new Map<string, ReadonlySet<string>>();
  #own: number[] = [];
  #others: number[] = [];

  constructor(book: NameBook) {
    this.#book = book;
  }

  /** The names that an answer would have needed. To be asked for every request, in order. */
  missed({ client, upstream, used }: Answered): readonly string[] {
    for (const unit of client.units.slice(client.same)) this.#originals.add(unit);
    this.#tally(upstream);
    // All that was sent is the client's or ours, and there is as much of the client's as it sent.
    if (this.#others.length === 0 && upstream.units.length - this.#own.length === client.units.length)
      return [];
    const sent = new Set(upstream.units.map(({ bare }) => bare));
    const hidden = client.units.filter((unit) => !sent.has(unit.bare));
    if (hidden.length === 0) return [];
    const wanted = [...used].filter((name) => hidden.some((unit) => this.#book.namesIn(unit).has(name)));
    return wanted.filter((name) => !upstream.units.some((unit) => this.#shownIn(unit).has(name)));
  }

  /** Which units are ours, and which are neither that nor the client's. */
  #tally({ units, same }: Prompt<SizedUnit>): void {
    const isKept = (at: number): boolean => at < same;
    this.#own = this.#own.filter(isKept);
    this.#others = this.#others.filter(isKept);
    units.slice(same).forEach((unit, at) => {
      if (unit.own !== null) this.#own.push(same + at);
      else if (!this.#originals.has(unit)) this.#others.push(same + at);
    });
  }

  #shownIn(unit: SizedUnit): ReadonlySet<string> {
    if (unit.own !== null) return nothing;
    if (this.#originals.has(unit)) return this.#book.namesIn(unit);
    const known = this.#shown.get(unit.key);
    if (known !== undefined) return known;
    const names = shownNames(unit.text, this.#originals.of(unit));
    this.#shown.set(unit.key, names);
    return names;
  }
}

export type Answered = {
  readonly client: Prompt<SizedUnit>;
  readonly upstream: Prompt<SizedUnit>;
  /** The names in the answer. */
  readonly used: ReadonlySet<string>;
};

/** What the client has sent: a result by its call, any other text by who says it. */
class Originals {
  readonly #keys = new Set<string>();
  /** By call, or by role; several where an id is used again. */
  readonly #texts = new Map<string, string[]>();

  add(unit: SizedUnit): void {
    if (this.#keys.has(unit.bare)) return;
    this.#keys.add(unit.bare);
    const place = placeOf(unit);
    this.#texts.set(place, [...(this.#texts.get(place) ?? []), unit.text]);
  }

  has(unit: SizedUnit): boolean {
    return this.#keys.has(unit.bare);
  }

  of(unit: SizedUnit): string {
    return (this.#texts.get(placeOf(unit)) ?? []).join("\n");
  }
}

function placeOf({ role, callId, run }: SizedUnit): string {
  return callId === null ? role : `${run} ${callId}`;
}

export function namesUsed({ a }: RecordedTurn): ReadonlySet<string> {
  return new Set(a.flatMap((block) => [...identifiersIn(blockText(block))]));
}

import { must } from "../../base/index.ts";
import type { ModelPrices } from "../../render/index.ts";

/** A unit of a prompt as a cache sees it. */
export type PromptUnit = {
  /** Equal for equal bytes at an equal place in its message, cache marks not looked at. */
  readonly key: string;
  readonly tokens: number;
  readonly isMarked: boolean;
  readonly isUser: boolean;
  /** A run of calls, or of results, is one position for a mark that looks back. */
  readonly run: "call" | "result" | null;
};

/** A prompt, and how much of its beginning is that of the one before. */
export type Prompt<U extends PromptUnit = PromptUnit> = {
  readonly units: readonly U[];
  readonly same: number;
  /** Where marks are. */
  readonly marks: readonly number[];
};

/** What follows a prompt in the same stream. Its first units may be known to be the same. */
export function promptAfter<U extends PromptUnit>(
  before: Prompt<U> | null,
  units: readonly U[],
  known = 0,
): Prompt<U> {
  const old = before?.units ?? [];
  let same = known;
  while (same < old.length && same < units.length && isSame(old[same], units[same])) same += 1;
  const marks = before?.marks.filter((at) => at < known) ?? [];
  for (let at = known; at < units.length; at += 1) if (units[at]?.isMarked === true) marks.push(at);
  return { units, same, marks };
}

/** Most of them are the very same. */
function isSame(a: PromptUnit | undefined, b: PromptUnit | undefined): boolean {
  return a === b || a?.key === b?.key;
}

/** As the product has them, and how long what is cached stays. */
export type CacheRules = ModelPrices["rule"] & { readonly lifetimeMs: number };

/** Tokens by what they cost. */
export type Bill = { readonly read: number; readonly written: number; readonly fresh: number };

/** Of one prompt, and up to which unit (not including it) each price goes. */
export type PromptBill = Bill & {
  readonly readUnits: number;
  readonly writtenUnits: number;
};

/** What a provider has cached of one stream. Prompts that begin alike share the nodes of a tree. */
export class PromptCache {
  readonly #rules: CacheRules;
  readonly #children = new Map<string, number>();
  readonly #expiries = new Map<number, number>();
  #nodes: number[] = [];
  #sums: number[] = [];

  constructor(rules: CacheRules) {
    this.#rules = rules;
  }

  /** One request after the other. Lifetimes count from the start of a request. */
  send(prompt: Prompt, timeMs: number): PromptBill {
    this.#walk(prompt);
    const { units } = prompt;
    const ends = this.#endsIn(prompt);
    const read = this.#readable(units, ends, timeMs);
    this.#keep(ends, read, timeMs);
    // Where nothing says what is written, writing costs nothing.
    const written = this.#rules.kind === "prefix" ? read : Math.max(read, ends.at(-1) ?? 0);
    const readTokens = this.#stepped(this.#sum(read));
    const writtenTokens = this.#sum(written) - this.#sum(read);
    return {
      read: readTokens,
      written: writtenTokens,
      fresh: this.#sum(units.length) - readTokens - writtenTokens,
      readUnits: readTokens === 0 ? 0 : read,
      writtenUnits: written,
    };
  }

  /** What a prompt has in common with the one before was walked then. */
  #walk({ units, same }: Prompt): void {
    this.#nodes.length = same;
    this.#sums.length = same;
    for (const { key, tokens } of units.slice(same)) {
      const path = `${this.#nodes.at(-1) ?? 0} ${key}`;
      const node = this.#children.get(path) ?? this.#children.size + 1;
      this.#children.set(path, node);
      this.#nodes.push(node);
      this.#sums.push((this.#sums.at(-1) ?? 0) + tokens);
    }
  }

  /** Tokens of the first so many units. */
  #sum(count: number): number {
    return count === 0 ? 0 : must(this.#sums[count - 1], "the prompt is that long");
  }

  /** How many units stand in front of each place that is written; too short a beginning is not. */
  #endsIn({ units, marks }: Prompt): readonly number[] {
    const { kind, tokensMin } = this.#rules;
    if (kind === "none") return [];
    const user = units.findLastIndex(({ isUser }) => isUser);
    const places = {
      marks: () => marks,
      prefix: () => units.keys(),
      breakpoints: () => [...new Set([...marks, user])].filter((at) => at >= 0).sort((a, b) => a - b),
    };
    return [...places[kind]()].map((at) => at + 1).filter((end) => this.#sum(end) >= tokensMin);
  }

  #readable(units: readonly PromptUnit[], marks: readonly number[], timeMs: number): number {
    if (this.#rules.kind !== "marks") return this.#longest(units.length, timeMs);
    // Were there a longer one for an earlier mark, the later would have met it on its way back.
    for (const mark of [...marks].reverse()) {
      const found = this.#lookBack(units, mark, timeMs);
      if (found > 0) return found;
    }
    return 0;
  }

  #longest(count: number, timeMs: number): number {
    for (let at = count; at > 0; at -= 1) if (this.#isAlive(at, timeMs)) return at;
    return 0;
  }

  #lookBack(units: readonly PromptUnit[], mark: number, timeMs: number): number {
    const far = this.#rules.lookBack ?? units.length;
    let positions = 1;
    for (let at = mark; at > 0 && positions <= far; at -= 1) {
      if (this.#isAlive(at, timeMs)) return at;
      const { run } = must(units[at - 1], "it is in the prompt");
      if (run === null || units[at - 2]?.run !== run) positions += 1;
    }
    return 0;
  }

  #isAlive(count: number, timeMs: number): boolean {
    const expiry = this.#expiries.get(this.#nodes[count - 1] ?? 0);
    return expiry !== undefined && expiry >= timeMs;
  }

  /** What is read lives on; what is behind it and ends at a mark is written. */
  #keep(ends: readonly number[], read: number, timeMs: number): void {
    const { kind, lifetimeMs } = this.#rules;
    for (const end of read > 0 ? [read, ...ends] : ends) {
      const isInside = end < read && kind !== "prefix";
      if (isInside && !this.#isAlive(end, timeMs)) continue;
      this.#expiries.set(must(this.#nodes[end - 1], "it is in the prompt"), timeMs + lifetimeMs);
    }
  }

  #stepped(tokens: number): number {
    const { tokensMin, stepTokens } = this.#rules;
    return tokens < tokensMin ? 0 : tokens - ((tokens - tokensMin) % stepTokens);
  }
}

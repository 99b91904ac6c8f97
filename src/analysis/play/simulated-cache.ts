import { must } from "../../base/index.ts";
import type { ModelPrices } from "../../policy/index.ts";

/** A unit of a prompt as a cache sees it. */
export type CacheUnit = {
  /** Equal for equal bytes at the same position in a message; cache marks are ignored. */
  readonly key: string;
  readonly tokens: number;
  readonly isMarked: boolean;
  readonly isUser: boolean;
  /** A run of calls, or of results, counts as one position when a mark looks back. */
  readonly run: "call" | "result" | null;
};

/** A prompt, and how many of its first units equal those of the prompt before. */
export type PlayedPrompt<U extends CacheUnit = CacheUnit> = {
  readonly units: readonly U[];
  readonly same: number;
  /** Indexes of the units that have a cache mark. */
  readonly marks: readonly number[];
};

/** The next prompt of a stream. The first `known` units are known to be the same. */
export function promptAfter<U extends CacheUnit>(
  before: PlayedPrompt<U> | null,
  units: readonly U[],
  known = 0,
): PlayedPrompt<U> {
  const old = before?.units ?? [];
  let same = known;
  while (same < old.length && same < units.length && isSame(old[same], units[same])) same += 1;
  const marks = before?.marks.filter((at) => at < known) ?? [];
  for (let at = known; at < units.length; at += 1) if (units[at]?.isMarked === true) marks.push(at);
  return { units, same, marks };
}

/** Most units are the same object, so keys are rarely compared. */
function isSame(a: CacheUnit | undefined, b: CacheUnit | undefined): boolean {
  return a === b || a?.key === b?.key;
}

/** The cache rules of a model as Aperture has them, and the lifetime of cached content. */
export type CacheRules = ModelPrices["rule"] & { readonly lifetimeMs: number };

/** Tokens by price: read from the cache, written to it, or neither. */
export type TokenBill = { readonly read: number; readonly written: number; readonly fresh: number };

/** The bill of one prompt, and the index of the unit at which each price ends. */
export type PromptBill = TokenBill & {
  readonly readUnits: number;
  readonly writtenUnits: number;
};

/**
 * Simulates the provider's cache of one stream. Prompts with the same beginning share the nodes of a tree.
 */
export class SimulatedCache {
  readonly #rules: CacheRules;
  readonly #children = new Map<string, number>();
  readonly #expiries = new Map<number, number>();
  #nodes: number[] = [];
  #sums: number[] = [];

  constructor(rules: CacheRules) {
    this.#rules = rules;
  }

  /** Bills one request after the other. Lifetimes count from the start of a request. */
  send(prompt: PlayedPrompt, timeMs: number): PromptBill {
    this.#walk(prompt);
    const { units } = prompt;
    const ends = this.#endsIn(prompt);
    const read = this.#readLength(units, ends, timeMs);
    this.#keep(ends, read, timeMs);
    // With automatic prefix caching, writing costs nothing.
    const written = this.#rules.kind === "prefix" ? read : Math.max(read, ends.at(-1) ?? 0);
    const readTokens = this.#roundDown(this.#sum(read));
    const writtenTokens = this.#sum(written) - this.#sum(read);
    return {
      read: readTokens,
      written: writtenTokens,
      fresh: this.#sum(units.length) - readTokens - writtenTokens,
      readUnits: readTokens === 0 ? 0 : read,
      writtenUnits: written,
    };
  }

  /** Adds the new units to the tree; the units shared with the prompt before are in it already. */
  #walk({ units, same }: PlayedPrompt): void {
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

  /** Tokens of the first `count` units. */
  #sum(count: number): number {
    return count === 0 ? 0 : must(this.#sums[count - 1], "the prompt is that long");
  }

  /** The lengths of the prefixes that are written to the cache; prefixes that are too short are not. */
  #endsIn({ units, marks }: PlayedPrompt): readonly number[] {
    const { kind, tokensMin } = this.#rules;
    if (kind === "none") return [];
    const user = units.findLastIndex(({ isUser }) => isUser);
    const indexes = {
      marks: () => marks,
      prefix: () => units.keys(),
      breakpoints: () => [...new Set([...marks, user])].filter((at) => at >= 0).sort((a, b) => a - b),
    };
    return [...indexes[kind]()].map((at) => at + 1).filter((end) => this.#sum(end) >= tokensMin);
  }

  #readLength(units: readonly CacheUnit[], marks: readonly number[], timeMs: number): number {
    if (this.#rules.kind !== "marks") return this.#longest(units.length, timeMs);
    // From the last mark on: a longer prefix of an earlier mark would be found on the way back too.
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

  #lookBack(units: readonly CacheUnit[], mark: number, timeMs: number): number {
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

  /** Extends the lifetime of the prefix that is read, and writes the prefixes behind it. */
  #keep(ends: readonly number[], read: number, timeMs: number): void {
    const { kind, lifetimeMs } = this.#rules;
    for (const end of read > 0 ? [read, ...ends] : ends) {
      const isInside = end < read && kind !== "prefix";
      if (isInside && !this.#isAlive(end, timeMs)) continue;
      this.#expiries.set(must(this.#nodes[end - 1], "it is in the prompt"), timeMs + lifetimeMs);
    }
  }

  #roundDown(tokens: number): number {
    const { tokensMin, stepTokens } = this.#rules;
    return tokens < tokensMin ? 0 : tokens - ((tokens - tokensMin) % stepTokens);
  }
}

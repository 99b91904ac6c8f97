import { assert } from "../base/index.ts";
import type { ModelPrices } from "./price.ts";

/** Where an earlier request had the cache write: everything up to and including a position. */
export type CacheEntry = {
  /** Counted as the provider looks back: a run of calls is one position, and so is a run of results. */
  readonly position: number;
  /** Up to there. */
  readonly tokens: number;
  /** When it was last written or read. Reading what is longer is not known to keep what is shorter alive. */
  readonly usedMs: number;
  readonly lifetimeMs: number;
};

export type FoundAsked = {
  /** The last position that stays as it is. */
  readonly position: number;
  /** Up to there. */
  readonly tokens: number;
  readonly nowMs: number;
};

/**
 * How much of what stands before a cut the cache will find, if a mark is put right before it. A cache is not
 * one long memory: except where the provider looks for the longest beginning by itself, only what ends where
 * an earlier request had a mark is there, and only while it lives.
 */
export function foundBefore(cut: FoundAsked, entries: readonly CacheEntry[], { rule }: ModelPrices): number {
  assert(cut.tokens >= 0, "what stands before a cut has a size");
  if (rule.kind === "none") return 0;
  const alive = entries.filter(({ usedMs, lifetimeMs }) => cut.nowMs - usedMs < lifetimeMs);
  const reaches = alive.filter((entry) => isReached(cut, entry, rule));
  const most = Math.max(0, ...reaches.map(({ tokens }) => Math.min(tokens, cut.tokens)));
  return most < rule.tokensMin ? 0 : most;
}

function isReached(
  cut: FoundAsked,
  { position }: CacheEntry,
  { kind, lookBack }: ModelPrices["rule"],
): boolean {
  if (kind === "prefix") return true;
  const isBefore = position <= cut.position;
  return isBefore && (kind === "breakpoints" || lookBack === null || cut.position - position < lookBack);
}

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
  let most = 0;
  for (const entry of entries) {
    const isFound = isAlive(entry, cut.nowMs) && isReached(cut.position, entry.position, rule);
    if (isFound) most = Math.max(most, Math.min(entry.tokens, cut.tokens));
  }
  return most < rule.tokensMin ? 0 : most;
}

export type SentPrompt = {
  /** Everything up to this position stands as it did in the request before. */
  readonly samePosition: number;
  /** Where this request has marks, or breakpoints; without either, its end. */
  readonly marks: readonly Omit<CacheEntry, "usedMs">[];
  readonly nowMs: number;
};

/** More than a client can mark within the longest lifetime that is worth looking back over. */
const entriesMax = 500;

/** What the cache remembers of a stream once a request has been sent. */
export function entriesAfter(
  entries: readonly CacheEntry[],
  { samePosition, marks, nowMs }: SentPrompt,
  prices: ModelPrices,
): readonly CacheEntry[] {
  const same = entries.filter((entry) => entry.position <= samePosition && isAlive(entry, nowMs));
  const read = new Set(marks.map((mark) => nearest(mark, same, prices.rule)));
  const older = same
    .filter(({ position }) => !marks.some((mark) => mark.position === position))
    .map((entry) => (read.has(entry) ? { ...entry, usedMs: nowMs } : entry));
  const written = marks
    .filter(({ tokens }) => tokens >= prices.rule.tokensMin)
    .map((mark) => ({ ...mark, usedMs: nowMs, lifetimeMs: longestAt(mark, same) }));
  return [...older, ...written].slice(-entriesMax);
}

/** What was written for an hour is not forgotten after five minutes because somebody marks it again. */
function longestAt(mark: Omit<CacheEntry, "usedMs">, same: readonly CacheEntry[]): number {
  const there = same.filter(({ position }) => position === mark.position);
  return Math.max(mark.lifetimeMs, ...there.map(({ lifetimeMs }) => lifetimeMs));
}

function nearest(
  mark: Omit<CacheEntry, "usedMs">,
  alive: readonly CacheEntry[],
  rule: ModelPrices["rule"],
): CacheEntry | null {
  const reached = alive.filter(
    (entry) => entry.position <= mark.position && isReached(mark.position, entry.position, rule),
  );
  return reached.reduce<CacheEntry | null>(
    (best, entry) => (best === null || entry.position > best.position ? entry : best),
    null,
  );
}

function isAlive({ usedMs, lifetimeMs }: CacheEntry, nowMs: number): boolean {
  return nowMs - usedMs < lifetimeMs;
}

function isReached(from: number, position: number, { kind, lookBack }: ModelPrices["rule"]): boolean {
  if (kind === "prefix") return true;
  return position <= from && (kind === "breakpoints" || lookBack === null || from - position < lookBack);
}

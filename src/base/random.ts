import { assert } from "./assert.ts";

/** Randomness is a parameter, never a global: one seed reproduces everything. */
export type Random = {
  /** A float in [0, 1). */
  readonly float: () => number;
  /** A whole number in [0, below). */
  readonly below: (below: number) => number;
  readonly pick: <T>(choices: readonly T[]) => T;
};

/** A small seeded generator (mulberry32): good enough for tests and simulation, never for secrets. */
export function seededRandom(seed: number): Random {
  let word = seed >>> 0;
  const float = (): number => {
    word = (word + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(word ^ (word >>> 15), word | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number): number => {
    assert(bound > 0, "a random choice needs at least one possibility");
    return Math.floor(float() * bound);
  };
  return { float, below, pick: (choices) => choices[below(choices.length)] as (typeof choices)[number] };
}

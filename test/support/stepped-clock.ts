import type { Clock } from "../../src/base/index.ts";

/** A clock that moves only when told to. */
export type SteppedClock = Clock & { readonly advance: (ms: number) => void };

export function steppedClock(startMs: number): SteppedClock {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    advance: (ms) => {
      nowMs += ms;
    },
  };
}

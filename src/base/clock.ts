/** Time is a parameter, never a global. Only the edge of the program makes a real clock. */
export type Clock = {
  /** Milliseconds since 1970. May jump; order comes from seq alone. */
  readonly now: () => number;
};

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

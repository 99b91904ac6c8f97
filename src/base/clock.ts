/** Time is a parameter, never a global. Only the edge of the program makes a real clock. */
export type Clock = {
  /** Milliseconds since 1970. May jump; order comes from seq alone. */
  readonly now: () => number;
};

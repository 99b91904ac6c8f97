import { describe, expect, it } from "vitest";
import { turnAt, turnStarts, turnStep } from "./turns.ts";

const starts = turnStarts([
  { turn: null, openedSeq: 1 },
  { turn: 1, openedSeq: 2 },
  { turn: 1, openedSeq: 5 },
  { turn: 2, openedSeq: 9 },
]);

describe("turns on the timeline", () => {
  it("begin where they were sent first", () => {
    expect(starts).toEqual([
      { turn: 1, seq: 2 },
      { turn: 2, seq: 9 },
    ]);
  });

  it("hold what comes until the next", () => {
    expect([1, 2, 8, 9, 99].map((seq) => turnAt(starts, seq))).toEqual([null, 1, 1, 2, 2]);
  });

  it("are stepped to their beginning, and nowhere beyond the last", () => {
    expect(turnStep(starts, 12, -1)).toBe(9);
    expect(turnStep(starts, 9, -1)).toBe(2);
    expect(turnStep(starts, 2, 1)).toBe(9);
    expect(turnStep(starts, 9, 1)).toBeNull();
    expect(turnStep(starts, 2, -1)).toBeNull();
  });
});

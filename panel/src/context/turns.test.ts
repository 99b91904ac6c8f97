import { describe, expect, it } from "vitest";
import { newestAfter, requestsRead, turnAt, turnStarts, turnStep } from "./turns.ts";

const starts = turnStarts([
  { turn: null, openedSeq: 1 },
  { turn: 1, openedSeq: 2 },
  { turn: 1, openedSeq: 5 },
  { turn: 2, openedSeq: 9 },
]);

describe("turns on the timeline", () => {
  it("start at their first request", () => {
    expect(starts).toEqual([
      { turn: 1, seq: 2 },
      { turn: 2, seq: 9 },
    ]);
  });

  it("come from the newest requests", () => {
    expect([0, 1, 1_000].map(newestAfter)).toEqual([0, 0, 0]);
    for (let total = 1_001; total < 4_000; total += 1) {
      const read = total - newestAfter(total);
      expect(read, `${total}`).toBeGreaterThanOrEqual(requestsRead / 2);
      expect(read, `${total}`).toBeLessThanOrEqual(requestsRead);
    }
  });

  it("last until the next turn starts", () => {
    expect([1, 2, 8, 9, 99].map((seq) => turnAt(starts, seq))).toEqual([null, 1, 1, 2, 2]);
  });

  it("are stepped to their start, and not beyond the last", () => {
    expect(turnStep(starts, 12, -1)).toBe(9);
    expect(turnStep(starts, 9, -1)).toBe(2);
    expect(turnStep(starts, 2, 1)).toBe(9);
    expect(turnStep(starts, 9, 1)).toBeNull();
    expect(turnStep(starts, 2, -1)).toBeNull();
  });
});

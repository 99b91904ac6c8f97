import { describe, expect, test } from "vitest";
import { somePrices as prices } from "../../test/support/prices.ts";
import { type CutAsked, chooseCut, type PathPiece, tokensToFree } from "./cut.ts";

const stays = (tokens: number): PathPiece => ({ tokens, wanted: null });
const shrinks = (tokens: number, wanted: number): PathPiece => ({ tokens, wanted });

function cut(path: readonly PathPiece[], over: Partial<CutAsked> = {}) {
  const still = { head: 10_000, coming: 0, anchored: 0, prices, cold: null, room: null } as const;
  return chooseCut({ path, ...still, isRunStart: false, losesReasoning: false, ...over });
}

describe("a path is shown anew", () => {
  const late = [stays(30_000), shrinks(20_000, 4_000), stays(2_000)];
  const early = [shrinks(6_000, 2_000), stays(80_000)];

  test("never where it is shown as it is wanted", () => {
    expect(cut([stays(9_000)], { cold: "cold", isRunStart: true })).toBeNull();
  });

  test("from the first that differs, when nothing is cached", () => {
    expect(cut(late, { cold: "cold" })).toMatchObject({ at: 1, reason: "cold" });
    expect(cut(late, { cold: "model", isRunStart: true })).toMatchObject({ at: 1, reason: "model" });
  });

  test("not for next to nothing, but always for what is wanted whole again", () => {
    expect(cut([shrinks(600, 200), stays(9_000)], { cold: "cold" })).toBeNull();
    expect(cut([stays(900), { ...shrinks(200, 4_000), isMissed: true }], { cold: "cold" })).toMatchObject({
      at: 1,
    });
  });

  test("while cached only when the user has just spoken, and only where it pays", () => {
    expect(cut(late)).toBeNull();
    expect(cut(late, { isRunStart: true, anchored: 1 })).toMatchObject({ at: 1, reason: "price" });
    expect(cut(early, { isRunStart: true })).toBeNull();
  });

  test("at a higher price where nothing before the cut is found again", () => {
    const found = cut(late, { isRunStart: true, anchored: 1 })?.bill.rewritten.tokens ?? 0;
    const lost = cut(late, { isRunStart: true })?.bill.rewritten.tokens ?? Number.POSITIVE_INFINITY;
    expect(lost).toBeGreaterThan(found);
  });

  test("inside a run, where that would cost reasoning, only for want of room", () => {
    const within = { cold: "cold", losesReasoning: true } as const;
    expect(cut(late, within)).toBeNull();
    expect(cut(late, { ...within, room: { used: 90_000, limit: 100_000 } })).toMatchObject({
      at: 1,
      reason: "pressure",
    });
  });

  test("at once where the user wants it now, but never at the cost of reasoning inside a run", () => {
    expect(cut(early, { isUrged: true })).toMatchObject({ at: 0, reason: "user" });
    expect(cut([shrinks(600, 500), stays(9_000)], { isUrged: true })).toMatchObject({ reason: "user" });
    expect(cut(early, { isUrged: true, cold: "cold" })).toMatchObject({ reason: "cold" });
    expect(cut(early, { isUrged: true, losesReasoning: true })).toBeNull();
    expect(cut(early, { isUrged: true, losesReasoning: true, isRunStart: true })).not.toBeNull();
    expect(cut([stays(9_000)], { isUrged: true })).toBeNull();
  });

  test("with a bill that counts what comes in any case", () => {
    const without = cut(late, { cold: "cold" })?.bill.rewritten.tokens ?? 0;
    const more = cut(late, { cold: "cold", coming: 1_000 })?.bill.rewritten.tokens ?? 0;
    expect(more - without).toBeCloseTo(1_250, 5);
  });
});

test("room is made from 85 % on, down to 60 %", () => {
  expect(tokensToFree(null)).toBe(0);
  expect(tokensToFree({ used: 84_999, limit: 100_000 })).toBe(0);
  expect(tokensToFree({ used: 85_000, limit: 100_000 })).toBe(25_000);
});

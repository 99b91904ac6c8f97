import { describe, expect, test } from "vitest";
import { somePrices as prices } from "../../test/support/prices.ts";
import { type CutInput, chooseCut, type PathPiece, tokensToFree } from "./choose-cut.ts";

const unchanged = (tokens: number): PathPiece => ({ tokens, wantedTokens: null });
const shrinking = (tokens: number, wanted: number): PathPiece => ({ tokens, wantedTokens: wanted });

function cut(path: readonly PathPiece[], over: Partial<CutInput> = {}) {
  const defaults = {
    headTokens: 10_000,
    freshTokens: 0,
    anchoredPieces: 0,
    prices,
    coldReason: null,
    room: null,
  } as const;
  return chooseCut({ path, ...defaults, isRunStart: false, losesReasoning: false, ...over });
}

describe("a path is rewritten", () => {
  const late = [unchanged(30_000), shrinking(20_000, 4_000), unchanged(2_000)];
  const early = [shrinking(6_000, 2_000), unchanged(80_000)];

  test("never if it is shown as wished", () => {
    expect(cut([unchanged(9_000)], { coldReason: "cold", isRunStart: true })).toBeNull();
  });

  test("from the first change if the cache is cold", () => {
    expect(cut(late, { coldReason: "cold" })).toMatchObject({ at: 1, reason: "cold" });
    expect(cut(late, { coldReason: "model", isRunStart: true })).toMatchObject({ at: 1, reason: "model" });
  });

  test("not for a small gain, but always for a block that is wanted whole again", () => {
    expect(cut([shrinking(600, 200), unchanged(9_000)], { coldReason: "cold" })).toBeNull();
    expect(
      cut([unchanged(900), { ...shrinking(200, 4_000), isWantedWhole: true }], { coldReason: "cold" }),
    ).toMatchObject({
      at: 1,
    });
  });

  test("with a warm cache only at the start of a run and if it pays", () => {
    expect(cut(late)).toBeNull();
    expect(cut(late, { isRunStart: true, anchoredPieces: 1 })).toMatchObject({ at: 1, reason: "price" });
    expect(cut(early, { isRunStart: true })).toBeNull();
  });

  test("at a higher price if the cache finds nothing before the cut", () => {
    const found = cut(late, { isRunStart: true, anchoredPieces: 1 })?.bill.rewritten.tokens ?? 0;
    const lost = cut(late, { isRunStart: true })?.bill.rewritten.tokens ?? Number.POSITIVE_INFINITY;
    expect(lost).toBeGreaterThan(found);
  });

  test("inside a run only under pressure if it would cost reasoning", () => {
    const within = { cold: "cold", losesReasoning: true } as const;
    expect(cut(late, within)).toBeNull();
    expect(cut(late, { ...within, room: { used: 90_000, limit: 100_000 } })).toMatchObject({
      at: 1,
      reason: "pressure",
    });
  });

  test("at once if the user wants it now, but never at the cost of reasoning inside a run", () => {
    expect(cut(early, { isUrgent: true })).toMatchObject({ at: 0, reason: "user" });
    expect(cut([shrinking(600, 500), unchanged(9_000)], { isUrgent: true })).toMatchObject({
      reason: "user",
    });
    expect(cut(early, { isUrgent: true, coldReason: "cold" })).toMatchObject({ reason: "cold" });
    expect(cut(early, { isUrgent: true, losesReasoning: true })).toBeNull();
    expect(cut(early, { isUrgent: true, losesReasoning: true, isRunStart: true })).not.toBeNull();
    expect(cut([unchanged(9_000)], { isUrgent: true })).toBeNull();
  });

  test("with a bill that counts the new tokens", () => {
    const without = cut(late, { coldReason: "cold" })?.bill.rewritten.tokens ?? 0;
    const more = cut(late, { coldReason: "cold", freshTokens: 1_000 })?.bill.rewritten.tokens ?? 0;
    expect(more - without).toBeCloseTo(1_250, 5);
  });
});

test("pressure starts at 85 % and is relieved down to 60 %", () => {
  expect(tokensToFree(null)).toBe(0);
  expect(tokensToFree({ used: 84_999, limit: 100_000 })).toBe(0);
  expect(tokensToFree({ used: 85_000, limit: 100_000 })).toBe(25_000);
});

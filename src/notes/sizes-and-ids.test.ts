import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { idRanges, spanOf } from "../awareness/index.ts";
import { idsText, roundTokens, shortSize, writeSize } from "./sizes-and-ids.ts";

describe("sizes", () => {
  it.each([
    [0, "0"],
    [99, "99"],
    [100, "0.1k"],
    [812, "0.8k"],
    [999, "1k"],
    [4_210, "4.2k"],
    [9_949, "9.9k"],
    [9_950, "10k"],
    [61_400, "61k"],
    [140_000, "140k"],
    [999_499, "999k"],
    [999_500, "1M"],
    [1_240_000, "1.2M"],
  ])("%d tokens are %s", (tokens, text) => {
    expect(shortSize(tokens)).toBe(text);
  });

  it("mark an estimate", () => {
    expect([writeSize({ tokens: 4_200, exact: false }), writeSize({ tokens: 4_200, exact: true })]).toEqual([
      "~4.2k",
      "4.2k",
    ]);
  });

  it("are read as what they say, never far from the truth, and never smaller for more", () => {
    fc.assert(
      fc.property(fc.nat(100_000_000), fc.nat(100_000_000), (a, b) => {
        expect(Math.abs(roundTokens(a) - a)).toBeLessThanOrEqual(Math.max(50, a * 0.05));
        expect(shortSize(roundTokens(a))).toBe(shortSize(a));
        if (a <= b) expect(roundTokens(a)).toBeLessThanOrEqual(roundTokens(b));
      }),
    );
  });
});

describe("ids", () => {
  it("are ranges where they are neighbours", () => {
    expect(idsText([44, 41, 43, 42, 46])).toBe("#41..#44 #46");
    expect(idsText([])).toBe("");
  });

  it("past the maximum are counted", () => {
    expect(idsText([1, 3, 5, 6, 7], 2)).toBe("#1 #3 +3");
  });

  it("are all there and nothing else", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(60)), (ids) => {
        const inside = idRanges(ids).flatMap(({ from, to }) =>
          Array.from({ length: to - from + 1 }, (_, at) => from + at),
        );
        expect(inside).toEqual([...new Set(ids)].sort((a, b) => a - b));
      }),
    );
  });

  it("of any number have a first and a last", () => {
    expect(spanOf(Array.from({ length: 300_000 }, (_, id) => id + 7))).toEqual({ from: 7, to: 300_006 });
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutText } from "./cut-text.ts";

describe("cutText", () => {
  it.each(["\u{10000}", "😀", "\u{10ffff}"])("leaves %s out rather than half of it", (character) => {
    expect(cutText(`ab${character}`, 3)).toBe("ab");
    expect(cutText(`ab${character}`, 4)).toBe(`ab${character}`);
    expect(cutText(`ab${character}c`, 4)).toBe(`ab${character}`);
  });

  it("keeps at most the given number of characters, also none", () => {
    expect([cutText("abc", 2), cutText("abc", 3), cutText("abc", 0)]).toEqual(["ab", "abc", ""]);
  });

  it("leaves short text alone and never splits a character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.nat(40), (text, charsMax) => {
        const cut = cutText(text, charsMax);
        expect(text.startsWith(cut)).toBe(true);
        expect(cut.length).toBeLessThanOrEqual(charsMax);
        expect(Buffer.from(cut).toString("utf8")).toBe(cut);
        if (text.length <= charsMax) expect(cut).toBe(text);
      }),
    );
  });
});

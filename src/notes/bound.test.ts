import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { o200k } from "../../test/support/o200k.ts";
import { numRuns } from "../../test/support/runs.ts";
import { boundedPieces, boundedStart, boundedTokens, ownWords } from "./bound.ts";
import { commonWords } from "./common-words.ts";

const signs = [...Array(95).keys()]
  .map((code) => String.fromCharCode(32 + code))
  .filter((sign) => !/[A-Za-z0-9 ]/.test(sign));

/** Tokens of a word at most, the sign in front of it not counted. */
function worstCount(word: string): number {
  const behindSigns = signs.map((sign) => o200k(`${sign}${word}`) - 1);
  return Math.max(o200k(word), o200k(` ${word}`), ...behindSigns);
}

/** Texts that tokenizers cut badly, beside ordinary ones. */
const hostile = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."qjxzkvwbgQJXZeE_-.") }),
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: fc.constantFrom(..."abcdefghijklmnopqrstuvwxyz") }),
  fc.string({ unit: fc.constantFrom(..." 0123456789#~.,k…") }),
  fc
    .array(fc.constantFrom(...commonWords, ...Object.keys(ownWords), "é", "'s", "İ", "字"), { maxLength: 9 })
    .chain((words) => fc.constantFrom("", " ", "/", "_", ".", "…", "\n").map((sign) => words.join(sign))),
);

describe("a bound without the vocabulary", () => {
  it("knows its words: common ones are one token, ours as many as the table says", () => {
    expect([...commonWords].filter((word) => worstCount(word) > 1)).toEqual([]);
    expect(Object.entries(ownWords).filter(([word, count]) => worstCount(word) !== count)).toEqual([]);
  });

  it("holds for every sign with a blank in front", () => {
    expect(signs.filter((sign) => o200k(` ${sign}`) > 1)).toEqual([]);
  });

  it("is never below the count, whatever the text", () => {
    fc.assert(
      fc.property(fc.array(hostile, { maxLength: 6 }), (parts) => {
        const text = parts.join("");
        expect(boundedTokens(text)).toBeGreaterThanOrEqual(o200k(text));
      }),
      numRuns(2_000),
    );
  });

  it("is close to the count on what a manifest is made of", () => {
    const text =
      "MIDDLE 34 blocks 128k: 12 user, 14 assistant, 8 tool | topics: src/session/auth.ts, schema.sql";
    expect(boundedTokens(text) / o200k(text)).toBeLessThan(1.3);
  });
});

describe("the longest beginning that fits", () => {
  it("fits, is a beginning, and splits no character", () => {
    fc.assert(
      fc.property(hostile, fc.nat(40), (text, max) => {
        const whole = text.replace(/\p{Cs}/gu, "");
        const start = boundedStart(whole, max);
        expect(whole.startsWith(start)).toBe(true);
        expect(start).not.toMatch(/\p{Cs}/u);
        expect(o200k(start)).toBeLessThanOrEqual(max);
      }),
      numRuns(1_000),
    );
  });

  it("is all of a text that fits", () => {
    expect(boundedStart("auth flow", 24)).toBe("auth flow");
  });
});

it("of an ASCII text is the same, looked at letter by letter", () => {
  const text = fc.string({ unit: fc.constantFrom(..."abzAZ09 \n\t.,[]#/_-turnTURN"), maxLength: 60 });
  fc.assert(
    fc.property(text, (said) => {
      expect(boundedTokens(said)).toBe(boundedPieces(said).reduce((sum, { bound }) => sum + bound, 0));
    }),
    { numRuns: 2_000 },
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { excerptOf, type Match } from "./excerpt.ts";

const halfCharacter = /\p{Surrogate}/u;

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`).join("\n");

function matchOf(text: string, words: string, term = 1): Match {
  const from = text.indexOf(words);
  return { from, to: from + words.length, term, worth: 1 };
}

test("a short text is shown whole", () => {
  expect(excerptOf("one\ntwo", [], 20)).toEqual({ text: "one\ntwo", from: 0, line: 1, isWhole: true });
});

test("an excerpt takes whole lines around the match, below and above in turn", () => {
  const text = lines(100);
  const excerpt = excerptOf(text, [matchOf(text, "line 50")], 30);
  expect(excerpt).toEqual({
    text: "line 49\nline 50\nline 51",
    from: text.indexOf("line 49"),
    line: 49,
    isWhole: false,
  });
});

test("several different terms together are better than one that is repeated", () => {
  const text = `${"alpha ".repeat(5)}\n${"x\n".repeat(200)}alpha beta\n${"y\n".repeat(200)}`;
  const matches = [0, 6, 12, 18, 24].map((from) => ({ from, to: from + 5, term: 1, worth: 1 }));
  const at = text.lastIndexOf("alpha");
  matches.push({ from: at, to: at + 5, term: 1, worth: 1 }, { from: at + 6, to: at + 10, term: 2, worth: 1 });
  expect(excerptOf(text, matches, 40).text).toContain("alpha beta");
});

test("a line that is too long is cut around the match", () => {
  const text = `${"😀".repeat(300)}needle${"😀".repeat(300)}`;
  const { text: shown, from } = excerptOf(text, [matchOf(text, "needle")], 41);
  expect(shown).toContain("needle");
  expect(shown).not.toMatch(halfCharacter);
  expect(text.slice(from, from + shown.length)).toBe(shown);
});

test("without a match the excerpt is the beginning", () => {
  expect(excerptOf(lines(100), [], 16).text).toBe("line 1\nline 2");
});

test("an excerpt of any text is part of it, within its limit, and splits no character", () => {
  const piece = fc.constantFrom("a", "word", " ", "\n", "\n\n", "é", "猫", "😀", "👩‍👧", "e\u0301");
  const texts = fc.array(piece, { minLength: 1, maxLength: 200 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(texts, fc.nat(), fc.integer({ min: 2, max: 120 }), (text, place, charsMax) => {
      const at = place % text.length;
      const code = text.codePointAt(at) as number;
      const from = code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
      const match = {
        from,
        to: from + ((text.codePointAt(from) as number) > 0xffff ? 2 : 1),
        term: 1,
        worth: 1,
      };
      const excerpt = excerptOf(text, [match], charsMax);
      expect(excerpt.text.length).toBeLessThanOrEqual(charsMax);
      expect(excerpt.text).not.toMatch(halfCharacter);
      expect(text.slice(excerpt.from, excerpt.from + excerpt.text.length)).toBe(excerpt.text);
      expect(text.slice(0, excerpt.from).split("\n").length).toBe(excerpt.line);
      expect(excerpt.isWhole).toBe(excerpt.text.length === text.length);
      expect(excerpt.from <= match.from && match.to <= excerpt.from + excerpt.text.length).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

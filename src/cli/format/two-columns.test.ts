import fc from "fast-check";
import { expect, test } from "vitest";
import { textWidth } from "./text-width.ts";
import { twoColumns, wrapText } from "./two-columns.ts";

const word = fc.stringMatching(/^[a-zä語]{1,12}$/);
const sentence = fc.array(word, { minLength: 1, maxLength: 30 }).map((words) => words.join(" "));

test("wrapping loses no word, and only a single long word is too wide", () => {
  fc.assert(
    fc.property(sentence, fc.integer({ min: 1, max: 120 }), (text, width) => {
      const lines = wrapText(text, width);
      expect(lines.join(" ")).toBe(text);
      for (const line of lines) expect(textWidth(line) <= width || !line.includes(" ")).toBe(true);
    }),
  );
});

test("two columns keep every word in its order and stay within the width", () => {
  const rows = fc.array(fc.tuple(word, sentence), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(rows, fc.integer({ min: 30, max: 160 }), (given, width) => {
      const lines = twoColumns(given, width);
      const words = lines.join(" ").split(/ +/).filter(Boolean);
      expect(words).toEqual(given.flatMap(([left, right]) => [left, ...right.split(" ")]));
      for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width);
    }),
  );
});

test("the second column is aligned", () => {
  expect(
    twoColumns(
      [
        ["a", "one two"],
        ["long", "three"],
      ],
      60,
    ),
  ).toEqual(["  a     one two", "  long  three"]);
});

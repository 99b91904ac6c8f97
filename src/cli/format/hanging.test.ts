import fc from "fast-check";
import { expect, test } from "vitest";
import { columnsOf } from "./columns.ts";
import { hanging, wrapped } from "./hanging.ts";

const word = fc.stringMatching(/^[a-zä語]{1,12}$/);
const sentence = fc.array(word, { minLength: 1, maxLength: 30 }).map((words) => words.join(" "));

test("wrapping loses no word, and no line is wider than it may be unless it is one word", () => {
  fc.assert(
    fc.property(sentence, fc.integer({ min: 1, max: 120 }), (text, width) => {
      const lines = wrapped(text, width);
      expect(lines.join(" ")).toBe(text);
      for (const line of lines) expect(columnsOf(line) <= width || !line.includes(" ")).toBe(true);
    }),
  );
});

test("two columns keep every word in its order and stay within the width", () => {
  const rows = fc.array(fc.tuple(word, sentence), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(rows, fc.integer({ min: 30, max: 160 }), (given, width) => {
      const lines = hanging(given, width);
      const said = lines.join(" ").split(/ +/).filter(Boolean);
      expect(said).toEqual(given.flatMap(([left, right]) => [left, ...right.split(" ")]));
      for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(width);
    }),
  );
});

test("the second column begins in one place", () => {
  expect(
    hanging(
      [
        ["a", "one two"],
        ["long", "three"],
      ],
      60,
    ),
  ).toEqual(["  a     one two", "  long  three"]);
});

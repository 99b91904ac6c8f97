import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { piecesOf, unitsOf } from "./units.ts";

const never = () => false;

describe("units", () => {
  test("short lines are units of their own", () => {
    expect(unitsOf("a\n\nb", never).map(({ text }) => text)).toEqual(["a", "", "b"]);
  });

  test("a long line is cut, and its units say that it goes on", () => {
    const units = unitsOf(`${"word ".repeat(100)}\nnext`, never);
    expect(units.length).toBeGreaterThan(3);
    expect(units.filter(({ goesOn }) => !goesOn)).toHaveLength(2);
  });

  test("a line that stays whole does, unless it is very long", () => {
    expect(unitsOf("word ".repeat(70), () => true)).toHaveLength(1);
    expect(unitsOf("word ".repeat(700), () => true).length).toBeGreaterThan(1);
  });
});

describe("pieces", () => {
  test("together they are the line", () => {
    const character = fc.constantFrom(...'ab, .;>{"<\t漢', "😀", "👩‍👩‍👧", "e\u0301");
    fc.assert(
      fc.property(fc.array(character, { maxLength: 2_000 }), (characters) => {
        const line = characters.join("");
        expect(piecesOf(line).join("")).toBe(line);
      }),
    );
  });

  test("are cut behind sentences and items where there are any", () => {
    const sentence = "This is a sentence of about sixty characters, as people write. ";
    expect(piecesOf(sentence.repeat(4))).toEqual(Array.from({ length: 4 }, () => sentence));
    const item = '{"name":"a name of some length","value":1},';
    expect(piecesOf(item.repeat(6)).every((piece) => piece.endsWith(","))).toBe(true);
  });

  test("do not cut a name in two", () => {
    const path = `src/${"folder/".repeat(20)}file.ts`;
    expect(piecesOf(`${"see ".repeat(18)}${path} ${"and ".repeat(30)}`)).toContainEqual(
      expect.stringContaining(path),
    );
  });

  test.each([
    "😀".repeat(400),
    `x${"😀".repeat(400)}`,
    "👩‍👩‍👧".repeat(100),
    `e${"\u0301".repeat(30)}`.repeat(30),
  ])("do not cut a character in two: %#", (line) => {
    for (const piece of piecesOf(line)) {
      expect(piece).not.toMatch(/^(?:[\udc00-\udfff]|\u200d|\u0301)/);
      expect(piece).not.toMatch(/[\ud800-\udbff]$/);
    }
  });
});

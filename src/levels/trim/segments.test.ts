import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitLine, splitSegments } from "./segments.ts";

const never = () => false;

describe("segments", () => {
  test("each short line is a segment", () => {
    expect(splitSegments("a\n\nb", never).map(({ text }) => text)).toEqual(["a", "", "b"]);
  });

  test("the segments of a long line say that it continues", () => {
    const segments = splitSegments(`${"word ".repeat(100)}\nnext`, never);
    expect(segments.length).toBeGreaterThan(3);
    expect(segments.filter(({ isContinued }) => !isContinued)).toHaveLength(2);
  });

  test("a line that stays whole does, unless it is very long", () => {
    expect(splitSegments("word ".repeat(70), () => true)).toHaveLength(1);
    expect(splitSegments("word ".repeat(700), () => true).length).toBeGreaterThan(1);
  });
});

describe("pieces", () => {
  test("together they are the line", () => {
    const character = fc.constantFrom(...'ab, .;>{"<\t漢', "😀", "👩‍👩‍👧", "e\u0301");
    fc.assert(
      fc.property(fc.array(character, { maxLength: 2_000 }), (characters) => {
        const line = characters.join("");
        expect(splitLine(line).join("")).toBe(line);
      }),
    );
  });

  test("are cut behind sentences and items where there are any", () => {
    const sentence = "This is a sentence of about sixty characters, as people write. ";
    expect(splitLine(sentence.repeat(4))).toEqual(Array.from({ length: 4 }, () => sentence));
    const item = '{"name":"a name of some length","value":1},';
    expect(splitLine(item.repeat(6)).every((piece) => piece.endsWith(","))).toBe(true);
  });

  test("do not cut a name in two", () => {
    const path = `src/${"folder/".repeat(20)}file.ts`;
    expect(splitLine(`${"see ".repeat(18)}${path} ${"and ".repeat(30)}`)).toContainEqual(
      expect.stringContaining(path),
    );
  });

  test.each([
    "😀".repeat(400),
    `x${"😀".repeat(400)}`,
    "👩‍👩‍👧".repeat(100),
    `e${"\u0301".repeat(30)}`.repeat(30),
  ])("do not cut a character in two: %#", (line) => {
    for (const piece of splitLine(line)) {
      expect(piece).not.toMatch(/^(?:[\udc00-\udfff]|\u200d|\u0301)/);
      expect(piece).not.toMatch(/[\ud800-\udbff]$/);
    }
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cutColumns, printable, printableJson, printableLines } from "./printable.ts";
import { textWidth } from "./text-width.ts";

const mark = String.fromCharCode(27);
const bell = String.fromCharCode(7);
const oneByte = String.fromCharCode(0x9b);
const half = String.fromCharCode(0xd83d);

/** Texts that control a terminal. */
const corpus: readonly (readonly [name: string, text: string, shown: string])[] = [
  ["colour", `${mark}[31mred${mark}[0m`, "red"],
  ["a cleared screen", `a${mark}[2Jb`, "ab"],
  ["a moved cursor", `a${mark}[10;10Hb`, "ab"],
  ["a hidden cursor", `a${mark}[?25lb`, "ab"],
  ["a title", `a${mark}]0;owned${bell}b`, "a]0;ownedb"],
  ["a link", `a${mark}]8;;http://evil.example${mark}\\text${mark}]8;;${mark}\\b`, ""],
  ["the clipboard", `a${mark}]52;c;ZXZpbA==${bell}b`, "a]52;c;ZXZpbA==b"],
  ["a question to the terminal", `a${mark}[6nb`, "ab"],
  ["a device string", `a${mark}P+q544e${mark}\\b`, "aP+q544e\\b"],
  ["a reset", `a${mark}cb`, "acb"],
  ["one-byte sequences", `a${oneByte}31mb`, "a31mb"],
  ["nested sequences", `a${mark}${mark}[31m[31mb`, "a[31mb"],
  ["an unfinished sequence", `a${mark}[`, "a["],
  ["a line written over", "safe\rEVIL", "safe EVIL"],
  ["erased characters", `rm${"\b\b"}ls`, "rmls"],
  ["lines and tabs", "a\n\n\tb", "a b"],
  ["line separators", "a\u2028b\u2029c\u0085d", "a b cd"],
  ["reversed text", "a\u202egnp.exe\u202c", "agnp.exe"],
  ["isolated directions", "a\u2066b\u2069", "ab"],
  ["invisible characters", "a\u200bb\ufeffc\u00add", "ab cd"],
  ["text in tags", "a\u{e0041}\u{e0042}b", "ab"],
  ["half a character", `a${half}b`, "a\ufffdb"],
  ["a zero byte and DEL", `a${String.fromCharCode(0)}b${String.fromCharCode(127)}`, "ab"],
];

/** Defined by code points, so that it does not share the pattern under test. */
function isControlCode(code: number): boolean {
  const isControl = code < 0x20 || (code >= 0x7f && code <= 0x9f);
  const isDirection = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return isControl || isDirection || (code >= 0xd800 && code <= 0xdfff);
}

function controlCodesIn(text: string, allowed: readonly string[] = []): readonly string[] {
  return [...text].filter((each) => isControlCode(each.codePointAt(0) ?? 0) && !allowed.includes(each));
}

describe("control characters are not printed", () => {
  test.each(corpus)("%s", (_, text, shown) => {
    expect(controlCodesIn(printable(text))).toEqual([]);
    if (shown !== "") expect(printable(text)).toBe(shown);
    expect(controlCodesIn(printableLines(text), ["\n", "\t"])).toEqual([]);
  });

  test("for any text", () => {
    const anything = fc.string({ unit: "binary", maxLength: 200 });
    fc.assert(
      fc.property(anything, fc.integer({ min: 1, max: 40 }), (text, columns) => {
        expect(controlCodesIn(printable(text, columns))).toEqual([]);
        expect(textWidth(printable(text, columns))).toBeLessThanOrEqual(columns);
        expect(controlCodesIn(printableLines(text), ["\n", "\t"])).toEqual([]);
      }),
    );
  });

  test("ordinary text stays as it is", () => {
    for (const text of ["fix-auth", "größer", "修复登录", "👩‍🔬 emoji", "naïve café", "a[31m"]) {
      expect(printable(text)).toBe(text);
    }
    expect(printableLines("a\n\tb\r\nc")).toBe("a\n\tb\nc");
  });
});

test("JSON keeps its value without control characters", () => {
  for (const [, text] of corpus.filter(([name]) => name !== "half a character")) {
    const json = JSON.stringify({ text });
    expect(JSON.parse(printableJson(json))).toEqual({ text });
    expect(controlCodesIn(printableJson(json))).toEqual([]);
  }
});

test("a text is cut between characters, with a mark", () => {
  expect(cutColumns("abcdef", 6)).toBe("abcdef");
  expect(cutColumns("abcdefg", 6)).toBe("abcde…");
  expect(cutColumns("👍👍👍👍", 6)).toBe("👍👍…");
  expect(cutColumns("ab cdef", 4)).toBe("ab…");
});

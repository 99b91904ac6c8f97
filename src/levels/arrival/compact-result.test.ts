import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compactResult } from "./compact-result.ts";

const esc = "\u001b";

describe("terminal output loses its control sequences", () => {
  test.each([
    ["colours", `${esc}[1;31mfailed${esc}[0m: 3 of 40`, "failed: 3 of 40"],
    ["modes and titles", `${esc}[?25l${esc}]0;build\u0007done${esc}[?25h`, "done"],
    [
      "a bar that fills up",
      "get  10% [=>   ]\rget  60% [==>  ]\rget 100% [====>]\nok",
      "get 100% [====>]\nok",
    ],
    [
      "states that begin alike",
      "Counting objects: 1\rCounting objects: 12, done.\n",
      "Counting objects: 12, done.\n",
    ],
    ["a line that is erased first", `waiting\r${esc}[Kready\n`, "ready\n"],
    [
      "a link keeps its address",
      `${esc}]8;;https://a.example/1${esc}\\notes${esc}]8;;${esc}\\`,
      "notes <https://a.example/1>",
    ],
    ["only colours, where blanks are content", `${esc}[32mone${esc}[0m   \n\n\n two`, "one   \n\n\n two"],
  ])("%s", (_name, text, shown) => {
    expect(compactResult(text)).toBe(shown);
  });

  test.each([
    ["an escape that is spelled", 'const red = "\\x1b[31m"; // \\u001b[0m \\033[K'],
    ["line ends of another system", "one\r\ntwo\r\n"],
    ["an old file with returns only", "# Title\rSome words here\rAnd others there"],
    ["rows that end in returns", "1,2,3\r4,5,6\r7,8,9"],
    ["sentences that begin alike", "The old house stands.\rThe old man left in 1999.\r"],
    ["what moves the cursor about", `a: run\n${esc}[1A${esc}[2Ka: ok\n`],
    ["blanks that a file has", "key:  \n\n\n\nvalue\t\n"],
    ["an escape nobody knows", `${esc}~ and ${esc}[ and the rest`],
    ["two equal lines", "}\n}\n"],
    ["nothing", ""],
  ])("what only looks like it stays: %s", (_name, text) => {
    expect(compactResult(text)).toBe(text);
  });

  test("no sequence makes it slow or large", () => {
    const pieces = [
      "[",
      "]",
      "[1K",
      "[999B",
      "[999Cx",
      "[2J",
      "]8;;a\u0007",
      "[1;1H",
      "[999A\n",
      "[9999999999D",
    ];
    for (const piece of pieces) {
      const text = `${"x".repeat(20_000)}${(esc + piece).repeat(10_000)}`;
      const started = performance.now();
      expect(compactResult(text).length).toBeLessThanOrEqual(text.length);
      expect(performance.now() - started).toBeLessThan(2_000);
    }
  });
});

describe("only control sequences and overwritten states are removed", () => {
  const word = fc.constantFrom(
    "failed: 3",
    "src/a.ts",
    "漢字",
    "👩‍👩‍👧",
    "  ",
    "\\x1b[31m",
    "[K",
    "12%",
    "é",
  );
  const unseen = fc
    .constantFrom("[1;31m", "[0m", "[?25l", "[38;5;196m", "]0;title\u0007")
    .map((one) => esc + one);

  test("without colours and titles every character stays, in its place", () => {
    const piece = fc.oneof(
      word.map((text) => ({ text, shown: text })),
      unseen.map((text) => ({ text, shown: "" })),
      fc.constant({ text: "\n", shown: "\n" }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const shown = compactResult(pieces.map(({ text }) => text).join(""));
        expect(writtenOut(shown)).toBe(pieces.map((one) => one.shown).join(""));
      }),
    );
  });

  test("of a line of progress the last state stays, and every line that is none", () => {
    const states = fc.array(fc.nat(100), { minLength: 1, maxLength: 9 });
    const line = fc.oneof(
      states.map((shares) => ({
        text: shares.map((share) => `get ${share}% [==>]`).join("\r"),
        shown: `get ${shares.at(-1)}% [==>]`,
      })),
      fc.constantFrom("one\rtwo", "plain words", "a\r", "").map((text) => ({ text, shown: text })),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const shown = compactResult(lines.map(({ text }) => text).join("\n"));
        expect(writtenOut(shown)).toBe(lines.map((one) => one.shown).join("\n"));
      }),
    );
  });
});

describe("lines that repeat the line above", () => {
  test("are replaced by one line with a count", () => {
    const text = `begin\n${"warning: slow disk\n".repeat(57)}end`;
    expect(compactResult(text, "k7")).toBe(
      "begin\nwarning: slow disk\n[k7 the line above stands here 57 times]\nend",
    );
    expect(compactResult(text)).toBe("begin\nwarning: slow disk\n[the line above stands here 57 times]\nend");
  });

  test("stay if the count would be longer, or if the content has such a line itself", () => {
    const few = "ok\nok\nok\nok\n";
    expect(compactResult(few)).toBe(few);
    const pretending = `${"same line\n".repeat(40)}[the line above stands here 9 times]\n`;
    expect(compactResult(pretending)).toBe(pretending);
  });

  test("can be written out again", () => {
    const line = fc.oneof(fc.constantFrom("", "a", "}", "warning: slow"), fc.string({ maxLength: 12 }));
    const run = fc.tuple(line, fc.integer({ min: 1, max: 60 }));
    fc.assert(
      fc.property(fc.array(run, { maxLength: 8 }), fc.constantFrom("", "k7"), (runs, mark) => {
        const text = runs.flatMap(([words, times]) => Array<string>(times).fill(words)).join("\n");
        fc.pre(!hasControl(text));
        expect(writtenOut(compactResult(text, mark))).toBe(text);
      }),
    );
  });
});

function hasControl(text: string): boolean {
  return [esc, "\r", "\b"].some((sign) => text.includes(sign));
}

function writtenOut(shown: string): string {
  const lines: string[] = [];
  for (const line of shown.split("\n")) {
    const times = /^\[(?:k7 )?the line above stands here (\d+) times\]$/.exec(line)?.[1];
    if (times === undefined) lines.push(line);
    else lines.push(...Array<string>(Number(times) - 1).fill(lines.at(-1) as string));
  }
  return lines.join("\n");
}

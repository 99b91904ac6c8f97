// What holds for every text, whatever it is: random ones, made of the pieces that are hard to cut.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../src/base/index.ts";
import { judgedExtract, minimal, type Source, trimInput, trimText } from "../../src/levels/index.ts";
import { loadO200k } from "../../src/tokens/index.ts";
import { keptText } from "./kept-text.ts";

const count = await loadO200k();

const word = fc.constantFrom(
  ..."load store_item src/levels/units.ts isDeclaration error: FAIL 0x1f 42ms 漢字 😀 👩‍👩‍👧 é … […3] { } ( ) => , ;".split(
    " ",
  ),
  "\t",
  "  ",
  "a".repeat(90),
  "<div>",
  '"key":',
);
const line = fc.array(word, { maxLength: 40 }).map((words) => words.join(" "));
const text = fc.array(line, { minLength: 10, maxLength: 120 }).map((lines) => lines.join("\n"));
const input: fc.Arbitrary<Json | null> = fc.constantFrom(
  null,
  { file_path: "src/a.ts" },
  { command: "npm test" },
  { command: "cat notes.md" },
  { path: "docs/a.md" },
);
const kind = fc.constantFrom("tool-result", "user", "assistant", "tool-call", "reasoning");
const source: fc.Arbitrary<Source> = fc.record({ kind, text, tool: fc.constant("Run"), input }) as never;

/** Halves of pairs that stand alone. */
const halves = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

describe("trimmed", () => {
  test("saves a quarter, or says null", () => {
    fc.assert(
      fc.property(source, (one) => {
        const trimmed = trimText(one);
        if (trimmed !== null) expect(trimmed.length).toBeLessThanOrEqual(one.text.length * 0.75);
      }),
    );
  });

  test("has nothing that the original has not, in its order, and no half of a character", () => {
    fc.assert(
      fc.property(source, (one) => {
        const trimmed = trimText(one) ?? one.text;
        expect(halves.test(trimmed)).toBe(false);
        let at = 0;
        for (const kept of keptText(trimmed).split("\n")) {
          const found = keptText(one.text).indexOf(kept, at);
          expect(found).toBeGreaterThanOrEqual(0);
          at = found + kept.length;
        }
      }),
    );
  });

  test("of a trimmed text does no harm: what it says is still of the original", () => {
    fc.assert(
      fc.property(source, (one) => {
        const once = trimText(one) ?? one.text;
        const twice = trimText({ ...one, text: once }) ?? once;
        const lines = new Set(keptText(once).split("\n"));
        const isPiece = (piece: string) => keptText(once).includes(piece);
        for (const kept of keptText(twice).split("\n")) expect(lines.has(kept) || isPiece(kept)).toBe(true);
      }),
    );
  });

  test("counts lines: kept ones and those its markers stand for are all there were", () => {
    const log = Array.from({ length: 300 }, (_, at) => `step ${at % 9}, file_${at % 40}.ts`).join("\n");
    const trimmed = trimText({ kind: "tool-result", text: log, tool: null, input: null });
    const lines = (trimmed ?? "").split("\n").map((one) => Number(/^\[…(\d+)/.exec(one)?.[1] ?? 1));
    expect(lines.reduce((sum, one) => sum + one, 0)).toBe(300);
  });
});

test("every rendition is a function of its source: whatever was made before, the same bytes come out", () => {
  const madeOf = (one: Source) => [
    trimText(one),
    minimal(one),
    judgedExtract(one, 200),
    trimInput({ content: one.text }),
  ];
  fc.assert(
    fc.property(source, source, (one, other) => {
      const first = madeOf(one);
      madeOf(other);
      expect(madeOf({ ...one })).toEqual(first);
    }),
    { numRuns: 40 },
  );
});

test("no rendition has a half of a character", () => {
  fc.assert(
    fc.property(source, (one) => {
      const { summary } = judgedExtract(one, 100);
      const input = JSON.stringify(trimInput({ content: one.text }));
      for (const made of [summary, minimal(one), input ?? ""]) expect(halves.test(made)).toBe(false);
    }),
    { numRuns: 60 },
  );
});

describe("minimal", () => {
  const anyText = fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), text);
  const command = fc.oneof(
    fc.string({ maxLength: 120 }),
    fc.string({ unit: "binary", maxLength: 120 }),
    line,
  );
  const anyInput = fc.oneof(
    command.map((value) => ({ command: value })),
    command.map((value) => ({ path: value })),
    command.map((value) => ({ pattern: value })),
    fc.constant(null),
  );

  test("is one line of at most 30 tokens, whatever the call says", () => {
    fc.assert(
      fc.property(anyText, anyInput, command, (shown, call, tool) => {
        const said = minimal({ kind: "tool-result", text: shown, tool, input: call });
        expect(count(said)).toBeLessThanOrEqual(30);
        expect(said).not.toContain("\n");
      }),
      { numRuns: 500 },
    );
  });
});

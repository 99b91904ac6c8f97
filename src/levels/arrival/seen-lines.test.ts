import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SeenLines, type SeenRun, withReferences } from "./seen-lines.ts";

const mark = "k7";

function file(from: number, to: number, name = "step"): string[] {
  return Array.from(
    { length: to - from + 1 },
    (_, at) => `  const ${name}${from + at} = prepare(input, ${from + at});`,
  );
}
function numbered(lines: readonly string[], from: number): string[] {
  return lines.map((line, at) => `${String(from + at).padStart(6)}→${line}`);
}
function text(...parts: readonly (readonly string[])[]): string {
  return parts.flat().join("\n");
}

describe("runs that were shown before", () => {
  test("are found in one piece", () => {
    const seen = new SeenLines();
    seen.add(31, text(["head"], file(1, 40)));
    const again = text(["other head", "x"], file(11, 40), ["tail"]);
    const runs = seen.matches(again);
    expect(runs).toEqual([{ from: 3, to: 32, id: 31, otherFrom: 12, number: null, numbersUp: 0 }]);
    expect(withReferences(again, runs, mark)).toBe(
      "other head\nx\n[k7 30 lines: same as in #31, from its line 12]\ntail",
    );
  });

  test("a file that is read again after an edit above has other numbers, and is still the same", () => {
    const seen = new SeenLines();
    seen.add(4, text(numbered(file(1, 40), 100)));
    const again = text(numbered(["new();", ...file(1, 40)], 100));
    expect(withReferences(again, seen.matches(again), mark)).toBe(
      "   100→new();\n[k7 lines 101-140: same as 100-139 in #4, from its line 1]",
    );
  });

  test("a run ends where the printed numbers shift differently", () => {
    const seen = new SeenLines();
    seen.add(1, text(numbered(file(1, 40), 1)));
    const again = text(numbered(file(1, 20), 1), numbered(file(21, 40), 31));
    expect(seen.matches(again)).toMatchObject([
      { from: 1, to: 20, numbersUp: 0 },
      { from: 21, to: 40, otherFrom: 21, number: 31, numbersUp: 10 },
    ]);
  });

  test("short runs, few characters and single lines stay", () => {
    const seen = new SeenLines();
    seen.add(1, text(file(1, 7), Array<string>(60).fill("}")));
    expect(seen.matches(text(file(1, 7), ["x"], Array<string>(60).fill("}")))).toEqual([]);
  });

  test("a run that was shown as a reference is never referred to", () => {
    const seen = new SeenLines();
    const lines = text(file(1, 20));
    seen.add(1, lines);
    seen.add(2, lines, seen.matches(lines));
    expect(seen.matches(lines)).toMatchObject([{ id: 1 }]);
    seen.forget(1);
    expect(seen.matches(lines)).toEqual([]);
  });
});

describe("the memory of earlier texts is bounded", () => {
  test("a forgotten text is not found", () => {
    const seen = new SeenLines();
    const lines = text(file(1, 20));
    seen.add(1, lines);
    seen.forget(1);
    seen.forget(1);
    expect(seen.matches(lines)).toEqual([]);
  });

  test("a text above the size limit is not kept", () => {
    const seen = new SeenLines({ sizeMax: 1_000 });
    seen.add(1, text(file(1, 40)));
    expect(seen.matches(text(file(1, 40)))).toEqual([]);
  });

  test("a text with the same id replaces the first", () => {
    const seen = new SeenLines();
    seen.add(1, text(file(1, 20)));
    seen.add(1, text(file(1, 20, "other")));
    expect(seen.matches(text(file(1, 20)))).toEqual([]);
  });

  test("the oldest is forgotten first", () => {
    const seen = new SeenLines({ sizeMax: 4_500 });
    for (const id of [1, 2, 3, 4]) seen.add(id, text(file(1, 25, `name${id}`)));
    expect([1, 2, 3, 4].map((id) => seen.matches(text(file(1, 25, `name${id}`))).length)).toEqual([
      0, 0, 1, 1,
    ]);
  });
});

describe("the original can be written out again", () => {
  test("from what is shown and the earlier texts", () => {
    const line = fc.constantFrom("a", "b", "", "}", "1→a", "2→b", " 1\tx", "12\ty", "7→a", "8→b", "  9→");
    const lines = fc.array(line, { maxLength: 30 });
    fc.assert(
      fc.property(fc.array(lines, { maxLength: 4 }), fc.array(lines, { maxLength: 3 }), (before, extra) => {
        const seen = new SeenLines({ linesMin: 2, charsMin: 3 });
        const texts = new Map<number, string>();
        for (const [id, one] of before.entries()) {
          texts.set(id, text(one));
          seen.add(id, text(one));
        }
        const next = text(...extra.flatMap((own, at) => [own, before[at] ?? []]));
        const runs = seen.matches(next);
        expectOrdered(runs);
        expect(writtenOut(withReferences(next, runs, mark), texts)).toBe(next);
      }),
      { numRuns: 500 },
    );
  });
});

function expectOrdered(runs: readonly SeenRun[]): void {
  for (const [at, run] of runs.entries()) {
    expect(run.from).toBeGreaterThan(runs[at - 1]?.to ?? 0);
    expect(run.to).toBeGreaterThan(run.from);
  }
}

const byNumber = /^\[k7 lines (\d+)-(\d+): same as (\d+)-\d+ in #(\d+), from its line (\d+)\]$/;
const byCount =
  /^\[k7 (\d+) lines: same as in #(\d+), from its line (\d+)(?:, printed numbers ([+-]\d+))?\]$/;

/** Writes out the references, as a reader with the earlier texts would. */
function writtenOut(shown: string, texts: ReadonlyMap<number, string>): string {
  const out = shown.split("\n").flatMap((line) => {
    const [, first, last, there, id, from] = byNumber.exec(line) ?? [];
    if (first !== undefined) {
      const [count, up] = [Number(last) - Number(first) + 1, Number(first) - Number(there)];
      return renumbered(texts.get(Number(id)) as string, { from: Number(from), count, up });
    }
    const [, count, other, start, up] = byCount.exec(line) ?? [];
    if (count === undefined) return [line];
    return renumbered(texts.get(Number(other)) as string, {
      from: Number(start),
      count: Number(count),
      up: Number(up ?? 0),
    });
  });
  return out.join("\n");
}

function renumbered(other: string, part: { from: number; count: number; up: number }): string[] {
  const lines = other.split("\n").slice(part.from - 1, part.from - 1 + part.count);
  return lines.map((line) =>
    line.replace(/^( *)(0|[1-9]\d{0,6})(?=[→\t])/, (front: string, blanks: string, digits: string) =>
      String(Number(digits) + part.up).padStart(blanks === "" ? 0 : front.length),
    ),
  );
}

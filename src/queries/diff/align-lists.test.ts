import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { alignLists, type MatchRule, unmatched } from "./align-lists.ts";

const byLetter = (before: string, after: string, isUnique: boolean): MatchRule => ({
  before: (at) => before[at] ?? null,
  after: (at) => after[at] ?? null,
  isUnique,
});

function aligned(before: string, after: string): string {
  const rules = [byLetter(before, after, true), byLetter(before, after, false)];
  const rows = alignLists({ before: before.length, after: after.length }, rules, unmatched);
  return rows
    .map(
      (row) => `${row.before.map((at) => before[at]).join("")}>${row.after.map((at) => after[at]).join("")}`,
    )
    .join(" ");
}

describe("aligning two lists", () => {
  it("matches equal items in order and leaves the rest in place", () => {
    expect(aligned("abc", "abc")).toBe("a>a b>b c>c");
    expect(aligned("abc", "axbc")).toBe("a>a >x b>b c>c");
    expect(aligned("abc", "ac")).toBe("a>a b> c>c");
    expect(aligned("", "ab")).toBe(">a >b");
  });

  it("tells copies apart by their order", () => {
    expect(aligned("oao", "oaoo")).toBe("o>o a>a o>o >o");
  });

  it("loses nothing, and keeps the order of both", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "c", "d"), maxLength: 40 });
    fc.assert(
      fc.property(letters, letters, (before, after) => {
        const rules = [byLetter(before, after, true), byLetter(before, after, false)];
        const rows = alignLists({ before: before.length, after: after.length }, rules, unmatched);
        expect(rows.flatMap((row) => row.before)).toEqual([...before].map((_, at) => at));
        expect(rows.flatMap((row) => row.after)).toEqual([...after].map((_, at) => at));
        for (const {
          before: [a],
          after: [b],
        } of rows)
          if (a !== undefined && b !== undefined) expect(before[a]).toBe(after[b]);
      }),
    );
  });

  it("takes roughly linear time", () => {
    const size = 20_000;
    const names = Array.from({ length: size }, (_, at) => `${at % 8_000}`);
    const nameOf = (at: number): string => names[at] ?? "";
    const rule = { before: nameOf, after: nameOf, isUnique: false };
    expect(alignLists({ before: size, after: size }, [rule], unmatched).length).toBe(size);
  });
});

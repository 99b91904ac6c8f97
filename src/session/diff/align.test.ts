import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { align, apart, type Naming } from "./align.ts";

const byLetter = (before: string, after: string, isUnique: boolean): Naming => ({
  before: (at) => before[at] ?? null,
  after: (at) => after[at] ?? null,
  isUnique,
});

function aligned(before: string, after: string): string {
  const namings = [byLetter(before, after, true), byLetter(before, after, false)];
  const rows = align({ before: before.length, after: after.length }, namings, apart);
  return rows
    .map(
      (row) => `${row.before.map((at) => before[at]).join("")}>${row.after.map((at) => after[at]).join("")}`,
    )
    .join(" ");
}

describe("aligning two lists", () => {
  it("finds what is the same, in order, and leaves the rest where it stood", () => {
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
        const namings = [byLetter(before, after, true), byLetter(before, after, false)];
        const rows = align({ before: before.length, after: after.length }, namings, apart);
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

  it("takes little more time than the lists are long", () => {
    const size = 20_000;
    const names = Array.from({ length: size }, (_, at) => `${at % 8_000}`);
    const nameOf = (at: number): string => names[at] ?? "";
    const naming = { before: nameOf, after: nameOf, isUnique: false };
    expect(align({ before: size, after: size }, [naming], apart).length).toBe(size);
  });
});

import { describe, expect, it } from "vitest";
import { diffWithShorter, wordDiff } from "./word-diff.ts";

describe("a word diff", () => {
  it("marks the words that differ", () => {
    expect(wordDiff("the old book is lent", "the new book is lent")).toEqual([
      { type: "same", text: "the " },
      { type: "removed", text: "old" },
      { type: "added", text: "new" },
      { type: "same", text: " book is lent" },
    ]);
  });

  it("folds a long unchanged span and counts its characters", () => {
    const long = "word ".repeat(400);
    const [first] = wordDiff(`${long}a`, `${long}b`) ?? [];
    expect(first?.text).toContain("… 1,680 characters unchanged …");
    expect(first?.text.length).toBeLessThan(400);
  });

  it("compares a long trimmed text line by line", () => {
    const lines = Array.from({ length: 3_000 }, (_, at) => `line ${at} says ${at * 7}\n`);
    const short = [...lines.slice(0, 5), "[2,990 lines left out]\n", ...lines.slice(-5)].join("");
    const spans = diffWithShorter(lines.join(""), short) ?? [];
    expect(spans.map(({ type }) => type)).toEqual(["same", "removed", "added", "same"]);
    expect(spans[1]?.text).toMatch(/… [\d,]+ characters removed …/);
    expect(spans[2]?.text).toBe("[2,990 lines left out]\n");
  });

  it("is not made of texts with little in common", () => {
    expect(wordDiff("nothing at all alike here", "[k7f3 #7 result pruned]")).toBeNull();
    const many = (letter: string): string =>
      Array.from({ length: 2_000 }, (_, at) => `${letter}${at}`).join(" ");
    expect(wordDiff(many("a"), many("b"))).toBeNull();
  });
});

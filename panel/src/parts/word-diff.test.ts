import { describe, expect, it } from "vitest";
import { shortening, wordDiff } from "./word-diff.ts";

describe("words of a changed block", () => {
  it("are marked where they differ", () => {
    expect(wordDiff("the old book is lent", "the new book is lent")).toEqual([
      { type: "same", text: "the " },
      { type: "left", text: "old" },
      { type: "added", text: "new" },
      { type: "same", text: " book is lent" },
    ]);
  });

  it("in the middle of what is the same are left out, and counted", () => {
    const long = "word ".repeat(400);
    const [first] = wordDiff(`${long}a`, `${long}b`) ?? [];
    expect(first?.text).toContain("… 1,680 characters the same …");
    expect(first?.text.length).toBeLessThan(400);
  });

  it("of a text that was trimmed are marked line by line where there are many", () => {
    const lines = Array.from({ length: 3_000 }, (_, at) => `line ${at} says ${at * 7}\n`);
    const short = [...lines.slice(0, 5), "[2,990 lines left out]\n", ...lines.slice(-5)].join("");
    const stretches = shortening(lines.join(""), short) ?? [];
    expect(stretches.map(({ type }) => type)).toEqual(["same", "left", "added", "same"]);
    expect(stretches[1]?.text).toMatch(/… [\d,]+ characters left out …/);
    expect(stretches[2]?.text).toBe("[2,990 lines left out]\n");
  });

  it("are shown one text below the other where hardly any is the same", () => {
    expect(wordDiff("nothing at all alike here", "[k7f3 #7 result pruned]")).toBeNull();
    const many = (letter: string): string =>
      Array.from({ length: 2_000 }, (_, at) => `${letter}${at}`).join(" ");
    expect(wordDiff(many("a"), many("b"))).toBeNull();
  });
});

import { expect, test } from "vitest";
import { brokenLinks, headings, tableWords } from "./markdown.ts";

test("headings of one depth, without those in examples", () => {
  const text = "# A\n## `B`\n### C\n```sh\n## not this\n```\n## D d\n";
  expect(headings(text, 2)).toEqual(["B", "D d"]);
});

test("words of a table, several in one cell", () => {
  expect(tableWords("| word | m |\n|---|---|\n| **level**, shown | x |\n")).toEqual([
    "word",
    "level",
    "shown",
  ]);
});

test("links: file, folder, heading, outside, example", () => {
  const files = new Map([
    [
      "README.md",
      "# Top\n[a](docs/a.md) [b](docs/) [c](docs/a.md#two-words) [d](https://x.y/z) [e](#top) `[f](no)`",
    ],
    ["docs/a.md", "## Two words\n[up](../README.md) [gone](b.md) [no](#three) [out](../../else.md)"],
  ]);
  expect(brokenLinks("README.md", files)).toEqual([]);
  expect(brokenLinks("docs/a.md", files)).toEqual([
    "docs/a.md: b.md",
    "docs/a.md: #three",
    "docs/a.md: ../../else.md",
  ]);
});

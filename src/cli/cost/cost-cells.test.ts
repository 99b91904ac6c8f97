import { expect, test } from "vitest";
import { costCells, costHeadings } from "./cost-cells.ts";

const tokens = { input: 1_000, cacheRead: 8_000, cacheWrite: 1_000, output: 500 };
const row = { name: "all", requests: 2, ...tokens, usd: 0.5, unpriced: 0 };

function cellOf(heading: string, changes: Partial<typeof row> = {}): string | undefined {
  return costCells({ ...row, ...changes }, true)[costHeadings("daily", true).indexOf(heading)]?.text;
}

test("every row has a cell for every heading, with and without money", () => {
  for (const hasMoney of [true, false])
    expect(costCells(row, hasMoney)).toHaveLength(costHeadings("model", hasMoney).length);
});

test("the share read from the cache is that of all input, output left out", () => {
  expect(cellOf("hit")).toBe("80 %");
  expect(cellOf("hit", { cacheRead: 0 })).toBe("0 %");
  expect(cellOf("hit", { input: 0, cacheRead: 0, cacheWrite: 0 })).toBe("?");
});

test("a sum without the price of some requests says so", () => {
  expect(cellOf("cost")).toBe("$0.5000");
  expect(cellOf("cost", { unpriced: 1 })).toBe("> $0.5000");
});

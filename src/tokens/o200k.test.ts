import { describe, expect, test } from "vitest";
import { loadO200k, splitRuns } from "./o200k.ts";

describe("exact counts", () => {
  test("follow the vocabulary, and names of special tokens count as text", async () => {
    const count = await loadO200k();
    expect(count("")).toBe(0);
    expect(count("Hello, world!")).toBe(4);
    expect(count("<|endoftext|>")).toBeGreaterThan(1);
    expect(await loadO200k()).toBe(count);
  });

  test("of a page without spaces grow with its length", async () => {
    const count = await loadO200k();
    const [few, many] = [80, 800].map((times) =>
      count("我们在昨天的会议上讨论了新的项目计划大家认为应该先完成数据库的迁移".repeat(times)),
    );
    expect(many).toBeGreaterThan(10_000);
    expect((many ?? 0) / (few ?? 1)).toBeCloseTo(10, 0);
  });
});

const halfPair = /^[\udc00-\udfff]|[\ud800-\udbff]$/;

describe("the pieces of a text", () => {
  test("join to the text and hold no long run", () => {
    const text = `one two ${"x".repeat(600)} three${" ".repeat(600)}${"👍".repeat(400)}`;
    const pieces = splitRuns(text);
    expect(pieces.join("")).toBe(text);
    expect(pieces.every((piece) => !/\S{258}|\s{258}/.test(piece))).toBe(true);
    expect(pieces.every((piece) => !halfPair.test(piece))).toBe(true);
    expect(splitRuns("short text")).toEqual(["short text"]);
  });
});

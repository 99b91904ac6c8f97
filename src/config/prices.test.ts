import { describe, expect, it } from "vitest";
import { priceRows } from "./price-rows.ts";
import { pricesOf, unknownPrices } from "./prices.ts";

describe("the row of a model", () => {
  it.each([
    ["claude-opus-4-5-20251101", "Claude Opus 4.5 and 4.6"],
    ["claude-opus-4-6", "Claude Opus 4.5 and 4.6"],
    ["claude-opus-4-7", "Claude Opus 4.7"],
    ["claude-opus-4-8", "Claude Opus 4.8"],
    ["claude-opus-4-20250514", "Claude Opus 4 and 4.1"],
    ["claude-opus-5", "Claude Opus 5"],
    ["claude-opus-5-5[1m]", "Claude Opus 5.5"],
    ["anthropic/claude-opus-5.5", "Claude Opus 5.5"],
    ["claude-opus-6", "Claude Opus 5.5"],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "Claude Sonnet 4 to 4.6"],
    ["claude-3-5-sonnet-20241022", "Claude Sonnet before 4"],
    ["claude-sonnet-5-5", "Claude Sonnet 5.5"],
    ["claude-haiku-4-5-20251001", "Claude Haiku 4.5"],
    ["claude-haiku-5-5", "Claude Haiku 5.5"],
    ["claude-fable-5", "Claude Fable 5 and Mythos 5"],
    ["claude-mythos-5-2", "Claude Fable 5.1 and Mythos 5.1 on"],
    ["gpt-5.5", "GPT-5.5"],
    ["gpt-5.4", "GPT-5.4"],
    ["gpt-5-2025-08-07", "GPT-5 and 5.1"],
    ["gpt-5.3-codex", "GPT-5.2 and 5.3"],
    ["gpt-5-mini", "GPT-5 mini"],
    ["gpt-4o", "GPT-4o"],
    ["gpt-4o-mini-2024-07-18", "GPT-4o mini"],
    ["gpt-4.1-2025-04-14", "GPT-4.1"],
    ["gpt-5.6-sol", "GPT-5.6 Sol"],
    ["gpt-6-luna", "GPT-6 Luna"],
    ["gpt-6.1-sol", "GPT-6.1 Sol"],
    ["gpt-6-astra", "GPT-6 Astra"],
    ["o3", "o3"],
    ["o4-mini", "o4 mini"],
    ["gemini-2.5-pro", "Gemini 2.5 Pro"],
    ["models/gemini-2.5-flash", "Gemini 2.5 Flash"],
    ["gemini-2.5-flash-lite-preview-09-2025", "Gemini 2.5 Flash-Lite"],
    ["gemini-3.1-pro-preview", "Gemini 3 Pro and 3.1 Pro"],
    ["gemini-3.8-flash", "Gemini 3.6 to 3.8 Flash"],
    ["gemini-4-argon", "Gemini 4 Argon"],
    ["gemini-flash-latest", "Gemini 3.6 to 3.8 Flash"],
  ])("%s is priced as %s", (model, family) => {
    expect(pricesOf(model).family).toBe(family);
  });

  it.each(["mimo-v2.5-free", "ling-3.0-flash-free", "gpt-oss-120b", "", null])(
    "%j is an unknown model",
    (model) => {
      expect(pricesOf(model)).toBe(unknownPrices);
    },
  );
});

describe("prices as documents state them", () => {
  it.each([
    ["claude-opus-5-5", [4, 20, 0.2, 5, 8]],
    ["claude-fable-5-1", [10, 50, 0.25, 12.5, 20]],
    ["claude-haiku-4-5", [1, 5, 0.1, 1.25, 2]],
    ["claude-opus-4-1", [15, 75, 1.5, 18.75, 30]],
  ])("%s costs %j dollars for input, output, read, write, long write", (model, expected) => {
    const { inputUsd, output, read, cache, longCache } = pricesOf(model);
    const usd = [1, output, read, cache.write, longCache?.write ?? 0].map((price) => price * (inputUsd ?? 0));
    expect(usd.map((price) => Number(price.toFixed(6)))).toEqual(expected);
  });

  it("charges for cache writes only from GPT-5.6 on", () => {
    expect(pricesOf("gpt-5.5").cache.write).toBe(1);
    expect(pricesOf("gpt-5.6-sol").cache.write).toBe(1.25);
  });
});

describe("the table", () => {
  it("has one row for each family", () => {
    const families = priceRows.map(({ prices }) => prices.family);
    expect(new Set(families).size).toBe(families.length);
  });

  it.each([...priceRows])("$prices.family can be reached and is consistent", ({ line, since, prices }) => {
    const rows = priceRows.filter((row) => row.line === line);
    expect(rows.at(0)?.since).toEqual([0, 0]);
    const newer = rows.filter((row) => row.since[0] * 100 + row.since[1] > since[0] * 100 + since[1]);
    expect(rows.findIndex((row) => row.prices === prices)).toBe(rows.length - 1 - newer.length);
    expect(prices.read).toBeLessThanOrEqual(prices.cache.write);
    expect(prices.output).toBeGreaterThanOrEqual(1);
    expect(prices.rule.tokensMin % prices.rule.stepTokens).toBe(0);
  });
});

import { describe, expect, it, test } from "vitest";
import {
  billError,
  factorsFor,
  isCacheCold,
  type ModelPrices,
  measuredInput,
  promptPrice,
  withLongCache,
} from "./price.ts";

const minuteMs = 60_000;
const prices: ModelPrices = {
  family: "Example",
  provider: "anthropic",
  inputUsd: 4,
  output: 5,
  read: 0.05,
  cache: { write: 1.25, lifetimeMs: 5 * minuteMs },
  longCache: { write: 2, lifetimeMs: 60 * minuteMs },
  rule: { kind: "marks", tokensMin: 512, stepTokens: 1, marksMax: 4, lookBack: 20 },
  longPrompt: null,
  bindsReasoning: true,
  hasContextEdits: true,
  assumed: [],
};
const none = { read: 0, written: 0, fresh: 0, output: 0 };

describe("the price of a request", () => {
  it("differs between a cache hit and a miss", () => {
    expect(promptPrice({ ...none, read: 100_000 }, prices).usd).toBeCloseTo(0.02, 10);
    expect(promptPrice({ ...none, written: 100_000 }, prices).usd).toBeCloseTo(0.5, 10);
  });

  it("adds read, written, fresh and output tokens", () => {
    const spent = { read: 1_000, written: 100, writtenLong: 10, fresh: 7, output: 3 };
    expect(promptPrice(spent, prices).tokens).toBeCloseTo(50 + 125 + 20 + 7 + 15, 10);
  });

  it("has no dollars if the price is unknown", () => {
    expect(promptPrice({ ...none, fresh: 5 }, { ...prices, inputUsd: null })).toEqual({
      tokens: 5,
      usd: null,
    });
  });

  it("is higher for every token of a long prompt, but not at the limit itself", () => {
    const long = { aboveTokens: 1_000, inputFactor: 2, outputFactor: 1.5 };
    const tiered = { ...prices, longPrompt: long };
    expect(promptPrice({ ...none, fresh: 1_000, output: 10 }, tiered).tokens).toBe(1_050);
    expect(promptPrice({ ...none, fresh: 1_001, output: 10 }, tiered).tokens).toBe(2_002 + 75);
    expect(factorsFor(1_000, tiered)).toEqual({ input: 1, output: 1 });
  });
});

test("a longer cache lifetime has its own price, if the model has one", () => {
  expect(withLongCache(prices).cache).toEqual(prices.longCache);
  expect(withLongCache({ ...prices, longCache: null }).cache).toEqual(prices.cache);
});

describe("the measured input", () => {
  const usage = { input: 10, cacheRead: 1_000, cacheWrite: 100, output: 20 };

  it("follows the reported usage", () => {
    expect(measuredInput(usage, prices).tokens).toBeCloseTo(10 + 50 + 125, 10);
    expect(measuredInput({ ...usage, cacheWriteLong: 40 }, prices).tokens).toBeCloseTo(10 + 50 + 75 + 80, 10);
  });

  it("is compared with the prediction", () => {
    const predicted = { tokens: 100, usd: 0.0004 };
    const error = billError(predicted, { tokens: 110, usd: 0.00044 });
    expect(error.ratio).toBeCloseTo(0.1, 10);
    expect(error.difference.tokens).toBe(10);
    expect(error.difference.usd).toBeCloseTo(0.00004, 12);
  });

  it("has no ratio without a prediction, and no dollars without a price", () => {
    expect(billError({ tokens: 0, usd: null }, { tokens: 1, usd: 1 })).toEqual({
      difference: { tokens: 1, usd: null },
      ratio: null,
    });
  });
});

test("a prefix leaves the cache after its life, or after the longer one that its marks ask for", () => {
  expect(isCacheCold(0, 5 * minuteMs, prices)).toBe(false);
  expect(isCacheCold(0, 5 * minuteMs + 1, prices)).toBe(true);
  expect(isCacheCold(60 * minuteMs, 30 * minuteMs, prices)).toBe(false);
  const automatic: ModelPrices = {
    ...prices,
    cache: { write: 1, lifetimeMs: 10 * minuteMs },
    rule: { ...prices.rule, kind: "prefix" },
  };
  expect(isCacheCold(0, 6 * minuteMs, automatic)).toBe(false);
});

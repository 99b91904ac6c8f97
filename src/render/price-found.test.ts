import { describe, expect, it } from "vitest";
import type { ModelPrices } from "./price.ts";
import { type CacheEntry, foundBefore } from "./price-found.ts";
import { rewriteBill } from "./price-rewrite.ts";

const lifetimeMs = 300_000;
const prices: ModelPrices = {
  family: "Example",
  provider: "anthropic",
  inputUsd: 5,
  output: 5,
  read: 0.1,
  cache: { write: 1.25, lifetimeMs },
  longCache: null,
  rule: { kind: "marks", tokensMin: 1_024, stepTokens: 1, marksMax: 4, lookBack: 20 },
  longPrompt: null,
  bindsReasoning: false,
  hasContextEdits: true,
  assumed: [],
};
const kind = (one: ModelPrices["rule"]["kind"]) => ({ ...prices, rule: { ...prices.rule, kind: one } });

const head: CacheEntry = { position: 2, tokens: 18_000, usedMs: 990_000, lifetimeMs };
const early: CacheEntry = { position: 40, tokens: 30_000, usedMs: 600_000, lifetimeMs };
const late: CacheEntry = { position: 90, tokens: 60_000, usedMs: 990_000, lifetimeMs };
const entries = [head, early, late];
const nowMs = 1_000_000;

describe("what the cache finds before a cut", () => {
  it("is what ends at a mark within reach", () => {
    expect(foundBefore({ position: 95, tokens: 63_000, nowMs }, entries, prices)).toBe(60_000);
    expect(foundBefore({ position: 109, tokens: 70_000, nowMs }, entries, prices)).toBe(60_000);
    expect(foundBefore({ position: 110, tokens: 70_000, nowMs }, entries, prices)).toBe(0);
  });

  it("is nothing of what a mark behind the cut has written", () => {
    expect(foundBefore({ position: 89, tokens: 59_000, nowMs }, [late], prices)).toBe(0);
    expect(foundBefore({ position: 89, tokens: 59_000, nowMs }, [late], kind("breakpoints"))).toBe(0);
    expect(foundBefore({ position: 89, tokens: 59_000, nowMs }, [late], kind("prefix"))).toBe(59_000);
  });

  it("is nothing of what has not been used for its lifetime", () => {
    const cut = { position: 45, tokens: 33_000 };
    expect(foundBefore({ ...cut, nowMs: 899_999 }, [early], prices)).toBe(30_000);
    expect(foundBefore({ ...cut, nowMs: 900_000 }, [early], prices)).toBe(0);
  });

  it("is found from afar where breakpoints are", () => {
    expect(foundBefore({ position: 85, tokens: 58_000, nowMs }, entries, kind("breakpoints"))).toBe(18_000);
  });

  it("is nothing where nothing is cached, or too little", () => {
    expect(foundBefore({ position: 95, tokens: 63_000, nowMs }, entries, kind("none"))).toBe(0);
    const tiny = { ...late, tokens: 1_000 };
    expect(foundBefore({ position: 95, tokens: 63_000, nowMs }, [tiny], prices)).toBe(0);
  });
});

it("makes a rewrite dearer the less is found", () => {
  const asked = { kept: 60_000, behind: 10_000, removed: 30_000, isCold: false, requestsLeft: 20 };
  const all = rewriteBill(asked, prices);
  const some = rewriteBill({ ...asked, found: 18_000 }, prices);
  expect(some.costNow.tokens - all.costNow.tokens).toBeCloseTo(42_000 * 1.15, 6);
  expect(some.savedEach).toEqual(all.savedEach);
});

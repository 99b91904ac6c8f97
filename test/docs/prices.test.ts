// The page about prices shows the table that the arithmetic is given, value by value.
import { describe, expect, test } from "vitest";
import { pricesOf } from "../../src/config/index.ts";
import { type ModelPriceData, priceRows } from "../../src/config/price-rows.ts";
import { unknownPrices } from "../../src/config/prices.ts";
import { type ModelPrices as PricesAsked, promptPrice } from "../../src/policy/index.ts";
import type { PriceField } from "../../src/policy/price.ts";
import { protocolOf } from "../../src/protocols/index.ts";
import { headings, page } from "./markdown.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const modelTraits = anthropic.traits.model;

const all: readonly ModelPriceData[] = [...priceRows.map(({ prices }) => prices), unknownPrices];
const text = page("docs/reference/prices.md");

/** A row of the page. What is our guess bears the sign of an estimate. */
function rowOf(prices: ModelPriceData): string {
  const { family, inputUsd, output, read, cache, longCache, rule, longPrompt } = prices;
  const marked = (field: PriceField, shown: string) => (prices.assumed.includes(field) ? `~${shown}` : shown);
  const cells = [
    family,
    marked("inputUsd", inputUsd === null ? "?" : shownNumber(inputUsd)),
    marked("output", inputUsd === null ? `x${output}` : shownNumber(output * inputUsd)),
    marked("read", shownNumber(read)),
    marked("cache", lifeOf(cache)),
    marked("longCache", longCache === null ? "-" : lifeOf(longCache)),
    marked("rule", `${rule.kind} ${rule.kind === "none" ? "" : rule.tokensMin}`.trim()),
    marked("longPrompt", longPrompt === null ? "-" : longOf(longPrompt)),
    marked("bindsReasoning", prices.bindsReasoning ? "yes" : "no"),
    marked("hasContextEdits", prices.hasContextEdits ? "yes" : "no"),
  ];
  return `| ${cells.join(" | ")} |`;
}

function lifeOf({ write, lifetimeMs }: ModelPriceData["cache"]): string {
  const minutes = lifetimeMs / 60_000;
  return `${shownNumber(write)} for ${minutes < 60 ? `${minutes} min` : `${minutes / 60} h`}`;
}

function longOf({
  aboveTokens,
  inputFactor,
  outputFactor,
}: NonNullable<ModelPriceData["longPrompt"]>): string {
  return `${aboveTokens / 1_000}k: x${inputFactor}, x${outputFactor}`;
}

function shownNumber(value: number): string {
  return String(Number(value.toFixed(4)));
}

describe("the page about prices", () => {
  test.each([...all])("has the row of $family", (prices) => {
    expect(text.split("\n")).toContain(rowOf(prices));
  });

  test("has no row of a model that is gone", () => {
    const shown = [...text.matchAll(/^\| (?!-|family)([^|]+?) \|/gm)].map((match) => match[1]);
    expect(new Set(shown)).toEqual(new Set(all.map(({ family }) => family)));
    expect(shown.length).toBe(all.length);
  });

  test("explains every provider", () => {
    expect(headings(text, 2)).toEqual(["How to read it", "Anthropic", "OpenAI", "Google", "Any other model"]);
  });
});

test("reading from the cache never costs more than writing to it", () => {
  const asked: readonly PricesAsked[] = all;
  const spent = { read: 1_000, written: 0, fresh: 0, output: 0 };
  const missed = { read: 0, written: 1_000, fresh: 0, output: 0 };
  for (const prices of asked) {
    expect(promptPrice(spent, prices).tokens).toBeLessThanOrEqual(promptPrice(missed, prices).tokens);
  }
});

test.each([
  "claude-opus-4-8",
  "claude-opus-5",
  "claude-opus-5-5",
  "claude-sonnet-4-5-20250929",
  "claude-sonnet-5",
  "claude-sonnet-5-5",
  "claude-haiku-4-5",
  "claude-haiku-5-5",
  "claude-fable-5",
  "claude-fable-5-2",
  "claude-mythos-5-1",
  "claude-saga-7",
])("the prices of %s say of its reasoning what the protocol says", (model) => {
  expect(pricesOf(model).bindsReasoning).toBe(modelTraits(model).isBound);
});

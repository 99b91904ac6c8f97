import { type ModelPriceData, type PriceRow, priceRows } from "./price-rows.ts";

/** The values of most models, for a model without any documented values. */
export const unknownPrices: ModelPriceData = {
  family: "Any other model",
  provider: "other",
  inputUsd: null,
  output: 5,
  read: 0.1,
  cache: { write: 1.25, lifetimeMs: 5 * 60_000 },
  longCache: null,
  rule: { kind: "marks", tokensMin: 1024, stepTokens: 1, marksMax: 4, lookBack: 20 },
  longPrompt: null,
  bindsReasoning: true,
  hasContextEdits: false,
  assumed: [
    "inputUsd",
    "output",
    "read",
    "cache",
    "longCache",
    "rule",
    "longPrompt",
    "bindsReasoning",
    "hasContextEdits",
  ],
};

/** Prices are looked up for every request, for few different models. */
const cachedPrices = new Map<string, ModelPriceData>();
const cachedMax = 1_000;

export function pricesOf(model: string | null): ModelPriceData {
  const name = model ?? "";
  const prices = cachedPrices.get(name) ?? lookUpPrices(name.toLowerCase());
  if (cachedPrices.size < cachedMax) cachedPrices.set(name, prices);
  return prices;
}

/**
 * The first row whose pattern matches the name gives the line of models. The newest row of that line that is
 * not newer than the model counts. A model without a version counts as the newest of its line.
 */
function lookUpPrices(name: string): ModelPriceData {
  const line = priceRows.find(({ pattern }) => pattern.test(name))?.line;
  if (line === undefined) return unknownPrices;
  const version = versionOf(name);
  const rows = priceRows.filter((row) => row.line === line);
  const row = rows.findLast(({ since }) => version === null || isSince(version, since)) ?? rows[0];
  return row === undefined ? unknownPrices : row.prices;
}

type PricedVersion = PriceRow["since"];

function isSince([major, minor]: PricedVersion, [sinceMajor, sinceMinor]: PricedVersion): boolean {
  return major > sinceMajor || (major === sinceMajor && minor >= sinceMinor);
}

/** `gpt-5-2025-08-07` is 5.0, `claude-opus-4-5-20251101` is 4.5, `o4-mini` is 4.0. */
function versionOf(name: string): PricedVersion | null {
  const undated = name.replace(/\d{4}-\d{2}-\d{2}|\d{2}-\d{4}|\d{6,8}/g, "");
  const numbers = undated.split(/[^a-z0-9]+/).flatMap((part) => part.match(/^o?(\d{1,2})o?$/)?.[1] ?? []);
  const [major, minor] = numbers;
  return major === undefined ? null : [Number(major), Number(minor ?? 0)];
}

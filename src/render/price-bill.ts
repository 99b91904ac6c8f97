import type { Usage } from "../engine/index.ts";
import { type ModelPrices, type Money, type PromptTokens, promptPrice } from "./price.ts";

/** What an answer says that its request was charged for. */
export type ReportedUsage = Usage & {
  /** The part of what was written that was written for the longer lifetime. */
  readonly cacheWriteLong?: number;
};

/** What a request did cost, output included. */
export function measuredBill(usage: ReportedUsage, prices: ModelPrices): Money {
  return promptPrice(tokensOf(usage, usage.output), prices);
}

/** What its prompt did cost: this is what a rewrite predicts. */
export function measuredInput(usage: ReportedUsage, prices: ModelPrices): Money {
  return promptPrice(tokensOf(usage, 0), prices);
}

export type BillError = {
  /** Measured less predicted: more than zero means that it was dearer than we said. */
  readonly difference: Money;
  /** The same as a part of the prediction; null if nothing was predicted. */
  readonly ratio: number | null;
};

export function billError(predicted: Money, measured: Money): BillError {
  const tokens = measured.tokens - predicted.tokens;
  const usd = predicted.usd === null || measured.usd === null ? null : measured.usd - predicted.usd;
  return { difference: { tokens, usd }, ratio: predicted.tokens === 0 ? null : tokens / predicted.tokens };
}

function tokensOf(usage: ReportedUsage, output: number): PromptTokens {
  const { input, cacheRead, cacheWrite, cacheWriteLong = 0 } = usage;
  return {
    fresh: input,
    read: cacheRead,
    written: cacheWrite - cacheWriteLong,
    writtenLong: cacheWriteLong,
    output,
  };
}

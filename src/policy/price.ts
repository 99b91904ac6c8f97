import type { Usage } from "../engine/frames/index.ts";

/**
 * The prices of a model in units of its own input tokens: an input token costs 1. The numbers are passed in
 * as data; this code knows no model by name.
 */
export type ModelPrices = {
  /** The name of the model family, for people. */
  readonly family: string;
  readonly provider: "anthropic" | "openai" | "google" | "other";
  /** US dollars for a million input tokens. Null if unknown. */
  readonly inputUsd: number | null;
  readonly output: number;
  readonly read: number;
  readonly cache: CacheTier;
  /** The cache with a longer lifetime. Null if the provider has none. */
  readonly longCache: CacheTier | null;
  readonly rule: CacheRule;
  /** Prices for prompts above a length. Null if length does not matter. */
  readonly longPrompt: LongPromptPrice | null;
  /** Whether its reasoning is bound to its prefix, so that a rewrite loses the reasoning after the cut. */
  readonly bindsReasoning: boolean;
  /** Whether the provider can leave out old tool results. */
  readonly hasContextEdits: boolean;
  /** The values that are our guesses. All others come from the provider. */
  readonly assumed: readonly PriceField[];
};
export type PriceField = Exclude<keyof ModelPrices, "family" | "provider" | "assumed">;
export type CacheTier = {
  /** The price of a token written to the cache: 1 if writing costs nothing extra. */
  readonly write: number;
  /** How long a prefix stays cached after its last use. */
  readonly lifetimeMs: number;
};
export type CacheRule = {
  /**
   * marks: written and read at the marks of the request. prefix: the longest known prefix is read.
   * breakpoints: at the marks of the request and at the newest message. none: nothing is cached.
   */
  readonly kind: "marks" | "prefix" | "breakpoints" | "none";
  /** A shorter prompt is silently not cached. */
  readonly tokensMin: number;
  /** The cache finds only multiples of this many tokens. */
  readonly stepTokens: number;
  readonly marksMax: number;
  /** How many positions before a mark, or how many marks, the cache looks at. Null if unlimited. */
  readonly lookBack: number | null;
};
export type LongPromptPrice = {
  readonly aboveTokens: number;
  readonly inputFactor: number;
  readonly outputFactor: number;
};

/** The tokens of one request, by price. */
export type PromptTokens = {
  readonly read: number;
  readonly written: number;
  /** Tokens written to the cache with the longer lifetime. */
  readonly writtenLong?: number;
  readonly fresh: number;
  readonly output: number;
};
/** An amount in input tokens, and in US dollars if the price of a token is known. */
export type Money = { readonly tokens: number; readonly usd: number | null };

export function promptPrice(spent: PromptTokens, prices: ModelPrices): Money {
  const { read, written, writtenLong = 0, fresh, output } = spent;
  const factors = factorsFor(read + written + writtenLong + fresh, prices);
  const long = prices.longCache ?? prices.cache;
  const input = fresh + read * prices.read + written * prices.cache.write + writtenLong * long.write;
  return moneyOf(input * factors.input + output * prices.output * factors.output, prices);
}

export function moneyOf(tokens: number, { inputUsd }: ModelPrices): Money {
  return { tokens, usd: inputUsd === null ? null : (tokens * inputUsd) / 1_000_000 };
}

/** The prices for a client that uses the cache with the longer lifetime. */
export function withLongCache(prices: ModelPrices): ModelPrices {
  return { ...prices, cache: prices.longCache ?? prices.cache };
}

export type CutSize = {
  /** Tokens after the cut that stay. */
  readonly behind: number;
  /** Tokens that are removed, less those that replace them. */
  readonly removed: number;
  /** Tokens before the cut that the cache finds. Absent: all of them. */
  readonly found?: number;
};

/** A prompt above the limit costs more from its first token on. */
export function factorsFor(promptTokens: number, { longPrompt }: ModelPrices): PriceFactors {
  if (longPrompt === null || promptTokens <= longPrompt.aboveTokens) return normalFactors;
  return { input: longPrompt.inputFactor, output: longPrompt.outputFactor };
}

type PriceFactors = { readonly input: number; readonly output: number };

const normalFactors: PriceFactors = { input: 1, output: 1 };

/** The usage that a response reports for its request. */
type ReportedUsage = Usage & {
  /** The part of the written tokens that went to the cache with the longer lifetime. */
  readonly cacheWriteLong?: number;
};

/** The cost of a request's prompt: the part that a rewrite predicts. */
export function measuredInput(usage: ReportedUsage, prices: ModelPrices): Money {
  return promptPrice(promptTokensOf(usage), prices);
}

type BillError = {
  /** Measured minus predicted: above zero the request cost more than predicted. */
  readonly difference: Money;
  /** The difference as a share of the prediction. Null if the prediction is 0. */
  readonly ratio: number | null;
};

export function billError(predicted: Money, measured: Money): BillError {
  const tokens = measured.tokens - predicted.tokens;
  const usd = predicted.usd === null || measured.usd === null ? null : measured.usd - predicted.usd;
  return { difference: { tokens, usd }, ratio: predicted.tokens === 0 ? null : tokens / predicted.tokens };
}

function promptTokensOf(usage: ReportedUsage): PromptTokens {
  const { input, cacheRead, cacheWrite, cacheWriteLong = 0 } = usage;
  return {
    fresh: input,
    read: cacheRead,
    written: cacheWrite - cacheWriteLong,
    writtenLong: cacheWriteLong,
    output: 0,
  };
}

const markedLifetimeMs = 5 * 60_000;

/** Whether a prefix has left the cache. `lifetimeMs` is the life that the marks of its request ask for. */
export function isCacheCold(lifetimeMs: number, idleMs: number, { rule, cache }: ModelPrices): boolean {
  return idleMs > Math.max(rule.kind === "marks" ? markedLifetimeMs : cache.lifetimeMs, lifetimeMs);
}

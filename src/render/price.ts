import { assert } from "../base/index.ts";

/**
 * What a model charges, counted in its own input tokens: an input token costs 1. The numbers are data that is
 * passed in; nothing here knows a model by name.
 */
export type ModelPrices = {
  /** Which models these prices are for, in words people know. */
  readonly family: string;
  readonly provider: "anthropic" | "openai" | "google" | "other";
  /** US dollars for a million input tokens; null where nobody has said. */
  readonly inputUsd: number | null;
  readonly output: number;
  readonly read: number;
  readonly cache: CacheLife;
  /** The longer lifetime that can be paid for, where there is one. */
  readonly longCache: CacheLife | null;
  readonly rule: CacheRule;
  /** Above so many tokens of prompt every token of the request costs more. */
  readonly longPrompt: LongPrompt | null;
  /** Its reasoning is bound to everything before it, so an edited history costs its reasoning too. */
  readonly bindsReasoning: boolean;
  /** The provider can leave old tool results out by itself. */
  readonly hasContextEdits: boolean;
  /** Which of these values are our guess. All others are what the provider says. */
  readonly assumed: readonly PriceField[];
};
export type PriceField = Exclude<keyof ModelPrices, "family" | "provider" | "assumed">;
export type CacheLife = {
  /** What a token costs that is written to the cache: 1 where writing is free. */
  readonly write: number;
  /** How long it stays after it was last used. */
  readonly lifetimeMs: number;
};
export type CacheRule = {
  /**
   * marks: written and read where the request says so. prefix: the longest beginning that was seen before.
   * breakpoints: where the request says so and at the newest message. none: nothing is cached.
   */
  readonly kind: "marks" | "prefix" | "breakpoints" | "none";
  /** A shorter prompt is not cached at all, and nobody says so. */
  readonly tokensMin: number;
  /** Only whole steps of so many tokens are found again. */
  readonly stepTokens: number;
  readonly marksMax: number;
  /** How many positions before a mark, or how many marks, are looked at; null: no limit. */
  readonly lookBack: number | null;
};
export type LongPrompt = {
  readonly aboveTokens: number;
  readonly inputFactor: number;
  readonly outputFactor: number;
};

/** The tokens of one request by how they are charged. */
export type PromptTokens = {
  readonly read: number;
  readonly written: number;
  /** Written for the longer lifetime. */
  readonly writtenLong?: number;
  readonly fresh: number;
  readonly output: number;
};
/** In input tokens, and in US dollars where the price of one is known. */
export type Money = { readonly tokens: number; readonly usd: number | null };

export function promptPrice(spent: PromptTokens, prices: ModelPrices): Money {
  const { read, written, writtenLong = 0, fresh, output } = spent;
  const factors = factorsFor(read + written + writtenLong + fresh, prices);
  const long = prices.longCache ?? prices.cache;
  const input = fresh + read * prices.read + written * prices.cache.write + writtenLong * long.write;
  return moneyOf(input * factors.input + output * prices.output * factors.output, prices);
}

/** What so many input tokens are in dollars. */
export function moneyOf(tokens: number, { inputUsd }: ModelPrices): Money {
  return { tokens, usd: inputUsd === null ? null : (tokens * inputUsd) / 1_000_000 };
}

/** The same model for a client that pays for the longer lifetime. */
export function withLongCache(prices: ModelPrices): ModelPrices {
  return { ...prices, cache: prices.longCache ?? prices.cache };
}

/**
 * After how many requests a rewrite of a warm cache has paid for itself, the one that carries it included:
 * what stays behind the cut is written once instead of read, what was removed is never read again.
 */
export function breakEven({ removed, behind }: CutSize, prices: ModelPrices): number {
  assert(removed >= 0 && behind >= 0, "a cut has sizes");
  const once = behind * Math.max(0, prices.cache.write - prices.read);
  const each = removed * prices.read;
  if (once === 0) return 0;
  return each === 0 ? Number.POSITIVE_INFINITY : once / each;
}

export type CutSize = {
  /** Tokens behind the cut that stay. */
  readonly behind: number;
  /** Tokens that go, less what stands in their place. */
  readonly removed: number;
  /** How many of the tokens before the cut the cache will find; absent: all of them. */
  readonly found?: number;
};

/** Above its limit a long prompt costs more from the first token on. */
export function factorsFor(promptTokens: number, { longPrompt }: ModelPrices): Factors {
  if (longPrompt === null || promptTokens <= longPrompt.aboveTokens) return usual;
  return { input: longPrompt.inputFactor, output: longPrompt.outputFactor };
}

type Factors = { readonly input: number; readonly output: number };

const usual: Factors = { input: 1, output: 1 };

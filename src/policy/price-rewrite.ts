import { assert } from "../base/index.ts";
import { type CutSize, factorsFor, type ModelPrices, type Money, moneyOf } from "./price.ts";

export type RewriteBillInput = CutSize & {
  /** Tokens before the cut. They stay as they are. */
  readonly kept: number;
  /** Whether the cache is cold: nothing can be read from it. */
  readonly isCold: boolean;
  /** The cached tokens, if the client changed the rest of the prompt. Absent: all of it is cached. */
  readonly cached?: number;
  /** The expected number of requests, the one with the rewrite included. */
  readonly requestsLeft: number;
};

/**
 * The number of requests to expect if it is unknown. On recorded sessions this fixed number does as well as
 * the true one: rewriting whenever it pays gives up what waiting would have gathered, and a cautious number
 * makes up for that.
 */
export const requestsExpected = 25;

export type RewriteBill = {
  /** The cost of the next request's input with the rewrite. Output costs the same either way. */
  readonly rewritten: Money;
  /** The cost of the next request's input without the rewrite. */
  readonly unchanged: Money;
  /** The extra cost of the rewrite in the next request. Below zero it pays at once. */
  readonly costNow: Money;
  /** The saving of every later request. */
  readonly savedEach: Money;
  /** The gain over all expected requests. Above zero the rewrite pays. */
  readonly net: Money;
  /** Requests until it has paid for itself, the first included. Infinite if it never does. */
  readonly breakEven: number;
};

/**
 * Compares two futures: the prompt is rewritten after a cut, or sent on as it is. Later content and the
 * growth of the prompt are the same in both and left out: they cannot change which is cheaper, unless the
 * length limit of a price lies in between.
 */
export function rewriteBill(input: RewriteBillInput, prices: ModelPrices): RewriteBill {
  assert(input.requestsLeft >= 0, "requests are counted");
  const costs = costsOf(input, prices);
  const { rewritten, unchanged, saved } = costs;
  const money = (tokens: number) => moneyOf(tokens, prices);
  return {
    rewritten: money(rewritten),
    unchanged: money(unchanged),
    costNow: money(rewritten - unchanged),
    savedEach: money(saved),
    net: money(netOf(costs, input.requestsLeft)),
    breakEven: requestsUntilPaid(costs),
  };
}

export type CutOptions = {
  readonly prices: ModelPrices;
  readonly requestsLeft: number;
  readonly isCold: boolean;
  /** The present length of the prompt. Absent: every cut counts as far enough from the start to be cached. */
  readonly prompt?: { readonly tokens: number; readonly cached?: number };
};
export type BestCut = { readonly at: number; readonly bill: RewriteBill };

/** The cut with the largest net gain, the first of equals. Null if none pays. */
export function bestCut(candidates: readonly CutSize[], options: CutOptions): BestCut | null {
  let best = { at: -1, net: 0 };
  for (const [at, candidate] of candidates.entries()) {
    const net = netOf(costsOf(billInput(candidate, options), options.prices), options.requestsLeft);
    if (net > best.net) best = { at, net };
  }
  const winner = candidates[best.at];
  if (winner === undefined) return null;
  return { at: best.at, bill: rewriteBill(billInput(winner, options), options.prices) };
}

/** Lists all fields instead of spreading, because it runs for every possible cut of a long session. */
function billInput({ behind, removed, found }: CutSize, options: CutOptions): RewriteBillInput {
  const { prices, requestsLeft, isCold, prompt } = options;
  const kept = prompt === undefined ? prices.rule.tokensMin : prompt.tokens - behind - removed;
  const cached = prompt?.cached ?? kept + behind + removed;
  return { kept, behind, removed, found: found ?? kept, cached, requestsLeft, isCold };
}

type RewriteCosts = { readonly rewritten: number; readonly unchanged: number; readonly saved: number };

function costsOf(input: RewriteBillInput, prices: ModelPrices): RewriteCosts {
  const { kept, behind, removed } = input;
  assert(kept >= 0 && behind >= 0 && removed >= 0, "a cut has sizes, and is no longer than the prompt");
  const shorter = kept + behind;
  const total = shorter + removed;
  const cached = input.isCold ? 0 : Math.min(input.cached ?? total, total);
  const found = cachedTokens(Math.min(kept, cached, input.found ?? kept), prices);
  return {
    rewritten: inputCost(shorter, found, prices),
    unchanged: inputCost(total, cached, prices),
    saved: inputCost(total, total, prices) - inputCost(shorter, shorter, prices),
  };
}

function netOf({ rewritten, unchanged, saved }: RewriteCosts, requestsLeft: number): number {
  return Math.max(0, requestsLeft - 1) * saved - Math.min(1, requestsLeft) * (rewritten - unchanged);
}

/** The tokens of a known prefix that the cache finds: none if it is short, else whole steps. */
function cachedTokens(tokens: number, { rule }: ModelPrices): number {
  if (rule.kind === "none" || tokens < rule.tokensMin) return 0;
  return tokens - (tokens % rule.stepTokens);
}

/** Found tokens are read, the rest is written. A prompt too short for the cache is paid in full. */
function inputCost(prompt: number, found: number, prices: ModelPrices): number {
  const factor = factorsFor(prompt, prices).input;
  if (prices.rule.kind === "none" || prompt < prices.rule.tokensMin) return prompt * factor;
  return (found * prices.read + (prompt - found) * prices.cache.write) * factor;
}

/** The first request pays the extra cost, and every later one saves. */
function requestsUntilPaid({ rewritten, unchanged, saved }: RewriteCosts): number {
  if (saved > 0) return Math.max(0, 1 + (rewritten - unchanged) / saved);
  return rewritten <= unchanged ? 0 : Number.POSITIVE_INFINITY;
}

import { assert } from "../base/index.ts";
import { type CutSize, factorsFor, type ModelPrices, type Money, moneyOf } from "./price.ts";

export type RewriteAsked = CutSize & {
  /** Tokens before the cut: they stay as they are. */
  readonly kept: number;
  /** Nothing can be read from the cache any more. */
  readonly isCold: boolean;
  /** Where only a beginning is still cached, because the client changed what follows: how many tokens. */
  readonly cached?: number;
  /** Requests that are expected, the one that carries the rewrite included. */
  readonly requestsLeft: number;
};

/**
 * How many requests to expect when nobody knows. Played on recorded sessions, it is as good as knowing: who
 * rewrites whenever it pays forgoes what waiting would have gathered, so a cautious number makes up for it.
 */
export const requestsExpected = 25;

export type RewriteBill = {
  /** What the input of the next request costs, rewritten and left alone. Output is the same for both. */
  readonly rewritten: Money;
  readonly unchanged: Money;
  /** What a rewrite costs more than leaving things alone, once; less than zero where it pays at once. */
  readonly costNow: Money;
  /** What every later request saves. */
  readonly savedEach: Money;
  /** Over all requests that are left: more than zero means that it pays. */
  readonly net: Money;
  /** Requests until it has paid, the first included; infinite if it never does. */
  readonly breakEven: number;
};

/**
 * Compares two futures: the prompt is rewritten behind a cut, or sent on as it is. What is said later is the
 * same in both and left out, and so is how long a prompt grows; neither can change which of them is cheaper
 * unless a limit of length lies in between.
 */
export function rewriteBill(asked: RewriteAsked, prices: ModelPrices): RewriteBill {
  assert(asked.requestsLeft >= 0, "requests are counted");
  const costs = costsOf(asked, prices);
  const { rewritten, unchanged, saved } = costs;
  const money = (tokens: number) => moneyOf(tokens, prices);
  return {
    rewritten: money(rewritten),
    unchanged: money(unchanged),
    costNow: money(rewritten - unchanged),
    savedEach: money(saved),
    net: money(netOf(costs, asked.requestsLeft)),
    breakEven: paidAfter(costs),
  };
}

export type CutChoice = {
  readonly prices: ModelPrices;
  readonly requestsLeft: number;
  readonly isCold: boolean;
  /** How long the prompt is now; without it every cut is taken to lie far enough from the beginning. */
  readonly prompt?: { readonly tokens: number; readonly cached?: number };
};
export type BestCut = { readonly at: number; readonly bill: RewriteBill };

/** The cut with the largest net, the first of equals; null if none pays. */
export function bestCut(candidates: readonly CutSize[], choice: CutChoice): BestCut | null {
  let best = { at: -1, net: 0 };
  for (const [at, candidate] of candidates.entries()) {
    const net = netOf(costsOf(askedFor(candidate, choice), choice.prices), choice.requestsLeft);
    if (net > best.net) best = { at, net };
  }
  const found = candidates[best.at];
  if (found === undefined) return null;
  return { at: best.at, bill: rewriteBill(askedFor(found, choice), choice.prices) };
}

/** Written out, since it is done for every place where a long session could be cut. */
function askedFor({ behind, removed, found }: CutSize, choice: CutChoice): RewriteAsked {
  const { prices, requestsLeft, isCold, prompt } = choice;
  const kept = prompt === undefined ? prices.rule.tokensMin : prompt.tokens - behind - removed;
  const cached = prompt?.cached ?? kept + behind + removed;
  return { kept, behind, removed, found: found ?? kept, cached, requestsLeft, isCold };
}

type Costs = { readonly rewritten: number; readonly unchanged: number; readonly saved: number };

function costsOf(asked: RewriteAsked, prices: ModelPrices): Costs {
  const { kept, behind, removed } = asked;
  assert(kept >= 0 && behind >= 0 && removed >= 0, "a cut has sizes, and is no longer than the prompt");
  const shorter = kept + behind;
  const total = shorter + removed;
  const cached = asked.isCold ? 0 : Math.min(asked.cached ?? total, total);
  const found = foundAgain(Math.min(kept, cached, asked.found ?? kept), prices);
  return {
    rewritten: inputCost(shorter, found, prices),
    unchanged: inputCost(total, cached, prices),
    saved: inputCost(total, total, prices) - inputCost(shorter, shorter, prices),
  };
}

function netOf({ rewritten, unchanged, saved }: Costs, requestsLeft: number): number {
  return Math.max(0, requestsLeft - 1) * saved - Math.min(1, requestsLeft) * (rewritten - unchanged);
}

/** What a beginning that was sent before is worth now: nothing if it is short, else whole steps of it. */
function foundAgain(tokens: number, { rule }: ModelPrices): number {
  if (rule.kind === "none" || tokens < rule.tokensMin) return 0;
  return tokens - (tokens % rule.stepTokens);
}

/** What is found is read, the rest is written; a prompt too short for the cache is simply paid. */
function inputCost(prompt: number, found: number, prices: ModelPrices): number {
  const factor = factorsFor(prompt, prices).input;
  if (prices.rule.kind === "none" || prompt < prices.rule.tokensMin) return prompt * factor;
  return (found * prices.read + (prompt - found) * prices.cache.write) * factor;
}

/** The first request costs what it costs; from then on every one brings something back. */
function paidAfter({ rewritten, unchanged, saved }: Costs): number {
  if (saved > 0) return Math.max(0, 1 + (rewritten - unchanged) / saved);
  return rewritten <= unchanged ? 0 : Number.POSITIVE_INFINITY;
}

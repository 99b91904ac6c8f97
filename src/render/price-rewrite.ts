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
  const { kept, behind, removed, requestsLeft } = asked;
  assert(Math.min(kept, behind, removed, requestsLeft) >= 0, "a rewrite has sizes");
  const total = kept + behind + removed;
  const cached = asked.isCold ? 0 : Math.min(asked.cached ?? total, total);
  const found = foundAgain(Math.min(kept, cached, asked.found ?? kept), prices);
  const rewritten = inputCost({ prompt: kept + behind, found }, prices);
  const unchanged = inputCost({ prompt: total, found: cached }, prices);
  const later = inputCost({ prompt: kept + behind, found: kept + behind }, prices);
  const saved = inputCost({ prompt: total, found: total }, prices) - later;
  const now = rewritten - unchanged;
  const money = (tokens: number) => moneyOf(tokens, prices);
  return {
    rewritten: money(rewritten),
    unchanged: money(unchanged),
    costNow: money(now),
    savedEach: money(saved),
    net: money(Math.max(0, requestsLeft - 1) * saved - Math.min(1, requestsLeft) * now),
    breakEven: paidAfter({ now, saved }),
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
  let best: BestCut | null = null;
  for (const [at, candidate] of candidates.entries()) {
    const bill = rewriteBill(askedFor(candidate, choice), choice.prices);
    if (bill.net.tokens > (best?.bill.net.tokens ?? 0)) best = { at, bill };
  }
  return best;
}

function askedFor(cut: CutSize, choice: CutChoice): RewriteAsked {
  const { prices, requestsLeft, isCold, prompt } = choice;
  const kept = prompt === undefined ? prices.rule.tokensMin : prompt.tokens - cut.behind - cut.removed;
  assert(kept >= 0, "a cut is no longer than the prompt");
  const cached = prompt?.cached === undefined ? {} : { cached: prompt.cached };
  return { ...cut, kept, requestsLeft, isCold, ...cached };
}

/** What a beginning that was sent before is worth now: nothing if it is short, else whole steps of it. */
function foundAgain(tokens: number, { rule }: ModelPrices): number {
  if (rule.kind === "none" || tokens < rule.tokensMin) return 0;
  return tokens - (tokens % rule.stepTokens);
}

type Prompt = { readonly prompt: number; readonly found: number };

/** What is found is read, the rest is written; a prompt too short for the cache is simply paid. */
function inputCost({ prompt, found }: Prompt, prices: ModelPrices): number {
  const factor = factorsFor(prompt, prices).input;
  if (prices.rule.kind === "none" || prompt < prices.rule.tokensMin) return prompt * factor;
  return (found * prices.read + (prompt - found) * prices.cache.write) * factor;
}

/** The first request costs what it costs; from then on every one brings something back. */
function paidAfter({ now, saved }: { readonly now: number; readonly saved: number }): number {
  if (saved > 0) return Math.max(0, 1 + now / saved);
  return now <= 0 ? 0 : Number.POSITIVE_INFINITY;
}

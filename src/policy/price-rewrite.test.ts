import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { somePrices as prices } from "../../test/support/prices.ts";
import { type CutSize, type ModelPrices, promptPrice, withLongCache } from "./price.ts";
import { bestCut, rewriteBill } from "./price-rewrite.ts";

const free: ModelPrices = {
  ...prices,
  cache: { write: 1, lifetimeMs: 300_000 },
  rule: { ...prices.rule, kind: "prefix", stepTokens: 128 },
};

const size = fc.integer({ min: 0, max: 200_000 });
const anyPrices = fc.record({
  read: fc.constantFrom(0.025, 0.05, 0.1, 0.25, 0.5),
  write: fc.constantFrom(1, 1.25, 2, 2.5),
  stepTokens: fc.constantFrom(1, 128),
});
const priced = anyPrices.map(({ read, write, stepTokens }) => ({
  ...prices,
  read,
  cache: { ...prices.cache, write },
  rule: { ...prices.rule, stepTokens },
}));
const billInputs = fc.record({
  kept: fc.integer({ min: 1_024, max: 200_000 }),
  behind: size,
  removed: size,
  requestsLeft: fc.integer({ min: 1, max: 200 }),
  isCold: fc.boolean(),
});

/** A prompt is a list of words of one or more tokens. */
type PromptWord = { readonly id: string; readonly tokens: number };
type PromptRun = {
  readonly prompts: readonly (readonly PromptWord[])[];
  readonly sentBefore: readonly PromptWord[];
};

/** The cost of prompts sent one after the other. The cache holds the last prompt; a shared prefix is read. */
function simulated({ prompts, sentBefore }: PromptRun, { rule, ...rest }: ModelPrices): number {
  let before = sentBefore;
  let sum = 0;
  for (const prompt of prompts) {
    const shared = prompt.findIndex((word, at) => word.id !== before[at]?.id);
    const same = tokensIn(shared === -1 ? prompt : prompt.slice(0, shared));
    const read = same < rule.tokensMin ? 0 : same - (same % rule.stepTokens);
    const written = tokensIn(prompt) - read;
    sum += promptPrice({ read, written, fresh: 0, output: 0 }, { rule, ...rest }).tokens;
    before = prompt;
  }
  return sum;
}

function tokensIn(words: readonly PromptWord[]): number {
  return words.reduce((sum, { tokens }) => sum + tokens, 0);
}

type CutLengths = CutSize & {
  readonly kept: number;
  readonly isCold: boolean;
  readonly requestsLeft: number;
};

/** Simulates a session twice: as it is, and rewritten before the next request. */
function gainBySimulation(lengths: CutLengths, grown: number, model: ModelPrices): number {
  const kept = { id: "kept", tokens: lengths.kept };
  const behind = { id: "behind", tokens: lengths.behind };
  const removed = { id: "removed", tokens: lengths.removed };
  const growth = Array.from({ length: lengths.requestsLeft }, (_, at) => ({
    id: `new ${at}`,
    tokens: grown,
  }));
  const sent = [kept, removed, behind];
  const after = (start: readonly PromptWord[]) =>
    growth.map((_, at) => [...start, ...growth.slice(0, at + 1)]);
  const sentBefore = lengths.isCold ? [] : sent;
  const shorter = [kept, { ...behind, id: "behind, elsewhere" }];
  return (
    simulated({ prompts: after(sent), sentBefore }, model) -
    simulated({ prompts: after(shorter), sentBefore }, model)
  );
}

/** If the cache finds whole steps only, a request may be off by less than one step. */
function slackOf(requests: number, { rule, cache }: ModelPrices): number {
  return 1e-3 + requests * (rule.stepTokens - 1) * cache.write;
}

/**
 * The number of requests after which a rewrite of a warm cache has paid for itself, its own request included:
 * tokens after the cut are written once instead of read, removed tokens are never read again.
 */
function breakEvenByFormula({ removed, behind }: CutSize, { cache, read }: ModelPrices): number {
  const once = behind * Math.max(0, cache.write - read);
  return once === 0 ? 0 : once / (removed * read);
}

describe("the bill of a rewrite", () => {
  const warm = { kept: 100_000, requestsLeft: 1, isCold: false };

  it.each([
    [0.1, 11.5],
    [0.05, 24],
    [0.025, 49],
  ])(
    "at a read price of %d breaks even after %d requests for as much behind the cut as is removed",
    (read, requests) => {
      const bill = rewriteBill({ ...warm, removed: 1_000, behind: 1_000 }, { ...prices, read });
      expect(bill.breakEven).toBeCloseTo(requests, 8);
    },
  );

  it("breaks even after 96 requests for 20k tokens removed before 80k", () => {
    const bill = rewriteBill({ ...warm, removed: 20_000, behind: 80_000 }, { ...prices, read: 0.05 });
    expect(bill.breakEven).toBeCloseTo(96, 8);
  });

  it("never breaks even if nothing is removed, and at once if nothing follows the cut", () => {
    expect(rewriteBill({ ...warm, removed: 0, behind: 10 }, prices).breakEven).toBe(Number.POSITIVE_INFINITY);
    expect(rewriteBill({ ...warm, removed: 10, behind: 0 }, prices).breakEven).toBe(0);
  });

  it("breaks even later with the longer cache lifetime", () => {
    const cut = { ...warm, removed: 1_000, behind: 1_000 };
    const both = { ...prices, longCache: { write: 2, lifetimeMs: 3_600_000 } };
    expect(rewriteBill(cut, withLongCache(both)).breakEven).toBeGreaterThan(rewriteBill(cut, both).breakEven);
  });

  it("agrees with the formula on a warm cache", () => {
    fc.assert(
      fc.property(billInputs, priced, (one, model) => {
        fc.pre(one.removed > 0 && model.rule.stepTokens === 1);
        const bill = rewriteBill({ ...one, isCold: false }, model);
        const requests = breakEvenByFormula(one, model);
        expect(Math.abs(bill.breakEven - requests)).toBeLessThanOrEqual(1e-9 * (1 + requests));
        expect(bill.net.tokens > 1e-3).toBe((one.requestsLeft - requests) * one.removed * model.read > 1e-3);
      }),
    );
  });

  it("equals the difference between two simulated sessions", () => {
    fc.assert(
      fc.property(billInputs, priced, fc.integer({ min: 0, max: 5_000 }), (one, model, grown) => {
        const { net } = rewriteBill(one, model);
        const gain = gainBySimulation(one, grown, model);
        expect(Math.abs(gain - net.tokens)).toBeLessThanOrEqual(slackOf(one.requestsLeft, model));
      }),
    );
  });

  it("pays at once on a cold cache, and more with every further request", () => {
    const cold = { kept: 10_000, behind: 80_000, removed: 20_000, isCold: true };
    const one = rewriteBill({ ...cold, requestsLeft: 1 }, prices);
    expect(one.costNow.tokens).toBeCloseTo(-25_000, 6);
    expect(one.net.tokens).toBeCloseTo(25_000, 6);
    expect(one.breakEven).toBe(0);
    expect(one.net.usd).toBeCloseTo(0.125, 10);
    expect(rewriteBill({ ...cold, requestsLeft: 11 }, prices).net.tokens).toBeCloseTo(45_000, 6);
  });

  it("is free after a point where the client changed the prompt itself", () => {
    const fork = { kept: 30_000, behind: 50_000, removed: 20_000, isCold: false, cached: 30_000 };
    expect(rewriteBill({ ...fork, requestsLeft: 1 }, prices).net.tokens).toBeCloseTo(25_000, 6);
    const before = { kept: 10_000, behind: 70_000, removed: 20_000, isCold: false, cached: 30_000 };
    const { costNow } = rewriteBill({ ...before, requestsLeft: 1 }, prices);
    expect(costNow.tokens).toBeCloseTo(20_000 * (1.25 - 0.1) - 20_000 * 1.25, 6);
  });

  it("charges a prompt too short for the cache in full every time", () => {
    const short = { kept: 500, behind: 500, removed: 100, isCold: false, requestsLeft: 10 };
    expect(rewriteBill(short, prices).savedEach.tokens).toBeLessThan(0);
    expect(rewriteBill(short, prices).breakEven).toBe(Number.POSITIVE_INFINITY);
    expect(rewriteBill({ ...short, behind: 10_000 }, prices).rewritten.tokens).toBeCloseTo(10_500 * 1.25, 6);
  });

  it("rounds cached tokens down to whole steps", () => {
    const one = { kept: 1_100, behind: 1_000, removed: 1_000, isCold: false, requestsLeft: 5 };
    expect(rewriteBill(one, free).rewritten.tokens).toBeCloseTo(1_024 * 0.1 + 76 + 1_000, 6);
  });

  it("counts the saving of falling under the long-prompt limit", () => {
    const tiered = { ...prices, longPrompt: { aboveTokens: 100_000, inputFactor: 5, outputFactor: 5 } };
    const one = { kept: 10_000, behind: 80_000, removed: 20_000, isCold: false, requestsLeft: 2 };
    expect(rewriteBill(one, prices).net.tokens).toBeLessThan(0);
    expect(rewriteBill({ ...one, requestsLeft: 3 }, tiered).net.tokens).toBeGreaterThan(0);
  });

  it("is zero for a session that is over", () => {
    const over = { kept: 10_000, behind: 0, removed: 9_000, isCold: true, requestsLeft: 0 };
    expect(rewriteBill(over, prices).net.tokens).toBeCloseTo(0, 10);
  });

  it("saves the removed tokens with every request if nothing is cached", () => {
    const plain: ModelPrices = { ...prices, read: 1, rule: { ...prices.rule, kind: "none" } };
    const one = { kept: 10_000, behind: 5_000, removed: 1_000, isCold: false, requestsLeft: 3 };
    expect(rewriteBill(one, plain).net.tokens).toBeCloseTo(3_000, 6);
  });
});

describe("the best cut", () => {
  const cuts = fc.array(fc.record({ behind: size, removed: size }), { maxLength: 40 });
  const choice = fc.record({
    prices: priced,
    requestsLeft: fc.integer({ min: 0, max: 300 }),
    isCold: fc.boolean(),
  });

  it("is the one that an exhaustive search finds", () => {
    fc.assert(
      fc.property(cuts, choice, (candidates, one) => {
        const prompt = { tokens: 401_024 };
        const nets = candidates.map(({ behind, removed }) => {
          const kept = prompt.tokens - behind - removed;
          return rewriteBill({ kept, behind, removed, ...one }, one.prices).net.tokens;
        });
        const most = Math.max(0, ...nets);
        const best = bestCut(candidates, { ...one, prompt });
        expect(best?.at ?? null).toBe(most > 0 ? nets.indexOf(most) : null);
        expect(best?.bill.net.tokens ?? 0).toBe(most);
      }),
    );
  });

  it("never picks a cut that loses in simulation", () => {
    fc.assert(
      fc.property(cuts, choice, fc.integer({ min: 0, max: 5_000 }), (candidates, one, grown) => {
        const best = bestCut(candidates, one);
        if (best === null) return;
        const cut = candidates[best.at] as CutSize;
        const gain = gainBySimulation({ ...cut, ...one, kept: 50_048 }, grown, one.prices);
        expect(gain).toBeGreaterThan(-slackOf(one.requestsLeft, one.prices));
      }),
    );
  });

  it("gains more the more requests are left", () => {
    fc.assert(
      fc.property(cuts, choice, fc.nat(100), (candidates, one, more) => {
        const now = bestCut(candidates, one)?.bill.net.tokens ?? 0;
        const later = bestCut(candidates, { ...one, requestsLeft: one.requestsLeft + more });
        expect(later?.bill.net.tokens ?? 0).toBeGreaterThanOrEqual(now - 1e-6);
      }),
    );
  });

  it("is late with a warm cache and early with a cold one", () => {
    const candidates = [
      { behind: 90_000, removed: 40_000 },
      { behind: 5_000, removed: 20_000 },
    ];
    expect(bestCut(candidates, { prices, requestsLeft: 20, isCold: false })?.at).toBe(1);
    expect(bestCut(candidates, { prices, requestsLeft: 20, isCold: true })?.at).toBe(0);
    expect(bestCut(candidates, { prices, requestsLeft: 1, isCold: false })).toBe(null);
  });

  it("reads every candidate once, and the best once more", () => {
    let looks = 0;
    const seen = (candidate: CutSize) => ({
      removed: candidate.removed,
      get behind() {
        looks += 1;
        return candidate.behind;
      },
    });
    const candidates = Array.from({ length: 1_000 }, (_, at) => seen({ behind: at, removed: 1_000 - at }));
    bestCut(candidates, { prices, requestsLeft: 10, isCold: false });
    expect(looks).toBeLessThanOrEqual(1_001);
  });
});

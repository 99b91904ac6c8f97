import {
  type Bill,
  type ClientRequest,
  ExpandCharge,
  MissWatch,
  type NameBook,
  type Prompt,
  PromptCache,
  promptAfter,
  type SizedUnit,
} from "../../src/analysis/index.ts";
import type { ModelPrices } from "../../src/render/index.ts";

/** One stream as the client sent it, and what each answer used. */
export type ClientStream = {
  readonly requests: readonly ClientRequest[];
  readonly prices: ModelPrices;
  readonly book: NameBook;
  /** Tokens that stand in place of a result that is left out, and that show a part of one again. */
  readonly placeholder: number;
  readonly excerpt: number;
};

/** Says of a result which request is the first without it; null: none. */
export type Rule = (result: SizedUnit, arrived: number) => number | null;

export type Pruned = { readonly bill: Bill; readonly charge: Bill; readonly isMiss: boolean };

/** What leaving out results by a rule would have cost, in one session. */
export type PrunedSession = {
  readonly rule: string;
  readonly prices: ModelPrices;
  readonly requests: readonly Pruned[];
};

/** What leaving results out by a rule would cost, everything else being as the client sent it. */
export function pruned(stream: ClientStream, rule: Rule): readonly Pruned[] {
  const { requests, prices, book, placeholder, excerpt } = stream;
  const cache = new PromptCache({ ...prices.rule, lifetimeMs: prices.cache.lifetimeMs });
  const watch = new MissWatch(book);
  const charge = new ExpandCharge(excerpt);
  const arrivals = new Map<string, number>();
  let before: Prompt<SizedUnit> | null = null;
  let client: Prompt<SizedUnit> | null = null;
  return requests.map(({ units, timeMs, used, isExtension }, at) => {
    if (!isExtension) charge.startOver();
    const sent = units.map((unit) => {
      if (unit.run !== "result" || unit.tokens <= placeholder) return unit;
      const arrived = arrivals.get(unit.key) ?? at;
      arrivals.set(unit.key, arrived);
      const gone = rule(unit, arrived);
      return gone !== null && at >= gone ? leftOut(unit, placeholder) : unit;
    });
    client = promptAfter(client, units);
    const upstream: Prompt<SizedUnit> = markedBeforeCut(before, promptAfter(before, sent));
    before = upstream;
    const bill = cache.send(upstream, timeMs);
    const missed = charge.stillMissed(watch.missed({ client, upstream, used }));
    return { bill, charge: charge.bill(bill, missed), isMiss: missed.length > 0 };
  });
}

/** Whoever changes something puts a mark in front of it, so that what stays is found. */
function markedBeforeCut(before: Prompt | null, now: Prompt<SizedUnit>): Prompt<SizedUnit> {
  const { same, marks } = now;
  if (before === null || same === 0 || same === before.units.length) return now;
  return { ...now, marks: [...new Set([...marks, same - 1])].sort((a, b) => a - b) };
}

function leftOut(unit: SizedUnit, tokens: number): SizedUnit {
  return { ...unit, key: `${unit.key} left out`, bare: `${unit.bare} left out`, text: "", tokens };
}

const largeChars = 1_000;
const oldRequests = 10;

/** Large results leave when they are old, each as soon as it is. */
export const turnByTurn: Rule = ({ text }, arrived) =>
  text.length > largeChars ? arrived + oldRequests : null;

/** The same results, but many of them at once. */
export function inBatches(charsMin: number): (stream: ClientStream) => Rule {
  return ({ requests }) => {
    const arrivals = new Map<string, number>();
    const gone = new Map<string, number>();
    for (const [at, { units }] of requests.entries()) {
      const old: SizedUnit[] = [];
      for (const unit of units) {
        if (unit.run !== "result" || unit.text.length <= largeChars || gone.has(unit.key)) continue;
        const arrived = arrivals.get(unit.key) ?? at;
        arrivals.set(unit.key, arrived);
        if (at >= arrived + oldRequests) old.push(unit);
      }
      if (old.reduce((sum, { text }) => sum + text.length, 0) < charsMin) continue;
      for (const { key } of old) gone.set(key, at);
    }
    return ({ key }) => gone.get(key) ?? null;
  };
}

/** With foresight: each result leaves right after the last answer that used it and no later copy. */
export function oracle({ requests, book }: ClientStream): Rule {
  const lastUse = new Map<string, number>();
  for (const [at, { units, used }] of requests.entries()) {
    const wanted = new Set(used);
    for (const unit of [...units].reverse()) {
      if (wanted.size === 0) break;
      const found = [...wanted].filter((name) => book.namesIn(unit).has(name));
      for (const name of found) wanted.delete(name);
      if (found.length > 0 && unit.run === "result") lastUse.set(unit.key, at);
    }
  }
  return (unit, arrived) => Math.max(arrived, lastUse.get(unit.key) ?? arrived) + 1;
}

/** The same, but only where it pays: what stands behind it is written anew once, it is not read again. */
export function payingOracle(stream: ClientStream): Rule {
  const { requests, prices, placeholder } = stream;
  const rule = oracle(stream);
  const decided = new Map<string, number | null>();
  const decide = (unit: SizedUnit, arrived: number): number | null => {
    const gone = rule(unit, arrived) ?? requests.length;
    const units = requests[gone]?.units ?? [];
    const at = units.findIndex(({ key }) => key === unit.key);
    if (at === -1) return null;
    const behind = units.slice(at + 1).reduce((sum, { tokens }) => sum + tokens, 0);
    const stays = requests.slice(gone).findIndex(({ isExtension }, index) => index > 0 && !isExtension);
    const left = stays === -1 ? requests.length - gone : stays;
    const once = behind * (prices.cache.write - prices.read);
    return (unit.tokens - placeholder) * prices.read * left > once ? gone : null;
  };
  return (unit, arrived) => {
    const known = decided.get(unit.key);
    const gone = known === undefined ? decide(unit, arrived) : known;
    decided.set(unit.key, gone);
    return gone;
  };
}

import { ExpandCharge } from "../../src/analysis/play/expand-charge.ts";
import { MissDetector } from "../../src/analysis/play/miss-detector.ts";
import {
  type PlayedPrompt,
  promptAfter,
  SimulatedCache,
  type TokenBill,
} from "../../src/analysis/play/simulated-cache.ts";
import type { ClientRequest } from "../../src/analysis/play/stream-player.ts";
import type { UnitNames } from "../../src/analysis/play/unit-names.ts";
import type { SizedPromptUnit } from "../../src/analysis/play/unit-sizer.ts";
import type { ModelPrices } from "../../src/policy/index.ts";

/** One stream as the client sent it, and the names each answer used. */
export type ClientStream = {
  readonly requests: readonly ClientRequest[];
  readonly prices: ModelPrices;
  readonly unitNames: UnitNames;
  /**
   * Tokens of the placeholder for a result that is left out; `excerpt` are those that show a part of it
   * again.
   */
  readonly placeholder: number;
  readonly excerpt: number;
};

/** The first request without a result. Null if the result stays. */
export type PruneRule = (result: SizedPromptUnit, arrived: number) => number | null;

export type PrunedRequest = {
  readonly bill: TokenBill;
  readonly charge: TokenBill;
  readonly isMiss: boolean;
};

/** The requests of one session, with results left out by a rule. */
export type PrunedSession = {
  readonly rule: string;
  readonly prices: ModelPrices;
  readonly requests: readonly PrunedRequest[];
};

/** The cost of a stream if results are left out by a rule and all else is as the client sent it. */
export function pruneResults(stream: ClientStream, rule: PruneRule): readonly PrunedRequest[] {
  const { requests, prices, unitNames, placeholder, excerpt } = stream;
  const cache = new SimulatedCache({ ...prices.rule, lifetimeMs: prices.cache.lifetimeMs });
  const misses = new MissDetector(unitNames);
  const charge = new ExpandCharge(excerpt);
  const arrivals = new Map<string, number>();
  let before: PlayedPrompt<SizedPromptUnit> | null = null;
  let client: PlayedPrompt<SizedPromptUnit> | null = null;
  return requests.map(({ units, timeMs, used, isExtension }, at) => {
    if (!isExtension) charge.reset();
    const sent = units.map((unit) => {
      if (unit.run !== "result" || unit.tokens <= placeholder) return unit;
      const arrived = arrivals.get(unit.key) ?? at;
      arrivals.set(unit.key, arrived);
      const leavesAt = rule(unit, arrived);
      return leavesAt !== null && at >= leavesAt ? placeholderUnit(unit, placeholder) : unit;
    });
    client = promptAfter(client, units);
    const upstream: PlayedPrompt<SizedPromptUnit> = markedBeforeCut(before, promptAfter(before, sent));
    before = upstream;
    const bill = cache.send(upstream, timeMs);
    const missed = charge.stillMissed(misses.missedNames({ client, upstream, used }));
    return { bill, charge: charge.bill(bill, missed), isMiss: missed.length > 0 };
  });
}

/** Adds a cache mark before the first change, so that the unchanged prefix is read from the cache. */
function markedBeforeCut(
  before: PlayedPrompt | null,
  now: PlayedPrompt<SizedPromptUnit>,
): PlayedPrompt<SizedPromptUnit> {
  const { same, marks } = now;
  if (before === null || same === 0 || same === before.units.length) return now;
  return { ...now, marks: [...new Set([...marks, same - 1])].sort((a, b) => a - b) };
}

function placeholderUnit(unit: SizedPromptUnit, tokens: number): SizedPromptUnit {
  return { ...unit, key: `${unit.key} left out`, bare: `${unit.bare} left out`, text: "", tokens };
}

const largeChars = 1_000;
const oldRequests = 10;

/** Each large result leaves as soon as it is old. */
export const turnByTurn: PruneRule = ({ text }, arrived) =>
  text.length > largeChars ? arrived + oldRequests : null;

/** The same results leave, but many at once. */
export function inBatches(charsMin: number): (stream: ClientStream) => PruneRule {
  return ({ requests }) => {
    const arrivals = new Map<string, number>();
    const gone = new Map<string, number>();
    for (const [at, { units }] of requests.entries()) {
      const old: SizedPromptUnit[] = [];
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

/** With foresight: each result leaves right after the last answer that used it and not a later copy. */
export function oracle({ requests, unitNames }: ClientStream): PruneRule {
  const lastUse = new Map<string, number>();
  for (const [at, { units, used }] of requests.entries()) {
    const wanted = new Set(used);
    for (const unit of [...units].reverse()) {
      if (wanted.size === 0) break;
      const found = [...wanted].filter((name) => unitNames.namesIn(unit).has(name));
      for (const name of found) wanted.delete(name);
      if (found.length > 0 && unit.run === "result") lastUse.set(unit.key, at);
    }
  }
  return (unit, arrived) => Math.max(arrived, lastUse.get(unit.key) ?? arrived) + 1;
}

/**
 * The same, but only if it pays: everything after the result is written again once, and the result is not
 * read again.
 */
export function payingOracle(stream: ClientStream): PruneRule {
  const { requests, prices, placeholder } = stream;
  const rule = oracle(stream);
  const decided = new Map<string, number | null>();
  const decide = (unit: SizedPromptUnit, arrived: number): number | null => {
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

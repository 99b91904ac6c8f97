import type { BlockKind } from "../engine/index.ts";
import type { NamedWeight, Weight } from "./contents/contents.ts";
import type { Repeats } from "./contents/repeats.ts";
import { sum } from "./play/sums.ts";
import type { SessionReport, Spent } from "./session-report.ts";

/** Money where it is known, and how much of the whole it is about. */
export type Dollars = {
  /** Of the sessions whose model has a price; null: none has. */
  readonly asSent: number | null;
  readonly charged: number | null;
  readonly sessions: number;
};

/** All sessions together. */
export type Totals = {
  readonly sessions: number;
  readonly requests: number;
  readonly agents: number;
  readonly compactions: number;
  readonly startedMs: number | null;
  readonly endedMs: number | null;
  readonly kinds: Readonly<Partial<Record<BlockKind, Weight>>>;
  readonly tools: readonly NamedWeight[];
  readonly files: readonly NamedWeight[];
  readonly repeats: Repeats;
  readonly idle: Omit<SessionReport["contents"]["idle"], "blocks">;
  readonly spent: Spent;
  readonly simulated: Omit<SessionReport["simulated"], "inputUsd"> & { readonly usd: Dollars };
};

/** In lists of all sessions together. */
const rowsMax = 100;

export function totalsOf(sessions: readonly SessionReport[]): Totals {
  const total = (of: (one: SessionReport) => number): number => sum(sessions.map(of));
  const contents = sessions.map((one) => one.contents);
  const calls = contents.flatMap(({ repeats }) => repeats.calls);
  return {
    sessions: sessions.length,
    requests: total(({ requests }) => requests),
    agents: total(({ agents }) => agents),
    compactions: total(({ compactions }) => compactions),
    startedMs: extreme(
      sessions.map(({ startedMs }) => startedMs),
      Math.min,
    ),
    endedMs: extreme(
      sessions.map(({ endedMs }) => endedMs),
      Math.max,
    ),
    kinds: kindsOf(sessions),
    tools: merged(contents.flatMap(({ tools }) => tools)),
    files: merged(contents.flatMap(({ files }) => files)),
    repeats: {
      resultTokens: total(({ contents: { repeats } }) => repeats.resultTokens),
      seenTokens: total(({ contents: { repeats } }) => repeats.seenTokens),
      calls: again(calls).slice(0, rowsMax),
    },
    idle: {
      results: total(({ contents: { idle } }) => idle.results),
      neverUsed: total(({ contents: { idle } }) => idle.neverUsed),
      neverUsedTokens: total(({ contents: { idle } }) => idle.neverUsedTokens),
      carried: total(({ contents: { idle } }) => idle.carried),
      idleCarried: total(({ contents: { idle } }) => idle.idleCarried),
    },
    spent: spentOf(sessions),
    simulated: simulatedOf(sessions),
  };
}

/** What was asked for again in several sessions is one row. */
function again(calls: Repeats["calls"]): Repeats["calls"] {
  const rows = new Map<string, Repeats["calls"][number]>();
  for (const { label, times, tokens } of calls) {
    const before = rows.get(label);
    rows.set(label, { label, times: times + (before?.times ?? 0), tokens: tokens + (before?.tokens ?? 0) });
  }
  return [...rows.values()].sort((a, b) => b.tokens - a.tokens || b.times - a.times);
}

function extreme(times: readonly (number | null)[], of: (a: number, b: number) => number): number | null {
  const known = times.flatMap((time) => time ?? []);
  return known.length === 0 ? null : known.reduce((a, b) => of(a, b));
}

function kindsOf(sessions: readonly SessionReport[]): Totals["kinds"] {
  const kinds = sessions.flatMap(({ contents }) =>
    Object.entries(contents.kinds).map(([name, weight]) => ({ name, blocks: 0, ...weight })),
  );
  return Object.fromEntries(merged(kinds).map(({ name, written, carried }) => [name, { written, carried }]));
}

function merged(rows: readonly NamedWeight[]): readonly NamedWeight[] {
  const sums = new Map<string, NamedWeight>();
  for (const row of rows) {
    const { name, written, carried, blocks } = sums.get(row.name) ?? { ...nothing, name: row.name };
    sums.set(name, {
      name,
      written: written + row.written,
      carried: carried + row.carried,
      blocks: blocks + row.blocks,
    });
  }
  return [...sums.values()].sort((a, b) => b.carried - a.carried).slice(0, rowsMax);
}

const nothing = { written: 0, carried: 0, blocks: 0 };

function spentOf(sessions: readonly SessionReport[]): Spent {
  const total = (of: (one: Spent) => number): number => sum(sessions.map(({ spent }) => of(spent)));
  const money = sessions.flatMap(({ spent }) => spent.usd ?? []);
  return {
    counted: total(({ counted }) => counted),
    uncounted: total(({ uncounted }) => uncounted),
    input: total(({ input }) => input),
    cacheRead: total(({ cacheRead }) => cacheRead),
    cacheWrite: total(({ cacheWrite }) => cacheWrite),
    output: total(({ output }) => output),
    usd: money.length === 0 ? null : sum(money),
    unpriced: total(({ unpriced }) => unpriced),
  };
}

function simulatedOf(sessions: readonly SessionReport[]): Totals["simulated"] {
  const its = sessions.map(({ simulated }) => simulated);
  const total = (of: (one: SessionReport["simulated"]) => number): number => sum(its.map(of));
  const rewrites: Record<string, number> = {};
  for (const one of its)
    for (const [reason, count] of Object.entries(one.rewrites))
      rewrites[reason] = (rewrites[reason] ?? 0) + count;
  return {
    asSent: total(({ asSent }) => asSent),
    managed: total(({ managed }) => managed),
    charged: total(({ charged }) => charged),
    promptTokens: {
      asSent: total(({ promptTokens }) => promptTokens.asSent),
      managed: total(({ promptTokens }) => promptTokens.managed),
    },
    managedRequests: total(({ managedRequests }) => managedRequests),
    misses: total(({ misses }) => misses),
    rewrites,
    usd: dollarsOf(its),
  };
}

function dollarsOf(its: readonly SessionReport["simulated"][]): Dollars {
  const priced = its.flatMap(({ asSent, charged, inputUsd }) =>
    inputUsd === null ? [] : [{ asSent: asSent * inputUsd, charged: charged * inputUsd }],
  );
  const usd = (of: "asSent" | "charged"): number | null =>
    priced.length === 0 ? null : sum(priced.map((one) => one[of])) / 1_000_000;
  return { asSent: usd("asSent"), charged: usd("charged"), sessions: priced.length };
}

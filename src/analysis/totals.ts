import type { BlockKind } from "../engine/frames/index.ts";
import type { NamedWeight, Weight } from "./contents/recorded-contents.ts";
import type { RepeatedResults } from "./contents/repeated-results.ts";
import { sum } from "./play/cost-sums.ts";
import type { ReportedSpend, SessionReport } from "./session-report.ts";

/** Cost in dollars, and how many sessions it covers. */
export type DollarTotals = {
  /** Sum over the sessions whose model has a price. Null if none has. */
  readonly asSent: number | null;
  readonly charged: number | null;
  readonly sessions: number;
};

/** The sums over all sessions. */
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
  readonly repeats: RepeatedResults;
  readonly idle: Omit<SessionReport["contents"]["idle"], "blocks">;
  readonly spent: ReportedSpend;
  readonly simulated: Omit<SessionReport["simulated"], "inputUsd"> & { readonly usd: DollarTotals };
};

/** Maximum rows of a list over all sessions. */
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
    tools: mergeWeights(contents.flatMap(({ tools }) => tools)),
    files: mergeWeights(contents.flatMap(({ files }) => files)),
    repeats: {
      resultTokens: total(({ contents: { repeats } }) => repeats.resultTokens),
      seenTokens: total(({ contents: { repeats } }) => repeats.seenTokens),
      calls: mergeCalls(calls).slice(0, rowsMax),
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

/** Merges calls of several sessions that have the same label into one row. */
function mergeCalls(calls: RepeatedResults["calls"]): RepeatedResults["calls"] {
  const rows = new Map<string, RepeatedResults["calls"][number]>();
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
  return Object.fromEntries(
    mergeWeights(kinds).map(({ name, written, carried }) => [name, { written, carried }]),
  );
}

function mergeWeights(rows: readonly NamedWeight[]): readonly NamedWeight[] {
  const sums = new Map<string, NamedWeight>();
  for (const row of rows) {
    const { name, written, carried, blocks } = sums.get(row.name) ?? { ...noWeight, name: row.name };
    sums.set(name, {
      name,
      written: written + row.written,
      carried: carried + row.carried,
      blocks: blocks + row.blocks,
    });
  }
  return [...sums.values()].sort((a, b) => b.carried - a.carried).slice(0, rowsMax);
}

const noWeight = { written: 0, carried: 0, blocks: 0 };

function spentOf(sessions: readonly SessionReport[]): ReportedSpend {
  const total = (of: (one: ReportedSpend) => number): number => sum(sessions.map(({ spent }) => of(spent)));
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
  const simulations = sessions.map(({ simulated }) => simulated);
  const total = (of: (one: SessionReport["simulated"]) => number): number => sum(simulations.map(of));
  const rewrites: Record<string, number> = {};
  for (const one of simulations)
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
    usd: dollarsOf(simulations),
  };
}

function dollarsOf(simulations: readonly SessionReport["simulated"][]): DollarTotals {
  const priced = simulations.flatMap(({ asSent, charged, inputUsd }) =>
    inputUsd === null ? [] : [{ asSent: asSent * inputUsd, charged: charged * inputUsd }],
  );
  const usd = (of: "asSent" | "charged"): number | null =>
    priced.length === 0 ? null : sum(priced.map((one) => one[of])) / 1_000_000;
  return { asSent: usd("asSent"), charged: usd("charged"), sessions: priced.length };
}

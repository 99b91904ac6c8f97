import type { BlockKind } from "../engine/frames/index.ts";
import { type ModelPrices, promptPrice } from "../policy/index.ts";
import {
  type GatheredSession,
  modelOf,
  type RecordedTurn,
  recordingStreams,
  turnTime,
} from "../transcripts/index.ts";
import { type RecordedContents, recordedContents } from "./contents/recorded-contents.ts";
import { costsOf, type SessionCost, sum } from "./play/cost-sums.ts";
import {
  defaultSessionPlay,
  playableSession,
  playSession,
  type SessionPlayDeps,
} from "./play/session-play.ts";
import type { ClientRequest, PricedPrompt } from "./play/stream-player.ts";

/** Tokens as the provider reported them, and their cost by the prices of the models that answered. */
export type ReportedSpend = {
  /** Requests with reported usage; `uncounted` are those without. */
  readonly counted: number;
  readonly uncounted: number;
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  /** Cost of requests to models with a known price. Null if there was none. */
  readonly usd: number | null;
  /** Requests with usage to models without a known price. */
  readonly unpriced: number;
};

/** The cost of a session as its client sent it and as Aperture would have sent it, both simulated. */
export type SimulatedCost = {
  /**
   * In tokens of plain input, as in the cost benchmark. `charged` adds to `managed` what it costs to show
   * missed content again.
   */
  readonly asSent: number;
  readonly managed: number;
  readonly charged: number;
  /** Dollars for a million of those tokens. Null if the model has no known price. */
  readonly inputUsd: number | null;
  readonly promptTokens: { readonly asSent: number; readonly managed: number };
  readonly managedRequests: number;
  readonly misses: number;
  readonly rewrites: Readonly<Record<string, number>>;
};

/** A prompt of the main stream: its content by kind as sent, and its size in both simulations. */
export type PromptPoint = {
  readonly request: number;
  readonly kinds: Readonly<Partial<Record<BlockKind, number>>>;
  readonly asSent: number;
  readonly managed: number;
};

/** The report about one session. Plain data: it travels between threads and into files. */
export type SessionReport = {
  readonly id: string;
  readonly client: string;
  readonly project: string | null;
  readonly model: string;
  readonly family: string;
  readonly startedMs: number | null;
  readonly endedMs: number | null;
  readonly requests: number;
  readonly agents: number;
  /** How often the client restarted with a shorter history. */
  readonly compactions: number;
  readonly contents: RecordedContents;
  readonly spent: ReportedSpend;
  readonly simulated: SimulatedCost;
  readonly line: readonly PromptPoint[];
};

export async function reportSession(session: GatheredSession, deps: SessionPlayDeps): Promise<SessionReport> {
  const { client, project, recording } = session;
  const playable = playableSession(recording);
  const { cost, clients } = await playSession(playable, defaultSessionPlay, deps);
  const streams = recordingStreams(recording);
  const turns = streams.flat();
  const times = turns.flatMap((turn) => turnTime(turn) ?? []);
  const model = modelOf(recording);
  return {
    id: recording.id,
    client,
    project,
    model,
    family: cost.prices.family,
    startedMs: times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b)),
    endedMs: times.length === 0 ? null : times.reduce((a, b) => Math.max(a, b)),
    requests: turns.length,
    agents: streams.length - 1,
    compactions: turns.filter(({ k }) => k !== undefined).length,
    contents: recordedContents({ recording, project, clients, unitNames: playable.unitNames }),
    spent: usageIn(turns, model, deps.pricesOf),
    simulated: simulatedOf(cost),
    line: promptPoints(clients[0] ?? [], cost.streams[0] ?? []),
  };
}

type PricesOf = (model: string | null) => ModelPrices;

function usageIn(turns: readonly RecordedTurn[], model: string, pricesOf: PricesOf): ReportedSpend {
  const counted = turns.flatMap(({ m }) => (m?.usage === undefined ? [] : [{ ...m.usage, of: m.model }]));
  const total = (field: "in" | "cr" | "cw" | "out"): number => sum(counted.map((usage) => usage[field]));
  const money = counted.flatMap(({ in: fresh, cr, cw, out, of }) => {
    const spent = { fresh, read: cr, written: cw, output: out };
    return promptPrice(spent, pricesOf(of ?? model)).usd ?? [];
  });
  return {
    counted: counted.length,
    uncounted: turns.length - counted.length,
    input: total("in"),
    cacheRead: total("cr"),
    cacheWrite: total("cw"),
    output: total("out"),
    usd: money.length === 0 ? null : sum(money),
    unpriced: counted.length - money.length,
  };
}

function simulatedOf(cost: SessionCost): SimulatedCost {
  const requests = cost.streams.flat();
  const { asSent, managed, charged } = costsOf([cost]);
  const rewrites: Record<string, number> = {};
  for (const { rewrite } of requests)
    if (rewrite !== null) rewrites[rewrite.reason] = (rewrites[rewrite.reason] ?? 0) + 1;
  return {
    asSent,
    managed,
    charged,
    inputUsd: cost.prices.inputUsd,
    promptTokens: {
      asSent: sum(requests.map((one) => promptSize(one, "asSent"))),
      managed: sum(requests.map((one) => promptSize(one, "managed"))),
    },
    managedRequests: requests.filter(({ isManaged }) => isManaged).length,
    misses: requests.filter(({ isMiss }) => isMiss).length,
    rewrites,
  };
}

function promptSize(one: PricedPrompt, of: "asSent" | "managed"): number {
  const { read, written, fresh } = one[of].timed;
  return read + written + fresh;
}

/** Maximum columns of the chart. */
const pointsMax = 240;

/** The points of the chart. If several prompts share a column, the largest is shown, because peaks matter. */
function promptPoints(
  client: readonly ClientRequest[],
  priced: readonly PricedPrompt[],
): readonly PromptPoint[] {
  const step = Math.max(1, Math.ceil(client.length / pointsMax));
  const points: PromptPoint[] = [];
  for (let start = 0; start < client.length; start += step) {
    const indexes = priced.slice(start, start + step).map((_, at) => start + at);
    const sizeAt = (at: number): number => priced[at]?.clientTokens ?? 0;
    const at = indexes.reduce((best, index) => (sizeAt(index) > sizeAt(best) ? index : best), start);
    const [one, request] = [priced[at], client[at]];
    if (one === undefined || request === undefined) continue;
    const kinds: Partial<Record<BlockKind, number>> = {};
    for (const { kind, tokens } of request.units) kinds[kind] = (kinds[kind] ?? 0) + tokens;
    const sizes = { asSent: promptSize(one, "asSent"), managed: promptSize(one, "managed") };
    points.push({ request: at + 1, kinds, ...sizes });
  }
  return points;
}

import type { BlockKind } from "../engine/index.ts";
import { type ModelPrices, promptPrice } from "../render/index.ts";
import { type GatheredSession, modelOf, type RecordedTurn, streamsOf, timeOf } from "../transcripts/index.ts";
import { type Contents, contentsOf } from "./contents/contents.ts";
import { type Playing, playable, playSession, usualWay } from "./play/session.ts";
import type { ClientRequest, Priced } from "./play/stream.ts";
import { costsOf, type SessionCost, sum } from "./play/sums.ts";

/** Tokens as the provider reported them, and what they cost by the prices of the models that answered. */
export type Spent = {
  /** Requests for which usage was reported, and those for which it was not. */
  readonly counted: number;
  readonly uncounted: number;
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  /** Of requests to models with a known price; null: there was none. */
  readonly usd: number | null;
  /** Requests with usage to models that nobody has a price of. */
  readonly unpriced: number;
};

/** The same session as it was sent and as the product would have sent it, both simulated. */
export type Simulated = {
  /** In tokens of plain input, as the cost benchmark has them; charged: with what was missed shown again. */
  readonly asSent: number;
  readonly managed: number;
  readonly charged: number;
  /** Dollars for a million of those; null: nobody has a price of this model. */
  readonly inputUsd: number | null;
  readonly promptTokens: { readonly asSent: number; readonly managed: number };
  readonly managedRequests: number;
  readonly misses: number;
  readonly rewrites: Readonly<Record<string, number>>;
};

/** A prompt of the main stream: what it was made of as sent, and how large it would have been. */
export type LinePoint = {
  readonly request: number;
  readonly kinds: Readonly<Partial<Record<BlockKind, number>>>;
  readonly asSent: number;
  readonly managed: number;
};

/** What is known of one session. Plain data: it travels between threads and into files. */
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
  /** How often the client began anew with less than there was. */
  readonly compactions: number;
  readonly contents: Contents;
  readonly spent: Spent;
  readonly simulated: Simulated;
  readonly line: readonly LinePoint[];
};

export async function reportSession(session: GatheredSession, playing: Playing): Promise<SessionReport> {
  const { client, project, recording } = session;
  const played = playable(recording);
  const { cost, clients } = await playSession(played, usualWay, playing);
  const streams = streamsOf(recording);
  const turns = streams.flat();
  const times = turns.flatMap((turn) => timeOf(turn) ?? []);
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
    contents: contentsOf({ recording, project, clients, books: played.books }),
    spent: spentIn(turns, model, playing.pricesOf),
    simulated: simulatedOf(cost),
    line: lineOf(clients[0] ?? [], cost.streams[0] ?? []),
  };
}

type PricesOf = (model: string | null) => ModelPrices;

function spentIn(turns: readonly RecordedTurn[], model: string, pricesOf: PricesOf): Spent {
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

function simulatedOf(cost: SessionCost): Simulated {
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

function promptSize(one: Priced, of: "asSent" | "managed"): number {
  const { read, written, fresh } = one[of].timed;
  return read + written + fresh;
}

/** A picture has no more columns than that. */
const pointsMax = 240;

/** Of several prompts that share a column the largest is shown: peaks are what people look for. */
function lineOf(client: readonly ClientRequest[], priced: readonly Priced[]): readonly LinePoint[] {
  const step = Math.max(1, Math.ceil(client.length / pointsMax));
  const points: LinePoint[] = [];
  for (let start = 0; start < client.length; start += step) {
    const places = priced.slice(start, start + step).map((_, at) => start + at);
    const sizeAt = (at: number): number => priced[at]?.clientTokens ?? 0;
    const at = places.reduce((best, place) => (sizeAt(place) > sizeAt(best) ? place : best), start);
    const [one, request] = [priced[at], client[at]];
    if (one === undefined || request === undefined) continue;
    const kinds: Partial<Record<BlockKind, number>> = {};
    for (const { kind, tokens } of request.units) kinds[kind] = (kinds[kind] ?? 0) + tokens;
    const sizes = { asSent: promptSize(one, "asSent"), managed: promptSize(one, "managed") };
    points.push({ request: at + 1, kinds, ...sizes });
  }
  return points;
}

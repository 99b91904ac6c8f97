import type { ModelPrices } from "../../render/index.ts";
import { type Counter, estimateTokens } from "../../tokens/index.ts";
import { agentOf, modelOf, type RecordedTurn, type Recording, streamsOf } from "../../transcripts/index.ts";
import type { Assumptions } from "./assumptions.ts";
import { clientForm } from "./client.ts";
import { NameBook } from "./name-book.ts";
import { type ClientRequest, type Priced, playStream, type StreamAsked } from "./stream.ts";
import type { SessionCost } from "./sums.ts";

/** Under which name, through which upstream, and how sessions are played. */
export type Way = {
  /** The name the client gives; null: the recorded one of each request. */
  readonly model: string | null;
  readonly upstream: string;
  readonly policy: "auto" | "off";
  /** What is left out of a result when it comes; nothing without policy. */
  readonly arrival: "lossless" | "trimmed";
  /** What the model asks of our tools every few turns; null: nothing. */
  readonly rounds: "mixed" | "reading" | null;
  /** What reading from the cache costs, for the product as for the bill; null: as the model's prices say. */
  readonly read: number | null;
};

/** As the product does it when nobody says otherwise, with the models that were recorded. */
export const usualWay: Way = {
  model: null,
  upstream: "anthropic",
  policy: "auto",
  arrival: "lossless",
  rounds: null,
  read: null,
};

/** What figures rest on besides the recording. */
export type Playing = {
  readonly assumptions: Assumptions;
  readonly count: Counter;
  readonly pricesOf: (model: string | null) => ModelPrices;
  readonly windowOf: (model: string | null) => number;
};

/** A session with the names in it, which are the same whichever way it is played. */
export type Playable = { readonly recording: Recording; readonly books: readonly NameBook[] };

export function playable(recording: Recording): Playable {
  return { recording, books: streamsOf(recording).map(() => new NameBook()) };
}

/** What it cost, and each stream as the client sent it. */
export type PlayedWay = {
  readonly cost: SessionCost;
  readonly clients: readonly (readonly ClientRequest[])[];
};

/** A recorded session through the real desk and the real log, with every prompt priced. */
export async function playSession(played: Playable, way: Way, playing: Playing): Promise<PlayedWay> {
  const { recording, books } = played;
  const streams: (readonly Priced[])[] = [];
  const clients: (readonly ClientRequest[])[] = [];
  for (const [at, turns] of streamsOf(recording).entries()) {
    const place = { recording, way, at, turns, book: books[at] ?? new NameBook() };
    const stream = await playStream(streamAsked(place, playing));
    streams.push(stream.priced);
    clients.push(stream.client);
  }
  const prices = pricesFor(way, playing)(way.model ?? modelOf(recording));
  return { cost: { name: recording.id, agent: agentOf(recording), streams, prices }, clients };
}

function pricesFor({ read }: Way, { pricesOf }: Playing): Playing["pricesOf"] {
  return read === null ? pricesOf : (model) => ({ ...pricesOf(model), read });
}

const roomyTokens = 1_000_000;

type StreamPlace = {
  readonly recording: Recording;
  readonly way: Way;
  readonly at: number;
  readonly turns: readonly RecordedTurn[];
  readonly book: NameBook;
};

function streamAsked({ recording, way, at, turns, book }: StreamPlace, playing: Playing): StreamAsked {
  const { assumptions, count, windowOf } = playing;
  const pricesOf = pricesFor(way, playing);
  const shape = assumptions.clients[agentOf(recording)] ?? assumptions.otherClient;
  const otherModel = modelOf(recording);
  const { model, policy } = way;
  return {
    ...way,
    form: clientForm(recording, shape),
    headers: headersOf(recording.id, at, shape.userAgent),
    turns,
    otherModel,
    prices: pricesOf(model ?? otherModel),
    pricesOf,
    // With room to spare, so that nothing has to leave.
    windowOf: policy === "off" ? () => roomyTokens : windowOf,
    ownTokens: assumptions.ownTokens.value,
    excerpt: estimateTokens(assumptions.excerptChars.value, model ?? otherModel).count,
    count,
    book,
  };
}

function headersOf(id: string, stream: number, userAgent: string): Readonly<Record<string, string>> {
  const headers = { "user-agent": userAgent };
  if (!userAgent.startsWith("claude-cli")) return headers;
  const named = { ...headers, "x-claude-code-session-id": id };
  return stream === 0 ? named : { ...named, "x-claude-code-agent-id": `${stream}` };
}

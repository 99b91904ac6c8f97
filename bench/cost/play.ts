import { pricesOf, windowOf } from "../../src/config/index.ts";
import { type Counter, estimateTokens } from "../../src/tokens/index.ts";
import type { RecordedTurn, Recording } from "../../test/support/recordings.ts";
import { streamsOf } from "../../test/tokens/replay.ts";
import { clientForm } from "../replay/client.ts";
import type { Assumptions } from "./assumptions.ts";
import { NameBook } from "./names.ts";
import {
  type ClientRequest,
  type ClientStream,
  inBatches,
  oracle,
  type Pruned,
  payingOracle,
  pruned,
  type Rule,
  turnByTurn,
} from "./prune.ts";
import { type Priced, playStream } from "./stream.ts";
import type { PrunedSession, SessionCost } from "./sums.ts";

/** Under which name, through which upstream, and how the sessions are played. */
export type Column = {
  readonly name: string;
  readonly model: string | null;
  readonly upstream: string;
  readonly policy: "auto" | "off";
  readonly rounds: "mixed" | "reading" | null;
};

const ways = [
  { name: "recorded", model: null, upstream: "anthropic" },
  { name: "volatile", model: "claude-opus-5-5", upstream: "anthropic" },
  { name: "permanent", model: "claude-opus-5-5", upstream: "elsewhere" },
] as const;

/** Off: the model is told of its context, and nothing is left out. */
export const columns: readonly Column[] = [
  ...ways.map((way) => ({ ...way, policy: "off" as const, rounds: null })),
  ...ways.map((way) => ({ ...way, name: `${way.name} with policy`, policy: "auto" as const, rounds: null })),
  ...ways.map((way) => ({
    ...way,
    name: `${way.name} with commands`,
    policy: "off" as const,
    rounds: "mixed" as const,
  })),
  { ...ways[0], name: "recorded with reading commands", policy: "off", rounds: "reading" },
];

export type Playing = { readonly assumptions: Assumptions; readonly count: Counter };

/** A recorded session, played under every column. The first has the rules that nothing but prices need. */
export type PlayedSession = {
  readonly columns: readonly SessionCost[];
  readonly pruned: readonly PrunedSession[];
};

export async function playSession(recording: Recording, playing: Playing): Promise<PlayedSession> {
  const streams = streamsOf(recording);
  const books = streams.map(() => new NameBook());
  const played: SessionCost[] = [];
  const clients: (readonly ClientRequest[])[] = [];
  for (const column of columns) {
    const priced: (readonly Priced[])[] = [];
    for (const [at, turns] of streams.entries()) {
      const book = books[at] ?? new NameBook();
      const stream = await playStream(streamAsked({ recording, column, at, turns, book }, playing));
      priced.push(stream.priced);
      if (column === columns[0]) clients.push(stream.client);
    }
    const prices = pricesOf(column.model ?? modelOf(recording));
    played.push({ name: recording.id, agent: agentOf(recording), streams: priced, prices });
  }
  return { columns: played, pruned: prunedOf({ recording, clients, books }, playing) };
}

const roomyTokens = 1_000_000;

type StreamPlace = {
  readonly recording: Recording;
  readonly column: Column;
  readonly at: number;
  readonly turns: readonly RecordedTurn[];
  readonly book: NameBook;
};

function streamAsked({ recording, column, at, turns, book }: StreamPlace, { assumptions, count }: Playing) {
  const shape = assumptions.clients[agentOf(recording)] ?? assumptions.otherClient;
  const otherModel = modelOf(recording);
  const { model, upstream, policy, rounds } = column;
  return {
    form: clientForm(recording, shape),
    headers: headersOf(recording.id, at, shape.userAgent),
    turns,
    upstream,
    policy,
    rounds,
    model,
    otherModel,
    prices: pricesOf(model ?? otherModel),
    // With room to spare, so that nothing has to leave.
    windowOf: policy === "off" ? () => roomyTokens : windowOf,
    ownTokens: assumptions.ownTokens.value,
    excerpt: estimateTokens(assumptions.excerptChars.value, model ?? otherModel).count,
    count,
    book,
  };
}

type Sent = {
  readonly recording: Recording;
  readonly clients: readonly (readonly ClientRequest[])[];
  readonly books: readonly NameBook[];
};

const rules: Readonly<Record<string, (stream: ClientStream) => Rule>> = {
  "large results after 10 requests": () => turnByTurn,
  "the same in batches of 30k characters": inBatches(30_000),
  "the same in batches of 100k characters": inBatches(100_000),
  "with foresight, after the last use": oracle,
  "with foresight, where it pays": payingOracle,
};

function prunedOf({ recording, clients, books }: Sent, { assumptions }: Playing): readonly PrunedSession[] {
  const model = modelOf(recording);
  const prices = pricesOf(model);
  const placeholder = estimateTokens(assumptions.placeholderChars.value, model).count;
  const excerpt = estimateTokens(assumptions.excerptChars.value, model).count;
  return Object.entries(rules).map(([rule, make]) => ({
    rule,
    prices,
    requests: clients.flatMap((requests, at): readonly Pruned[] => {
      const stream = { requests, prices, book: books[at] ?? new NameBook(), placeholder, excerpt };
      return pruned(stream, make(stream));
    }),
  }));
}

function agentOf(recording: Recording): string {
  const { agent } = recording as Recording & { readonly agent?: { readonly name?: string } };
  return agent?.name ?? "unknown";
}

function modelOf({ turns, models }: Recording): string {
  return turns.find(({ m }) => m?.model !== undefined)?.m?.model ?? models[0] ?? "unknown";
}

function headersOf(id: string, stream: number, userAgent: string): Readonly<Record<string, string>> {
  const headers = { "user-agent": userAgent };
  if (!userAgent.startsWith("claude-cli")) return headers;
  const named = { ...headers, "x-claude-code-session-id": id };
  return stream === 0 ? named : { ...named, "x-claude-code-agent-id": `${stream}` };
}

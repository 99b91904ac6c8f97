import {
  type ClientRequest,
  type Playable,
  type Playing,
  playable,
  playSession,
  type SessionCost,
  type Way,
} from "../../src/analysis/index.ts";
import { estimateTokens } from "../../src/tokens/index.ts";
import { modelOf, type Recording } from "../../src/transcripts/index.ts";
import {
  type ClientStream,
  inBatches,
  oracle,
  type Pruned,
  type PrunedSession,
  payingOracle,
  pruned,
  type Rule,
  turnByTurn,
} from "./prune.ts";

/** A way to play all sessions, and what it is called. */
export type Column = Way & { readonly name: string };

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

/** A recorded session, played under every column. The first has the rules that nothing but prices need. */
export type PlayedSession = {
  readonly columns: readonly SessionCost[];
  readonly pruned: readonly PrunedSession[];
};

export async function playColumns(recording: Recording, playing: Playing): Promise<PlayedSession> {
  const session = playable(recording);
  const played: SessionCost[] = [];
  let first: readonly (readonly ClientRequest[])[] = [];
  for (const column of columns) {
    const { cost, clients } = await playSession(session, column, playing);
    played.push(cost);
    if (column === columns[0]) first = clients;
  }
  return { columns: played, pruned: prunedOf(session, first, playing) };
}

const rules: Readonly<Record<string, (stream: ClientStream) => Rule>> = {
  "large results after 10 requests": () => turnByTurn,
  "the same in batches of 30k characters": inBatches(30_000),
  "the same in batches of 100k characters": inBatches(100_000),
  "with foresight, after the last use": oracle,
  "with foresight, where it pays": payingOracle,
};

function prunedOf(
  { recording, books }: Playable,
  clients: readonly (readonly ClientRequest[])[],
  { assumptions, pricesOf }: Playing,
): readonly PrunedSession[] {
  const model = modelOf(recording);
  const prices = pricesOf(model);
  const placeholder = estimateTokens(assumptions.placeholderChars.value, model).count;
  const excerpt = estimateTokens(assumptions.excerptChars.value, model).count;
  return Object.entries(rules).map(([rule, make]) => ({
    rule,
    prices,
    requests: clients.flatMap((requests, at): readonly Pruned[] => {
      const book = books[at];
      if (book === undefined) return [];
      const stream = { requests, prices, book, placeholder, excerpt };
      return pruned(stream, make(stream));
    }),
  }));
}

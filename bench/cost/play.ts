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
export type Column = Way & {
  readonly name: string;
  /** Whether the quick form plays every session so. */
  readonly isQuick: boolean;
};

const ways = [
  { name: "recorded", model: null, upstream: "anthropic" },
  { name: "volatile", model: "claude-opus-5-5", upstream: "anthropic" },
  { name: "permanent", model: "claude-opus-5-5", upstream: "elsewhere" },
] as const;
type WayName = (typeof ways)[number]["name"];

const usual = { policy: "off", arrival: "lossless", rounds: null, read: null, isQuick: false } as const;

/** Where reading costs this little, less is said at the end of a request: that is played, not worked out. */
export const cheapRead = 0.025;
const isQuickCheap: Readonly<Record<WayName, boolean | null>> = {
  recorded: false,
  volatile: true,
  // What stays is said only where something is new, at whatever price.
  permanent: null,
};

/** Off: the model is told of its context, and nothing is left out. */
export const columns: readonly Column[] = [
  ...ways.map((way) => ({ ...usual, ...way, isQuick: true })),
  ...ways.map((way) => ({
    ...usual,
    ...way,
    name: `${way.name} with policy`,
    policy: "auto" as const,
    isQuick: way.name === "recorded",
  })),
  { ...usual, ...ways[0], name: "recorded with policy, cut on arrival", policy: "auto", arrival: "trimmed" },
  ...ways.map((way) => ({
    ...usual,
    ...way,
    name: `${way.name} with commands`,
    rounds: "mixed" as const,
  })),
  { ...usual, ...ways[0], name: "recorded with reading commands", rounds: "reading" },
  ...ways.flatMap((way): readonly Column[] => {
    const isQuick = isQuickCheap[way.name];
    if (isQuick === null) return [];
    return [{ ...usual, ...way, name: readName(way.name, cheapRead), read: cheapRead, isQuick }];
  }),
];

/** What a column is called that is played at another price of reading. */
export function readName(name: string, read: number): string {
  return `${name}, read at ${read}`;
}

/** A recorded session, played under some columns, by their names. */
export type PlayedSession = {
  readonly columns: Readonly<Record<string, SessionCost>>;
  readonly pruned: readonly PrunedSession[];
};

export type Asked = {
  /** Of its file: what is recorded in it may have any name, or that of another. */
  readonly name: string;
  readonly recording: Recording;
  /** The first of all is played in any case: the rules that nothing but prices need go by it. */
  readonly columns: readonly string[];
};

export async function playColumns(asked: Asked, playing: Playing): Promise<PlayedSession> {
  const session = playable(asked.recording);
  const played: Record<string, SessionCost> = {};
  let first: readonly (readonly ClientRequest[])[] = [];
  for (const column of columns) {
    if (column !== columns[0] && !asked.columns.includes(column.name)) continue;
    const { cost, clients } = await playSession(session, column, playing);
    played[column.name] = { ...cost, name: asked.name };
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

import type { SessionCost } from "../../src/analysis/play/cost-sums.ts";
import {
  type PlayableSession,
  playableSession,
  playSession,
  type SessionPlayDeps,
  type SessionPlayOptions,
} from "../../src/analysis/play/session-play.ts";
import type { ClientRequest } from "../../src/analysis/play/stream-player.ts";
import { estimateTokens } from "../../src/tokens/index.ts";
import { modelOf, type Recording } from "../../src/transcripts/index.ts";
import {
  type ClientStream,
  inBatches,
  oracle,
  type PrunedRequest,
  type PrunedSession,
  type PruneRule,
  payingOracle,
  pruneResults,
  turnByTurn,
} from "./prune.ts";

/** Options under which all sessions are played, with a name. */
export type Column = SessionPlayOptions & {
  readonly name: string;
  /** True if the quick form plays every session in this column. */
  readonly isQuick: boolean;
};

const playWays = [
  { name: "recorded", model: null, upstream: "anthropic" },
  { name: "volatile", model: "claude-opus-5-5", upstream: "anthropic" },
  { name: "permanent", model: "claude-opus-5-5", upstream: "elsewhere" },
] as const;

const columnDefaults = {
  policy: "off",
  arrival: "lossless",
  rounds: null,
  read: null,
  isQuick: false,
} as const;

/**
 * At this low price of cache reads the planner adds less to a request, so the column is played, not
 * calculated.
 */
export const cheapRead = 0.025;
/** Permanent notes only say what is new, at any price. */
const cheapWays = playWays.filter(({ name }) => name !== "permanent");

/** With policy `off` the model is told about its context, and nothing is left out. */
export const columns: readonly Column[] = [
  ...playWays.map((way) => ({ ...columnDefaults, ...way, isQuick: true })),
  ...playWays.map((way) => ({
    ...columnDefaults,
    ...way,
    name: `${way.name} with policy`,
    policy: "auto" as const,
    isQuick: way.name === "recorded",
  })),
  {
    ...columnDefaults,
    ...playWays[0],
    name: "recorded with policy, cut on arrival",
    policy: "auto",
    arrival: "trimmed",
  },
  ...playWays.map((way) => ({
    ...columnDefaults,
    ...way,
    name: `${way.name} with commands`,
    rounds: "mixed" as const,
  })),
  { ...columnDefaults, ...playWays[0], name: "recorded with reading commands", rounds: "reading" },
  ...cheapWays.map((way) => ({
    ...columnDefaults,
    ...way,
    name: readName(way.name, cheapRead),
    read: cheapRead,
  })),
];

/** The name of a column at another price of cache reads. */
export function readName(name: string, read: number): string {
  return `${name}, read at ${read}`;
}

/** The costs of a recorded session by column name. */
export type PlayedColumns = {
  readonly columns: Readonly<Record<string, SessionCost>>;
  readonly pruned: readonly PrunedSession[];
};

export type PlayColumnsInput = {
  /** The name of the file: the id in a recording may be anything, or that of another. */
  readonly name: string;
  readonly recording: Recording;
  /** The first column is always played, because the prune rules need its client requests. */
  readonly columns: readonly string[];
};

export async function playColumns(input: PlayColumnsInput, deps: SessionPlayDeps): Promise<PlayedColumns> {
  const session = playableSession(input.recording);
  const played: Record<string, SessionCost> = {};
  let first: readonly (readonly ClientRequest[])[] = [];
  for (const column of columns) {
    if (column !== columns[0] && !input.columns.includes(column.name)) continue;
    const { cost, clients } = await playSession(session, column, deps);
    played[column.name] = { ...cost, name: input.name };
    if (column === columns[0]) first = clients;
  }
  return { columns: played, pruned: prunedOf(session, first, deps) };
}

const rules: Readonly<Record<string, (stream: ClientStream) => PruneRule>> = {
  "large results after 10 requests": () => turnByTurn,
  "the same in batches of 30k characters": inBatches(30_000),
  "the same in batches of 100k characters": inBatches(100_000),
  "with foresight, after the last use": oracle,
  "with foresight, where it pays": payingOracle,
};

function prunedOf(
  { recording, unitNames }: PlayableSession,
  clients: readonly (readonly ClientRequest[])[],
  { assumptions, pricesOf }: SessionPlayDeps,
): readonly PrunedSession[] {
  const model = modelOf(recording);
  const prices = pricesOf(model);
  const placeholder = estimateTokens(assumptions.placeholderChars.value, model).count;
  const excerpt = estimateTokens(assumptions.excerptChars.value, model).count;
  return Object.entries(rules).map(([rule, make]) => ({
    rule,
    prices,
    requests: clients.flatMap((requests, at): readonly PrunedRequest[] => {
      const streamNames = unitNames[at];
      if (streamNames === undefined) return [];
      const stream = { requests, prices, unitNames: streamNames, placeholder, excerpt };
      return pruneResults(stream, make(stream));
    }),
  }));
}

/** Upper bounds in milliseconds; slower answers are counted as `slower`. */
export const firstByteBucketsMs = [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000] as const;

export type StatusCounts = {
  readonly informational: number;
  readonly success: number;
  readonly redirect: number;
  readonly clientError: number;
  readonly serverError: number;
};

/** No label comes from a request: all upstreams that the user named are counted together. */
export type RelayMetrics = {
  readonly requests: number;
  readonly active: number;
  readonly refused: number;
  readonly aborted: number;
  readonly failed: number;
  readonly truncated: number;
  readonly retried: number;
  readonly recorderFaults: number;
  /** Requests that the ledger rendered. */
  readonly managed: number;
  /** Requests that were sent without our notes, and without reasoning that depends on them. */
  readonly plain: number;
  /** The planner failed or was late, and the client's body was sent. */
  readonly plannerFaults: number;
  /** Refusals of the upstream that the planner has seen. */
  readonly plannerRefusals: number;
  /** Refusals that the client never saw, because another plan was sent. */
  readonly plannerRetries: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
  readonly firstByte: {
    readonly bucketsMs: readonly number[];
    readonly counts: readonly number[];
    readonly slower: number;
  };
  readonly upstreams: Readonly<Record<UpstreamLabel, StatusCounts>>;
};

const upstreamLabels = ["anthropic", "openai", "gemini", "bedrock", "named"] as const;
export type UpstreamLabel = (typeof upstreamLabels)[number];

type MeterCounter =
  | "requests"
  | "active"
  | "refused"
  | "aborted"
  | "failed"
  | "truncated"
  | "retried"
  | "recorderFaults"
  | "managed"
  | "plain"
  | "plannerFaults"
  | "plannerRefusals"
  | "plannerRetries"
  | "bytesUp"
  | "bytesDown";

export type Meter = {
  readonly add: (counter: MeterCounter, amount: number) => void;
  readonly countResponse: (label: UpstreamLabel, status: number) => void;
  readonly countFirstByte: (ms: number) => void;
  readonly read: () => RelayMetrics;
};

export function createMeter(): Meter {
  const totals: Record<MeterCounter, number> = {
    requests: 0,
    active: 0,
    refused: 0,
    aborted: 0,
    failed: 0,
    truncated: 0,
    retried: 0,
    recorderFaults: 0,
    plannerFaults: 0,
    plannerRefusals: 0,
    managed: 0,
    plain: 0,
    plannerRetries: 0,
    bytesUp: 0,
    bytesDown: 0,
  };
  const counts = [...firstByteBucketsMs, 0].map(() => 0);
  const classes = new Map(upstreamLabels.map((label) => [label, [0, 0, 0, 0, 0]]));
  return {
    add: (counter, amount) => {
      totals[counter] += amount;
    },
    countResponse: (label, status) => {
      const row = classes.get(label);
      const at = Math.min(Math.max(Math.floor(status / 100), 1), 5) - 1;
      if (row !== undefined) row[at] = (row[at] ?? 0) + 1;
    },
    countFirstByte: (ms) => {
      const found = firstByteBucketsMs.findIndex((bound) => ms <= bound);
      const at = found === -1 ? firstByteBucketsMs.length : found;
      counts[at] = (counts[at] ?? 0) + 1;
    },
    read: () => ({
      ...totals,
      firstByte: {
        bucketsMs: firstByteBucketsMs,
        counts: counts.slice(0, -1),
        slower: counts.at(-1) ?? 0,
      },
      upstreams: statusTable(classes),
    }),
  };
}

function statusTable(classes: ReadonlyMap<UpstreamLabel, readonly number[]>): RelayMetrics["upstreams"] {
  const rows = upstreamLabels.map((label) => [label, statusCounts(classes.get(label) ?? [])] as const);
  return Object.fromEntries(rows) as Record<UpstreamLabel, StatusCounts>; // every label has its row
}

function statusCounts(row: readonly number[]): StatusCounts {
  const [informational = 0, success = 0, redirect = 0, clientError = 0, serverError = 0] = row;
  return { informational, success, redirect, clientError, serverError };
}

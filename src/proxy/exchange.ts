import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import type { Recorder, RelayOutcome } from "../session/index.ts";
import type { Hasher } from "./credentials.ts";
import { type BodyCopy, createCopy } from "./exchange-copy.ts";
import type { Head } from "./headers.ts";
import type { Meter } from "./metrics.ts";
import type { RelayLimits } from "./options.ts";
import type { Route } from "./routes.ts";
import type { Upstream } from "./upstreams.ts";

/** What all exchanges of one server share. */
export type RelayContext = {
  readonly recorder: Recorder;
  readonly hasher: Hasher;
  readonly limits: RelayLimits;
  readonly meter: Meter;
  readonly active: Set<Exchange>;
  /** Ended, but the recorder has not been told yet. */
  readonly concluded: Exchange[];
  /** Set once the server is closing: from then on no connection is kept. */
  draining: boolean;
};

export type Arrival = {
  readonly id: string;
  readonly route: Route;
  readonly upstream: Upstream;
  readonly head: Head;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
};

/** One request on its way, with everything about it that changes. */
export type Exchange = {
  readonly arrival: Arrival;
  readonly context: RelayContext;
  readonly startedMs: number;
  readonly startedAt: number;
  readonly sent: BodyCopy;
  readonly received: BodyCopy;
  /** Null before the first attempt only. */
  outgoing: ClientRequest | null;
  /** What the upstream's socket had delivered when it was given to this request, and when that was. */
  readonly given: { bytesRead: number; at: number };
  retried: boolean;
  /** The client has sent all of its request. */
  bodyEnded: boolean;
  incoming: IncomingMessage | null;
  incomingHead: Head | null;
  firstByteAt: number | null;
  announced: boolean;
  /** Values that must not be written down; known once the request was announced. */
  secrets: readonly string[];
  /** Null while it is open. The first one stands: what follows a failure is its consequence. */
  outcome: RelayOutcome | null;
  /** Why we ended it ourselves. */
  problem: string | null;
  endedAt: number | null;
  /** How often the sweep came by without a byte having moved. */
  quietSweeps: number;
};

export function openExchange(context: RelayContext, arrival: Arrival): Exchange {
  const { keptBytesMax } = context.limits;
  return {
    arrival,
    context,
    startedMs: Date.now(),
    startedAt: performance.now(),
    sent: createCopy(keptBytesMax),
    received: createCopy(arrival.route.protocol === null ? 0 : keptBytesMax),
    outgoing: null,
    given: { bytesRead: 0, at: 0 },
    retried: false,
    bodyEnded: false,
    incoming: null,
    incomingHead: null,
    firstByteAt: null,
    announced: false,
    secrets: [],
    outcome: null,
    problem: null,
    endedAt: null,
    quietSweeps: 0,
  };
}

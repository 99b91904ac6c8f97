import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import type {
  BlockNumbers,
  PlannedRequest,
  Planner,
  RecorderPort,
  RelayOutcome,
  RequestCopy,
  RequestMeta,
} from "../exchange/index.ts";
import { findProtocol, type Interceptor, type Protocol, type WireAnswer } from "../protocols/index.ts";
import { type BodyCopy, createBodyCopy } from "./body-copy.ts";
import type { CredentialHasher } from "./credentials.ts";
import { type ExchangeState, newExchange, type RelayEvent } from "./exchange-phases.ts";
import { faultRefusal } from "./failures.ts";
import type { Head } from "./headers.ts";
import type { Meter } from "./metrics.ts";
import type { RelayLimits } from "./options.ts";
import type { Route } from "./routes.ts";
import type { Upstream } from "./upstreams.ts";

/** Shared by all exchanges of one server. */
export type RelayContext = {
  readonly recorder: RecorderPort;
  readonly planner: Planner | null;
  /** The built-in scripted model. */
  readonly demo: Upstream;
  readonly hasher: CredentialHasher;
  readonly limits: RelayLimits;
  readonly meter: Meter;
  readonly activeExchanges: Set<RelayedExchange>;
  /** Exchanges that have ended and were not recorded yet. */
  readonly unreported: RelayedExchange[];
  /** The server is closing, so no connection is kept alive. */
  isDraining: boolean;
};

/** A client's request with the route that was found for it. */
export type Arrival = {
  readonly id: string;
  readonly route: Route;
  readonly upstream: Upstream;
  readonly head: Head;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
};

/** A request without its body, as it may be recorded: secrets are masked. */
export type RequestDescription = Omit<
  RequestCopy,
  "body" | "length" | "read" | "identity" | "purpose" | "sent"
>;

/** A request to the upstream, and what its socket had read, and when, as the request got it. */
export type OpenRequest = { readonly outgoing: ClientRequest; bytesRead: number; sentAt: number };

export type UpstreamAnswer = { readonly incoming: IncomingMessage; readonly head: Head };

/** The part of an exchange that is reported to planner and recorder, and whether it was. */
export type ExchangeReport = {
  /** The plan that was sent last. Null if the client's body is relayed as it comes. */
  planned: PlannedRequest | null;
  /** The first plan, if it was refused and another one was sent. */
  refused: { readonly planned: PlannedRequest; readonly isFlushed: boolean } | null;
  /** The planner was told how its plans ended. */
  isPlannerNotified: boolean;
  isRequestRecorded: boolean;
  /** The planner's numbers for the blocks of the answer. */
  blockNumbers: BlockNumbers;
  /** The answer as it was read when so many bytes of it had come. */
  read: { readonly length: number; readonly answer: WireAnswer | null } | null;
  /** When the planner got the whole body. Null if it was not consulted, or its plan was sent. */
  wholeAt: number | null;
  /** Milliseconds the planner added; null if it was not consulted, and for retries and rounds. */
  addedMs: number | null;
  firstByteAt: number | null;
  endedAt: number | null;
};

/** The sockets, copies and timers of one exchange. Its phase decides what happens to them. */
export type RelayedExchange = {
  /** Replaced at most once, before any byte has left, if the body names the demo model. */
  arrival: Arrival;
  readonly context: RelayContext;
  readonly startedMs: number;
  readonly startedAt: number;
  exchange: ExchangeState;
  /** Hands an event to the state machine. */
  readonly dispatch: (event: RelayEvent) => void;
  /** Events that arrived while another one was handled. */
  readonly events: RelayEvent[];
  isAdvancing: boolean;
  /** The request as the planner needs it. Null if the planner does not need its body. */
  meta: RequestMeta | null;
  /** Made once, when it is first needed. */
  description: RequestDescription | null;
  /** The body as the client sent it, even if another was sent upstream. */
  readonly clientBody: BodyCopy;
  /** The request to the upstream. Null before the first attempt only. */
  sent: OpenRequest | null;
  /** An answer whose head has come, and that is neither passed on nor discarded yet. */
  arrivedAnswer: UpstreamAnswer | null;
  /** The answer of the upstream to the last request, and the one before a round. */
  answer: UpstreamAnswer | null;
  answerBefore: UpstreamAnswer | null;
  /** The body of the upstream's last answer. */
  answerBody: BodyCopy;
  /** The chunks of a refusal that is held back from the client. */
  heldChunks: Buffer[];
  /** Reads the answer and makes the client's of it. Null if the answer passes untouched. */
  interceptor: Interceptor | null;
  /** The interceptor has got the last answer, not only the one before a round. */
  isIntercepted: boolean;
  /** The interceptor may hide content, so the client is sent no Content-Length. */
  mayHide: boolean;
  /** Bytes delivered to the client through the interceptor. */
  deliveredBytes: number;
  /** Set while a refusal is held. */
  holdTimer: NodeJS.Timeout | null;
  /** Set while pings keep a waiting client's connection alive. */
  pingTimer: NodeJS.Timeout | null;
  readonly report: ExchangeReport;
  /** How many sweeps have passed since a byte moved. */
  quietSweeps: number;
};

export function createRelayedExchange(
  context: RelayContext,
  arrival: Arrival,
  dispatch: RelayedExchange["dispatch"],
): RelayedExchange {
  const { keptBytesMax } = context.limits;
  return {
    arrival,
    context,
    startedMs: Date.now(),
    startedAt: performance.now(),
    exchange: newExchange,
    dispatch,
    events: [],
    isAdvancing: false,
    meta: null,
    description: null,
    clientBody: createBodyCopy(keptBytesMax),
    sent: null,
    arrivedAnswer: null,
    answer: null,
    answerBefore: null,
    answerBody: createBodyCopy(arrival.route.protocol === null ? 0 : keptBytesMax),
    heldChunks: [],
    interceptor: null,
    isIntercepted: false,
    mayHide: false,
    deliveredBytes: 0,
    holdTimer: null,
    pingTimer: null,
    report: {
      planned: null,
      refused: null,
      isPlannerNotified: false,
      isRequestRecorded: false,
      blockNumbers: null,
      read: null,
      wholeAt: null,
      addedMs: null,
      firstByteAt: null,
      endedAt: null,
    },
    quietSweeps: 0,
  };
}

/** Null while the exchange is open. */
export function outcomeOf({ exchange: { phase } }: RelayedExchange): RelayOutcome | null {
  return phase.name === "done" ? phase.outcome : null;
}

/** The whole request was written to its connection. */
export function isRequestFlushed({ sent }: RelayedExchange): boolean {
  return sent?.outgoing.writableFinished === true;
}

/** Nothing that happens on a socket may end the process: a fault of ours ends one exchange. */
export function safely<Value>(relayed: RelayedExchange, on: (value: Value) => void): (value: Value) => void {
  return (value) => {
    try {
      on(value);
    } catch {
      relayed.dispatch({ type: "gave-up", refusal: faultRefusal });
    }
  };
}

/** The codec of an exchange. Null if its format is not read. */
export function protocolOf({ arrival: { route } }: RelayedExchange): Protocol | null {
  return route.protocol === null ? null : findProtocol(route.protocol);
}

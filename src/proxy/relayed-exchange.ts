import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import type {
  BlockNumbers,
  PlannedRequest,
  Planner,
  RecorderPort,
  RelayOutcome,
  RequestCopy,
  RequestMeta,
  ResponseSummary,
} from "../exchange/index.ts";
import type { Interceptor, Stripper } from "../protocols/index.ts";
import { type BodyCopy, createBodyCopy } from "./body-copy.ts";
import type { CredentialHasher } from "./credentials.ts";
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

/** A plan that the upstream refused, and how. */
export type RefusedAttempt = { readonly planned: PlannedRequest; readonly answer: ResponseSummary };

export type UpstreamAnswer = { readonly incoming: IncomingMessage; readonly head: Head };

/** The state of one client request from its arrival to the end of its answer. */
export type RelayedExchange = {
  /** Replaced at most once, before any byte has left, if the body names the demo model. */
  arrival: Arrival;
  readonly context: RelayContext;
  readonly startedMs: number;
  readonly startedAt: number;
  /** Made once, when it is first needed. */
  description: RequestDescription | null;
  /** Set while the body is collected for the planner, and until the plan is there. */
  awaitingPlan: RequestMeta | null;
  /** Set while the body is held until it names its model: the last characters that were scanned. */
  modelScanTail: string | null;
  /** Sent in place of the client's body. Null if that is relayed as it comes. */
  planned: PlannedRequest | null;
  /** Milliseconds the planner added; null if it was not consulted, and for retries and rounds. */
  addedMs: number | null;
  /** The first attempt, if it was refused and another plan was sent. There is never a third. */
  refusedAttempt: RefusedAttempt | null;
  /** The planner was told how its plans ended. */
  isPlannerNotified: boolean;
  /** The planner's numbers for the blocks of the answer. */
  blockNumbers: BlockNumbers;
  /** The body as the client sent it, even if another was sent upstream. */
  readonly clientBody: BodyCopy;
  /** The body of the upstream's last answer. */
  answerBody: BodyCopy;
  /** The request to the upstream. Null before the first attempt only. */
  outgoing: ClientRequest | null;
  /** How many bytes the upstream's socket had read when this request got it, and when that was. */
  readonly socketStart: { bytesRead: number; at: number };
  /** The request was sent again because its connection was stale. */
  isRetried: boolean;
  /** The client has sent its whole body. */
  hasWholeBody: boolean;
  /** Set while a refusal is held back from the client: passes it on. */
  releaseRefusal: (() => void) | null;
  /** The answer of the upstream. */
  incoming: IncomingMessage | null;
  answerHead: Head | null;
  /** Removes our notes from the answer. Null if it passes untouched. */
  stripper: Stripper | null;
  /** Hides calls of our tools from the client. Null if there are none to hide. */
  interceptor: Interceptor | null;
  /** A round was sent: the client's answer is made of several answers of the upstream. */
  isContinued: boolean;
  /** The upstream's answer before the round. If the round fails, it is the last. */
  previousAnswer: UpstreamAnswer | null;
  /** Set while pings keep a waiting client's connection alive. */
  pingTimer: NodeJS.Timeout | null;
  /** Bytes delivered to the client, if the answer is stripped or intercepted. */
  deliveredBytes: number;
  firstByteAt: number | null;
  isRequestRecorded: boolean;
  /** Null while the exchange is open. The first outcome stays: later failures are its consequences. */
  outcome: RelayOutcome | null;
  /** Why we ended the exchange ourselves. */
  problem: string | null;
  endedAt: number | null;
  /** How many sweeps have passed since a byte moved. */
  quietSweeps: number;
};

export function openExchange(context: RelayContext, arrival: Arrival): RelayedExchange {
  const { keptBytesMax } = context.limits;
  return {
    arrival,
    context,
    startedMs: Date.now(),
    startedAt: performance.now(),
    description: null,
    awaitingPlan: null,
    modelScanTail: null,
    planned: null,
    addedMs: null,
    refusedAttempt: null,
    isPlannerNotified: false,
    blockNumbers: null,
    clientBody: createBodyCopy(keptBytesMax),
    answerBody: createBodyCopy(arrival.route.protocol === null ? 0 : keptBytesMax),
    outgoing: null,
    socketStart: { bytesRead: 0, at: 0 },
    isRetried: false,
    hasWholeBody: false,
    releaseRefusal: null,
    incoming: null,
    answerHead: null,
    stripper: null,
    interceptor: null,
    isContinued: false,
    previousAnswer: null,
    pingTimer: null,
    deliveredBytes: 0,
    firstByteAt: null,
    isRequestRecorded: false,
    outcome: null,
    problem: null,
    endedAt: null,
    quietSweeps: 0,
  };
}

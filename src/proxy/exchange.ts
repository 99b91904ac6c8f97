import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import type { Interceptor, Stripper } from "../protocols/index.ts";
import type {
  Answering,
  AnswerNumbers,
  Asking,
  Desk,
  Recorder,
  RelayOutcome,
  RequestCopy,
  Sending,
} from "../session/index.ts";
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
  readonly desk: Desk | null;
  /** The scripted model inside. */
  readonly demo: Upstream;
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

/** What is known of a request before its body, as it may be written down. */
export type Described = Omit<RequestCopy, "body" | "length" | "sent">;
export type Replaced = { readonly sending: Sending; readonly answer: Answering };

/** An answer of the upstream, with its head as it was read. */
export type Answered = { readonly incoming: IncomingMessage; readonly head: Head };

/** One request on its way, with everything about it that changes. */
export type Exchange = {
  /** Replaced once at most, before anything of it has left: by the demo's. */
  arrival: Arrival;
  readonly context: RelayContext;
  readonly startedMs: number;
  readonly startedAt: number;
  /** Worked out once, when it is first needed. */
  described: Described | null;
  /** Set while the body is collected for the desk, and until the desk has said what to send. */
  asking: Asking | null;
  /** Set while a body is held until it has named its model: the end of what came last. */
  held: string | null;
  /** What goes upstream in place of the body. Null: the body, as it comes. */
  sending: Sending | null;
  /** What it took to say what is sent; null where nobody was asked, and for what is sent afterwards. */
  addedMs: number | null;
  /** What was sent before, and how it was refused: there is a second attempt, and never a third. */
  replaced: Replaced | null;
  /** The desk was told how its sendings ended. */
  deskTold: boolean;
  /** What the desk calls the blocks of the answer. */
  numbered: AnswerNumbers;
  /** The client's body, whatever went upstream. */
  readonly sent: BodyCopy;
  /** Of the upstream's last answer. */
  received: BodyCopy;
  /** Null before the first attempt only. */
  outgoing: ClientRequest | null;
  /** What the upstream's socket had delivered when it was given to this request, and when that was. */
  readonly given: { bytesRead: number; at: number };
  retried: boolean;
  /** The client has sent all of its request. */
  bodyEnded: boolean;
  /** Set while an answer is held back from the client: lets it go on its way. */
  letGo: (() => void) | null;
  incoming: IncomingMessage | null;
  incomingHead: Head | null;
  /** Takes lines of ours out of the answer on its way to the client. Null: it passes untouched. */
  stripper: Stripper | null;
  /** Hides calls of our tools from the client. Null: there are none to hide. */
  interceptor: Interceptor | null;
  /** Set once what the client gets is an answer that goes on, made of several of the upstream's. */
  isGoingOn: boolean;
  /** The answer before the one that is waited for: where none follows, it is the last. */
  before: Answered | null;
  /** Set while a client that waits for us is told that somebody is there. */
  pings: NodeJS.Timeout | null;
  /** How many bytes of a stripped answer were passed on. */
  delivered: number;
  firstByteAt: number | null;
  announced: boolean;
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
    described: null,
    asking: null,
    held: null,
    sending: null,
    addedMs: null,
    replaced: null,
    deskTold: false,
    numbered: null,
    sent: createCopy(keptBytesMax),
    received: createCopy(arrival.route.protocol === null ? 0 : keptBytesMax),
    outgoing: null,
    given: { bytesRead: 0, at: 0 },
    retried: false,
    bodyEnded: false,
    letGo: null,
    incoming: null,
    incomingHead: null,
    stripper: null,
    interceptor: null,
    isGoingOn: false,
    before: null,
    pings: null,
    delivered: 0,
    firstByteAt: null,
    announced: false,
    outcome: null,
    problem: null,
    endedAt: null,
    quietSweeps: 0,
  };
}

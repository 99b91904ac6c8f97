import type { ApertureError } from "../base/index.ts";
import type { BodyForm } from "../engine/frames/index.ts";
import type { WireAnswer, WireRequest } from "../protocols/index.ts";
import type { Pieces } from "./decode-body.ts";
import type { RequestCopy } from "./exchange-copies.ts";
import type { RequestIdentity } from "./identify.ts";
import type { BlockNumbers } from "./numbered-block.ts";
import type { Purpose } from "./purpose.ts";
import type { BodyOverlap } from "./recorder-port.ts";
import type { SentRequest } from "./sent-request.ts";

/** A request before its body has arrived. */
export type RequestMeta = Omit<RequestCopy, "body" | "length" | "read" | "identity" | "purpose" | "sent"> & {
  /** The length of the body by the client's header. Null if it gives none. */
  readonly length: number | null;
  /** Whether the credential is a subscription login: nothing may be added to the headers of such requests. */
  readonly isLogin: boolean;
};

/** A request as it was read: its units, its identity and its purpose. */
export type ReadRequest = {
  readonly request: WireRequest;
  readonly identity: RequestIdentity;
  readonly purpose: Purpose;
};

/** The request that is sent upstream for a request of the client. */
export type PlannedRequest = {
  readonly requestId: string;
  readonly rendering: BodyForm;
  /** The whole body, in order. These bytes never change. */
  readonly pieces: Pieces;
  readonly length: number;
  /** Values to add to the `anthropic-beta` header if they are missing. */
  readonly betas: readonly string[];
  /** Whether the planner must see a refusal with status 400 before the client gets it. */
  readonly mayRetry: boolean;
  /** The planner needs the answer: the relay reads it as it passes. */
  readonly needsAnswer: boolean;
  /** The record for the log. Null if the client's body is sent unchanged. */
  readonly sent: SentRequest | null;
  /** The client's body in one piece, for the recorder. */
  readonly clientBody: Uint8Array;
  /** The planner read this from the body, with its owner and purpose. Absent if the body cannot be read. */
  readonly received?: ReadRequest;
  readonly overlap: BodyOverlap;
  /** The error for the client if nothing may be sent, because withheld content could not be removed. */
  readonly refusal: ApertureError | null;
  /** True if the client wants the provider to keep the conversation. It is told to send all of it instead. */
  readonly isProviderThread?: true;
  /** Finds our lines in the answer, which the client must not see. Null: the answer passes unchanged. */
  readonly ownLineFilter: OwnLineFilter | null;
  /** Recognises our tools, whose calls the client must not see. Null if the model has none of them. */
  readonly isOwnTool: ((name: string) => boolean) | null;
  /** The nonce of command lines, which the client must not see. Null if the model does not know of them. */
  readonly commandNonce: string | null;
};

/** Tells our lines from content. */
export type OwnLineFilter = {
  readonly isOwn: (line: string) => boolean;
  /** Whether lines without the nonce may belong to this line of ours. */
  readonly opens: (line: string) => boolean;
  /** Whether a line belongs to a line of ours directly before it. Anywhere else it is content. */
  readonly continues: (line: string) => boolean;
};

/** How a response ended, with the answer in it. */
export type ResponseSummary = {
  readonly status: number | null;
  /** Null if there is none that can be read, or the plan does not need it. */
  readonly answer: WireAnswer | null;
  readonly isComplete: boolean;
  /** Whether the whole request was written to its connection, so that its memory may be reused. */
  readonly isRequestFlushed: boolean;
};

/**
 * Plans what is sent for each request. It lives on the thread that relays, keeps the ledgers of live streams
 * in memory, and asks the log only for streams it has forgotten.
 */
export type Planner = {
  /** Whether the whole body is needed before anything is sent. False: the relay passes it on directly. */
  readonly needsBody: (meta: RequestMeta) => boolean;
  /** The error if a body that is not read must not be sent. Null if it may be. */
  readonly errorIfUnread: (meta: RequestMeta) => ApertureError | null;
  /** Memory for a body of this length, to be filled and passed to `plan`. The planner reuses it. */
  readonly allocateBody: (length: number) => Buffer;
  /** Answers at once if it can, and within 250 ms in any case. Never rejects, never throws. */
  readonly plan: (meta: RequestMeta, body: Pieces) => PlannedRequest | Promise<PlannedRequest>;
  /** Another attempt after a refusal. Null: the client gets the refusal. Called at most once per request. */
  readonly planRetry: (planned: PlannedRequest, body: Uint8Array) => PlannedRequest | null;
  /**
   * The next round for the same request, after an answer that called only our tools; waits for their results.
   * Null: the client gets the answer as it is. Called at most once per planned request, after `finish`.
   */
  readonly planRound: (planned: PlannedRequest) => Promise<PlannedRequest | null>;
  /** To be called once for every planned request, however it ended. */
  readonly finish: (planned: PlannedRequest, response: ResponseSummary) => BlockNumbers;
};

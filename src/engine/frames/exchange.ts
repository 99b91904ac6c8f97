import type { Seq, StreamId } from "../../base/index.ts";

/** The wire formats of the model APIs. */
export const protocolNames = ["anthropic", "openai-chat", "openai-responses", "gemini", "bedrock"] as const;
export type ProtocolName = (typeof protocolNames)[number];

/** The form of stored bytes: a wire format, or a neutral part that we wrote ourselves. */
export const contentForms = [...protocolNames, "part"] as const;
export type ContentForm = (typeof contentForms)[number];

/**
 * The owner of a session and the way its requests are recognised, recorded once, when it begins. The key is
 * opaque: the client's own id of the session, or a hash of how its history starts.
 */
export type SessionIdentity = {
  readonly owner: string;
  readonly upstream: string;
  /** The wire format of its first request. Absent in old frames: the Messages API. */
  readonly protocol?: ProtocolName;
  /** The program that speaks: `claude-code`, `opencode`, `anthropic-sdk`, or `unknown`. */
  readonly client: string;
  readonly key: string;
  readonly project: string | null;
};

/**
 * The role of a request in its session. Only a turn continues the conversation; a compaction or a count
 * repeats it; a side request shares nothing with it; an `unread` one could not be parsed.
 */
export const exchangeRoles = ["turn", "compaction", "count", "side", "unread"] as const;
export type ExchangeRole = (typeof exchangeRoles)[number];

/**
 * How a request relates to the one sent before in its stream: it is the first, appends to it, repeats it
 * after an incomplete answer (retry) or beside one that is still open (twin), has less history (rewind), has
 * the history left after a compaction, or is our continuation of the same request because the model called
 * our tools (round).
 */
export const exchangeRelations = [
  "first",
  "append",
  "retry",
  "twin",
  "rewind",
  "compacted",
  "round",
  "none",
] as const;
export type ExchangeRelation = (typeof exchangeRelations)[number];

/**
 * The form in which a body was sent on. Raw: as it came. Managed: from the ledger. Plain: as it came, without
 * reasoning that was bound to something of ours.
 */
export const bodyForms = ["raw", "managed", "plain"] as const;
export type BodyForm = (typeof bodyForms)[number];

/** One raw HTTP request as the log records it. The bytes themselves are stored as bodies. */
export type Exchange = {
  /** Unique in the session, from 1. */
  readonly id: number;
  /** The id the client got as `x-aperture-request-id`. */
  readonly request: string;
  readonly stream: StreamId | null;
  readonly role: ExchangeRole;
  readonly relation: ExchangeRelation;
  /** The earlier exchange a retry, twin, rewind or compacted request refers to. */
  readonly of: number | null;
  readonly model: string | null;
  /** The wire format. Absent in frames written before there was a choice: the Messages API. */
  readonly protocol?: ProtocolName;
  /** Method, path and query, without credentials. */
  readonly target: string;
  readonly bytes: number;
  /** Absent in frames written before there was a choice; those bodies were raw. */
  readonly rendering?: BodyForm;
};

export const exchangeOutcomes = ["complete", "truncated", "aborted", "failed", "interrupted"] as const;
export type ExchangeOutcome = (typeof exchangeOutcomes)[number];

/**
 * The end of an exchange. Aborted: the client left. Truncated: the answer broke off. Interrupted: we were
 * stopped.
 */
export type ExchangeEnd = {
  readonly exchange: number;
  readonly outcome: ExchangeOutcome;
  readonly status: number | null;
  readonly usage: Usage | null;
  readonly bytes: number;
  readonly firstByteMs: number | null;
  readonly totalMs: number;
  /** Time from the last byte of the client's request to ours upstream. Absent if it was not measured. */
  readonly addedMicros?: number;
  /** Why the model stopped, in the provider's word. */
  readonly stop: string | null;
  /** Why part of it could not be read or kept. Null if all was. */
  readonly problem: string | null;
};

export type RecordedExchange = Exchange & {
  readonly rendering: BodyForm;
  readonly openedSeq: Seq;
  readonly end: (ExchangeEnd & { readonly seq: Seq }) | null;
};

/** Tokens as the provider reported them. The prompt is the sum of the first three. */
export type Usage = {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
};

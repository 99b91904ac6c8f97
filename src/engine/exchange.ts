import type { Seq, StreamId } from "../base/index.ts";
import type { Usage } from "./usage.ts";

/**
 * Who a session belongs to and how its requests are recognised, said once, when it begins. The key is opaque:
 * what the client calls the session, or a hash of how its history starts.
 */
export type Identity = {
  readonly owner: string;
  readonly upstream: string;
  /** The program that speaks: `claude-code`, `opencode`, `anthropic-sdk`, or `unknown`. */
  readonly client: string;
  readonly key: string;
  readonly project: string | null;
};

/**
 * What a request is to its session. Only a turn goes on with the talk; a compaction or a count repeats it; a
 * side request shares nothing with it; `unread` could not be looked into.
 */
export const exchangeRoles = ["turn", "compaction", "count", "side", "unread"] as const;
export type ExchangeRole = (typeof exchangeRoles)[number];

/**
 * How it stands to what was sent before: the first of its stream, that plus something new, the same again
 * after no whole answer (retry) or beside one that is still open (twin), less than before (rewind), what is
 * left after a compaction, or what we have added to the same request because the model called our tools
 * (round).
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
 * How its body was sent on. Raw: as it came. Managed: from the ledger. Plain: as it came, without reasoning
 * that was bound to something of ours.
 */
export const renderings = ["raw", "managed", "plain"] as const;
export type Rendering = (typeof renderings)[number];

/** One raw HTTP request, as far as it is worth a line in the log. The bytes themselves are bodies. */
export type Exchange = {
  /** Unique in the session, from 1. */
  readonly id: number;
  /** What the client got as `x-aperture-request-id`. */
  readonly request: string;
  readonly stream: StreamId | null;
  readonly role: ExchangeRole;
  readonly relation: ExchangeRelation;
  /** The earlier exchange a retry, twin, rewind or compacted request refers to. */
  readonly of: number | null;
  readonly model: string | null;
  /** Method, path and query, without credentials. */
  readonly target: string;
  readonly bytes: number;
  /** Frames from before there was a choice do not say; they were raw. */
  readonly rendering?: Rendering;
};

export const exchangeOutcomes = ["complete", "truncated", "aborted", "failed", "interrupted"] as const;
export type ExchangeOutcome = (typeof exchangeOutcomes)[number];

/** How it ended. Aborted: the client left. Truncated: the answer broke off. Interrupted: we were ended. */
export type ExchangeEnd = {
  readonly exchange: number;
  readonly outcome: ExchangeOutcome;
  readonly status: number | null;
  readonly usage: Usage | null;
  readonly bytes: number;
  readonly firstByteMs: number | null;
  readonly totalMs: number;
  /** From the last byte of the request to what was sent upstream for it; not said where nobody measured. */
  readonly addedMicros?: number;
  /** Why the model stopped, in the provider's word. */
  readonly stop: string | null;
  /** What we could not read or keep of it, or null. */
  readonly problem: string | null;
};

export type RecordedExchange = Exchange & {
  readonly rendering: Rendering;
  readonly openedSeq: Seq;
  readonly end: (ExchangeEnd & { readonly seq: Seq }) | null;
};

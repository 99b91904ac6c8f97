import type { BodyForm, Exchange, ExchangeEnd, RewriteReason, Usage } from "../../engine/frames/index.ts";
import type { ExchangeSide } from "../../store/index.ts";

export type RequestRow = {
  readonly id: number;
  /** The `x-aperture-request-id` that the client got. */
  readonly request: string;
  /** A turn is reported as a compaction once the client has continued from its answer. */
  readonly role: Exchange["role"];
  readonly relation: Exchange["relation"];
  readonly of: number | null;
  readonly stream: number | null;
  readonly turn: number | null;
  readonly model: string | null;
  readonly target: string;
  /** How its body was sent: as it came, from the ledger, or without reasoning bound to our notes. */
  readonly rendering: BodyForm;
  /** The rewrite it carried; null if it only appends to the request before. */
  readonly rewrite: RewriteRow | null;
  readonly outcome: ExchangeEnd["outcome"] | "open";
  readonly status: number | null;
  readonly usage: Usage | null;
  readonly bytesUp: number;
  readonly bytesDown: number | null;
  readonly firstByteMs: number | null;
  readonly totalMs: number | null;
  /** Milliseconds between the client's last byte and sending upstream; null if not measured. */
  readonly addedMs: number | null;
  readonly stop: string | null;
  readonly problem: string | null;
  /** The time it was recorded; null while that frame is not on disk. */
  readonly time: number | null;
  readonly openedSeq: number;
};

export type BodySummary = { readonly side: ExchangeSide; readonly length: number; readonly hash: string };

/** One attempt of a request that was sent more than once. */
export type AttemptRow = Pick<RequestRow, "id" | "relation" | "outcome" | "status">;

export type RequestDetail = {
  readonly session: string;
  readonly seq: number;
  readonly request: RequestRow;
  readonly bodies: readonly BodySummary[];
  /** Whether both sides had the same bytes. A body that was relayed unchanged is stored once. */
  readonly identical: { readonly request: boolean; readonly response: boolean };
  /** Itself included, in order. */
  readonly attempts: readonly AttemptRow[];
};

export type RequestsPage = {
  readonly session: string;
  readonly seq: number;
  readonly total: number;
  readonly rows: readonly RequestRow[];
  /** The `after` of the next page; null if there are no more now. */
  readonly next: number | null;
};

/** The body of a request as sent upstream, before compression. */
export type SentBody = {
  readonly exchange: number;
  /** `POST /v1/messages?beta=true`. */
  readonly target: string;
  /** The time it was sent; null if the disk cannot be read. */
  readonly time: number | null;
  readonly bytes: Uint8Array;
};

export type SentBodies = {
  readonly session: string;
  readonly seq: number;
  readonly sent: SentBody;
  /** The last accepted body of its stream before it; null if there is none, or it is gone. */
  readonly before: SentBody | null;
};

export type BodyAnswer = {
  readonly session: string;
  readonly seq: number;
  /** The side these bytes are stored under: the other side, if the body was relayed unchanged. */
  readonly side: ExchangeSide;
  readonly bytes: Uint8Array;
};

/** The rewrite a request carried: it began an epoch and rendered the prompt anew from some block on. */
export type RewriteRow = {
  readonly epoch: number;
  readonly reason: RewriteReason;
  /** The reason in words. */
  readonly why: string;
  readonly means: "own" | "provider";
  /** Blocks that it shows differently from the request before. */
  readonly blocks: readonly number[];
  /** Estimated tokens by which the prompt is shorter; uncounted blocks add nothing. */
  readonly freed: number;
  /** The expected cost of the prompt, priced in input tokens; null if there was no forecast. */
  readonly predicted: {
    readonly rewritten: number;
    readonly unchanged: number;
    /** The saving of every later request. */
    readonly savedEach: number;
  } | null;
};

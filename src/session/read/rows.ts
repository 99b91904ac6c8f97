import type {
  Actor,
  BlockKind,
  DeltaType,
  ExchangeOutcome,
  ExchangeRelation,
  ExchangeRole,
  Frame,
  Level,
  Lifecycle,
  Rendering,
  Shown,
  Usage,
  Zone,
} from "../../engine/index.ts";
import type { Side } from "../../store/index.ts";
import type { LevelRow, Mode, PendingRow, RewriteRow } from "./act-rows.ts";

export type { Mode };

/**
 * What readers are given: plain data that survives JSON, the same for the panel, the command line and every
 * other caller. Every number is computed here, once, so that no two surfaces can disagree.
 */

/** Tokens. Used and free always add up to the size. Not exact: an estimate, to be marked as one. */
export type WindowRow = {
  readonly used: number;
  readonly free: number;
  readonly size: number;
  readonly exact: boolean;
};

export type SessionRow = {
  readonly id: string;
  readonly name: string;
  readonly client: string;
  readonly project: string | null;
  readonly upstream: string | null;
  /** Of the last turn that named one. */
  readonly model: string | null;
  /** Active while a request is open. */
  readonly state: "active" | "idle";
  /** Auto: its last turn was rendered by us. */
  readonly mode: Mode;
  readonly seq: number;
  /** Of the main stream. */
  readonly window: WindowRow;
  /** Milliseconds since 1970 of the last frame on disk; null while there is none. */
  readonly lastActivity: number | null;
  readonly requests: number;
  readonly streams: number;
  /** Of all requests, as the provider reported them. */
  readonly usage: Usage;
};

export type StreamRow = {
  readonly id: number;
  readonly name: string;
  /** The stream it was forked from. */
  readonly parent: number | null;
  readonly turns: number;
};

/** Who it comes from: the user's side, the model, a tool, or us. */
export type BlockOrigin = "user" | "model" | "tool" | "aperture";

export type BlockRow = {
  readonly n: number;
  readonly zone: Zone;
  readonly kind: BlockKind;
  readonly topic: string | null;
  /** At the level shown; for what is not shown, at its original level. Null: not counted yet. */
  readonly tokens: number | null;
  readonly exact: boolean;
  /** Wanted; `shown` is what the last request really held. They differ until the next rewrite. */
  readonly level: Level;
  readonly shown: Shown;
  /** The level that is wanted, or a placeholder where the block is not to be shown at all. */
  readonly wanted: Shown;
  /** Shown otherwise than wanted, and to be changed by a rewrite. */
  readonly pending: boolean;
  /** Tokens at each level, as far as they are known; a level that was not made is not there. */
  readonly sizes: Readonly<Partial<Record<Level, number>>>;
  /** Part of the window as it stands: in the last request, or arrived since and due to go with the next. */
  readonly counted: boolean;
  readonly pinned: boolean;
  readonly focused: boolean;
  readonly selected: boolean;
  readonly withheld: boolean;
  /** Turns until it is lowered; null: never by itself. */
  readonly ttl: number | null;
  readonly lastUsedTurn: number;
  readonly state: Lifecycle;
  readonly origin: BlockOrigin;
  readonly speaker: string;
  readonly message: number;
  readonly turn: number;
  readonly stream: number;
  readonly addedSeq: number;
  /** The exchange that carried it to the model first; null: none has yet. */
  readonly firstRequest: number | null;
};

/** Neighbours of one zone, in the order of the request: a piece of the strip. */
export type SegmentRow = {
  readonly zone: Zone;
  readonly tokens: number;
  readonly blocks: number;
  /** The first and the last block of it. */
  readonly from: number;
  readonly to: number;
};

/** Counted blocks of one zone, wherever they stand. */
export type ZoneRow = { readonly zone: Zone; readonly tokens: number; readonly blocks: number };

export type StateRow = {
  readonly session: string;
  /** The state is as of this seq; `head` is where the session is now. */
  readonly seq: number;
  readonly head: number;
  /** Null while the session has none. */
  readonly stream: number | null;
  readonly turn: number;
  readonly model: string | null;
  readonly window: WindowRow;
  /** Counted blocks only, left to right. */
  readonly strip: readonly SegmentRow[];
  readonly zones: readonly ZoneRow[];
  /** Archived, and not in the window any more. */
  readonly cold: { readonly tokens: number; readonly blocks: number };
  /** Blocks that the last request shows shorter than they are, or pruned, and the tokens that leaves out. */
  readonly lowered: { readonly tokens: number; readonly blocks: number };
  /** Blocks that a rewrite will show otherwise, and the tokens that frees; less than zero: takes. */
  readonly pending: { readonly tokens: number; readonly blocks: number };
  /** Used, but by no block we know: tools, framing, and the error of estimates. Never negative. */
  readonly otherTokens: number;
  readonly blocks: readonly BlockRow[];
  readonly streams: readonly StreamRow[];
};

/** A piece of a content. Text is cut where a character ends, so that it stays text. */
export type ContentPiece = {
  readonly text: string;
  readonly encoding: "utf-8" | "base64";
  /** In bytes of the content. */
  readonly from: number;
  readonly length: number;
  readonly total: number;
};

/** A frame that had to do with a block. */
export type HistoryRow = {
  readonly seq: number;
  readonly time: number;
  readonly actor: Actor;
  readonly reason: string;
  readonly deltas: readonly DeltaType[];
  /** What it did to the block, in words: `trimmed`. Empty where it did nothing but keep books. */
  readonly did: string;
};

export type BlockDetail = {
  readonly session: string;
  readonly seq: number;
  readonly block: BlockRow;
  /** What its provider calls it: `text`, `tool_use`, `image`; null where it does not say. */
  readonly wireType: string | null;
  /** Null: it cannot be had, and `problem` is the code that says why. */
  readonly content: ContentPiece | null;
  readonly problem: string | null;
  readonly placeholder: string | null;
  /** All of them, the largest first, with the sizes that are known before one is asked for. */
  readonly levels: readonly LevelRow[];
  /** Null: it is shown as it is wanted. */
  readonly pending: PendingRow | null;
  /** The newest last; at most so many as the reader keeps. */
  readonly history: readonly HistoryRow[];
};

export type RequestRow = {
  readonly id: number;
  /** What the client got as `x-aperture-request-id`. */
  readonly request: string;
  /** A turn whose history was compacted afterwards shows as the compaction it was. */
  readonly role: ExchangeRole;
  readonly relation: ExchangeRelation;
  readonly of: number | null;
  readonly stream: number | null;
  readonly turn: number | null;
  readonly model: string | null;
  readonly target: string;
  /** How its body was sent on: as it came, from the ledger, or without reasoning bound to what is ours. */
  readonly rendering: Rendering;
  /** What it shows otherwise than the request before; null where it only goes on. */
  readonly rewrite: RewriteRow | null;
  readonly outcome: ExchangeOutcome | "open";
  readonly status: number | null;
  readonly usage: Usage | null;
  readonly bytesUp: number;
  readonly bytesDown: number | null;
  readonly firstByteMs: number | null;
  readonly totalMs: number | null;
  readonly stop: string | null;
  readonly problem: string | null;
  /** When it was recorded; null while that frame is not on disk. */
  readonly time: number | null;
  readonly openedSeq: number;
};

export type BodySummary = { readonly side: Side; readonly length: number; readonly hash: string };

/** One try of a request that was sent more than once. */
export type AttemptRow = Pick<RequestRow, "id" | "relation" | "outcome" | "status">;

export type RequestDetail = {
  readonly session: string;
  readonly seq: number;
  readonly request: RequestRow;
  readonly bodies: readonly BodySummary[];
  /** Whether both sides had the same bytes. A side that was passed on unchanged is not stored twice. */
  readonly identical: { readonly request: boolean; readonly response: boolean };
  /** Itself included, in order. */
  readonly attempts: readonly AttemptRow[];
};

export type SessionsPage = {
  readonly rows: readonly SessionRow[];
  /** Ids of sessions that are there but cannot be opened; `verify` says why. */
  readonly damaged: readonly string[];
  /** To be given as `before`; null: there are no more. */
  readonly next: string | null;
};
export type SessionDetail = {
  readonly seq: number;
  readonly session: SessionRow;
  readonly streams: readonly StreamRow[];
};
export type RequestsPage = {
  readonly session: string;
  readonly seq: number;
  readonly total: number;
  readonly rows: readonly RequestRow[];
  /** To be given as `after`; null: there are no more now. */
  readonly next: number | null;
};
export type FramesPage = {
  readonly session: string;
  /** Where the session is; frames just below it may not be on disk yet. */
  readonly seq: number;
  readonly frames: readonly Frame[];
  /** To be given as `after`; null: there are no more on disk now. */
  readonly next: number | null;
};
export type BodyAnswer = {
  readonly session: string;
  readonly seq: number;
  /** The side whose bytes these are: the other one, if it was passed on unchanged. */
  readonly side: Side;
  readonly bytes: Uint8Array;
};

export type SelectedRow = {
  readonly block: number;
  /** What the model will read it called; null: its number alone. */
  readonly name: string | null;
  /** Whether it is mentioned at all: what is neither in the window nor in the cold is not. */
  readonly told: boolean;
};
export type SelectionAnswer = {
  readonly session: string;
  readonly seq: number;
  /** Null while the session has none. */
  readonly stream: number | null;
  readonly mode: Mode;
  /** In the order of the blocks. */
  readonly selected: readonly SelectedRow[];
  /** The words of the next manifest about it; null: there is nothing to say. */
  readonly told: string | null;
};
export type SkippedRow = { readonly block: number; readonly code: string; readonly message: string };
export type SelectAnswer = SelectionAnswer & {
  /** What was asked for and could not be done, each with its reason. */
  readonly skipped: readonly SkippedRow[];
};

export type ManifestDetail = "summary" | "detailed";
export type RangeRow = {
  /** Messages, both ends included. */
  readonly from: number;
  readonly to: number;
  readonly reasons: readonly string[];
  /** Reasoning in it whose signature is stored. */
  readonly signatures: number;
};
export type ManifestAnswer = {
  readonly session: string;
  readonly seq: number;
  readonly stream: number;
  /** The turn that would be told so: the next one. */
  readonly turn: number;
  readonly mode: Mode;
  readonly detail: ManifestDetail;
  /** With `----` where the session's mark would stand. */
  readonly text: string;
  readonly ranges: readonly RangeRow[];
  /** Of all ranges together. */
  readonly signatures: number;
};

/** A block as it is stored, whatever is shown of it now. */
export type ExpandedRow = {
  readonly block: number;
  readonly message: number;
  readonly turn: number;
  readonly kind: BlockKind;
  readonly shown: Shown;
  /** The words in it. Null: it has none that can be read, such as reasoning that was never visible. */
  readonly text: string | null;
  /** Whether more of them is stored than fits into an answer. */
  readonly isCut: boolean;
  /** Whether a signature is stored with it. */
  readonly signed: boolean;
  /** The code that says why its content cannot be had. */
  readonly problem: string | null;
};
export type ExpansionAnswer = {
  readonly session: string;
  readonly seq: number;
  readonly stream: number;
  readonly rows: readonly ExpandedRow[];
  /** Blocks for which there was no room, and the first of them. */
  readonly left: number;
  readonly next: number | null;
  /** As a model would get it: labelled, with `----` where the session's mark would stand. */
  readonly text: string;
};

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
  Mode as SessionMode,
  Shown,
  Usage,
  Zone,
} from "../../engine/index.ts";
import type { DropReport, Side } from "../../store/index.ts";
import type { Forecast } from "../../tokens/index.ts";
import type { LevelRow, Mode, PendingRow, RewriteRow } from "./act-rows.ts";

export type { Mode };

/**
 * What readers are given: plain data that survives JSON, the same for the panel, the command line and every
 * other caller. Every number is computed here, once, so that no two surfaces can disagree.
 */

/**
 * Tokens. Used and free always add up to the size; both are null where nobody knows how much the window of
 * the model holds. Not exact: an estimate, to be marked as one.
 */
export type WindowRow = {
  readonly used: number;
  readonly free: number | null;
  readonly size: number | null;
  readonly exact: boolean;
};

export type FailedRequest = {
  readonly exchange: number;
  readonly outcome: ExchangeOutcome;
  readonly status: number | null;
};

export type SessionRow = {
  readonly id: string;
  readonly name: string;
  readonly client: string;
  readonly project: string | null;
  readonly upstream: string | null;
  /** Of the last turn that named one. */
  readonly model: string | null;
  /**
   * Active while a request is open; error as long as the last thing said got no whole answer. None is closed:
   * a client that ends says nothing, and may go on with a session after weeks.
   */
  readonly state: "active" | "idle" | "error";
  /** The request that got none; null in any other state. */
  readonly failed: FailedRequest | null;
  /** As the user said, or as it is configured; observe also where nothing was rendered by us yet. */
  readonly mode: SessionMode;
  readonly seq: number;
  /** Of the main stream. */
  readonly window: WindowRow;
  /** Milliseconds since 1970 of the last frame on disk; null while there is none. */
  readonly lastActivity: number | null;
  readonly requests: number;
  /** Those of them that did not go up as the client sent them. */
  readonly rendered: number;
  readonly streams: number;
  /** Tokens of the main stream's last prompt that its provider put into its cache or found there. */
  readonly cached: number;
  /** Of all requests, as the provider reported them. */
  readonly usage: Usage;
  /** The same by the model that was asked, for those who know prices. */
  readonly usages: readonly { readonly model: string | null; readonly usage: Usage }[];
};

export type NamedAnswer = {
  readonly session: string;
  readonly seq: number;
  /** What it is called now: by the user, else by its first prompt. */
  readonly name: string;
};

/** What was erased with a session. */
export type DeletedAnswer = DropReport & { readonly session: string };

export type StreamRow = {
  readonly id: number;
  readonly name: string;
  /** The stream it was forked from. */
  readonly parent: number | null;
  readonly turns: number;
};

/** A stream for those who look at its session: what it is about, and how full its window is. */
export type StreamDetail = StreamRow & {
  /** The first words it was asked; null: none are stored. */
  readonly title: string | null;
  readonly window: WindowRow;
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

/** What a strip of the window points at besides its blocks, in tokens from the left. Null: not known. */
export type StripMarks = {
  /** What the provider served from its cache when it last answered, and its share of that prompt. */
  readonly cached: { readonly tokens: number; readonly share: number } | null;
  /** The first block that the last request showed otherwise than the one before; null: it only went on. */
  readonly changedFrom: { readonly block: number; readonly exchange: number } | null;
  /** What the client leaves free for the answer. */
  readonly reserved: number | null;
  /** About where the client begins to compact by itself. */
  readonly compactsAt: number | null;
  readonly forecast: Forecast | null;
};

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
  readonly marks: StripMarks;
  /** In the order they came: all of them, or as many as were asked for. */
  readonly blocks: readonly BlockRow[];
  /** How many rows there are in all. */
  readonly total: number;
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

/** What a block is about, in a line; null: nothing can be said. */
export type LabelRow = { readonly block: number; readonly label: string | null };
export type LabelsAnswer = {
  readonly session: string;
  readonly seq: number;
  /** In the order they were asked for; blocks that are not there are left out. */
  readonly rows: readonly LabelRow[];
};

/** What a block would show at a level. */
export type PreviewRow = {
  readonly level: Level;
  /** An estimate. */
  readonly tokens: number;
  readonly text: string;
  /** Whether there is more of it than an answer holds. */
  readonly isCut: boolean;
};
export type PreviewsAnswer = {
  readonly session: string;
  readonly seq: number;
  readonly block: number;
  /** Only those that are shorter than the block is. */
  readonly rows: readonly PreviewRow[];
  /** Why there are none, or why there is no summary. */
  readonly reasons: readonly string[];
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
  /** What stands for it in a request, or will; `----` where the session's mark would. Null: it is shown. */
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
  /** From the last byte of the request to what was sent upstream for it; null where nobody measured. */
  readonly addedMs: number | null;
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
  /** The main one first. */
  readonly streams: readonly StreamDetail[];
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
/** The body of a request that went upstream, as it was before it was compressed. */
export type SentBody = {
  readonly exchange: number;
  /** `POST /v1/messages?beta=true`. */
  readonly target: string;
  /** When it was sent; null: the disk cannot be read. */
  readonly time: number | null;
  readonly bytes: Uint8Array;
};
export type SentBodies = {
  readonly session: string;
  readonly seq: number;
  readonly sent: SentBody;
  /** What its stream sent before it and the upstream took; null: nothing, or it is gone. */
  readonly before: SentBody | null;
};
export type BodyAnswer = {
  readonly session: string;
  readonly seq: number;
  /** The side whose bytes these are: the other one, if it was passed on unchanged. */
  readonly side: Side;
  readonly bytes: Uint8Array;
};

import type { Zone } from "../../engine/moment/index.ts";
import type { WindowRow } from "../../recorder/index.ts";
import type { Forecast } from "../../tokens/index.ts";
import type { BlockRow } from "./block-answers.ts";
import type { StreamRow } from "./session-answers.ts";

/** A piece of the strip: neighbouring blocks of one zone, in the order of the request. */
export type SegmentRow = {
  readonly zone: Zone;
  readonly tokens: number;
  readonly blocks: number;
  /** The first and the last block of the piece. */
  readonly from: number;
  readonly to: number;
};

/** All counted blocks of one zone, neighbours or not. */
export type ZoneRow = { readonly zone: Zone; readonly tokens: number; readonly blocks: number };

/** Marks on the strip of the window besides its blocks, in tokens from the left. Null if not known. */
export type StripMarks = {
  /** Tokens the provider served from its cache for the last answer, and their share of that prompt. */
  readonly cached: { readonly tokens: number; readonly share: number } | null;
  /** The first block that the last request showed differently; null if that request only appended. */
  readonly changedFrom: { readonly block: number; readonly exchange: number } | null;
  /** Tokens the client leaves free for the answer. */
  readonly reserved: number | null;
  /** The size at which the client starts its own compaction, roughly. */
  readonly compactsAt: number | null;
  readonly forecast: Forecast | null;
};

export type StateRow = {
  readonly session: string;
  /** The state is as of this seq; `head` is where the session is now. */
  readonly seq: number;
  readonly head: number;
  /** Null if the session has none yet. */
  readonly stream: number | null;
  readonly turn: number;
  readonly model: string | null;
  readonly window: WindowRow;
  /** Counted blocks only, left to right. */
  readonly strip: readonly SegmentRow[];
  readonly zones: readonly ZoneRow[];
  /** Archived blocks that are no longer in the window. */
  readonly cold: { readonly tokens: number; readonly blocks: number };
  /** Blocks that the last request shows shortened or as placeholders, and the tokens that saves. */
  readonly lowered: { readonly tokens: number; readonly blocks: number };
  /** Blocks that a rewrite will show differently, and the tokens that frees; negative if it takes more. */
  readonly pending: { readonly tokens: number; readonly blocks: number };
  /** Used tokens that belong to no known block: tools, framing, estimation error. Never negative. */
  readonly otherTokens: number;
  readonly marks: StripMarks;
  /** In the order they came: all of them, or as many as the query wants. */
  readonly blocks: readonly BlockRow[];
  /** How many rows there are in all. */
  readonly total: number;
  readonly streams: readonly StreamRow[];
};

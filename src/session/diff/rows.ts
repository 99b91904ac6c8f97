import type { BlockKind, Shown } from "../../engine/index.ts";
import type { DiffReason } from "./reason.ts";

/** What a unit says, for people; of a long one the beginning. */
export type DiffText = { readonly text: string; readonly bytes: number; readonly isCut: boolean };

/** What two bodies have in common, in one row however long. */
export type SameRow = {
  readonly type: "same";
  readonly count: number;
  /** An estimate. */
  readonly tokens: number;
  readonly bytes: number;
  /** The first and the last block of it that has a number. */
  readonly from: number | null;
  readonly to: number | null;
  /** How many of them are written as a list of blocks where the client wrote a bare text. */
  readonly reformed: number;
  /** How much of it the provider served from its cache, by what it reported. */
  readonly cached: "all" | "some" | "none" | null;
};

/** Something that is not on both sides, or not in the same words. */
export type ChangeRow = {
  readonly type: "changed" | "inserted" | "removed";
  readonly section: "tools" | "system" | "messages";
  /** In the words of the wire: user, assistant, system. */
  readonly role: string;
  readonly kind: BlockKind;
  /** The block it is; null for what is ours. */
  readonly block: number | null;
  /** How much of the block is shown; null where it is none. */
  readonly as: Shown | null;
  /** Whether we have put it in. */
  readonly isOurs: boolean;
  readonly before: DiffText | null;
  readonly after: DiffText | null;
  /** Estimates; 0 where it is not there. */
  readonly tokens: { readonly before: number; readonly after: number };
  /** At least one. */
  readonly reasons: readonly DiffReason[];
};

/** A cache mark that stands on one side only, or says something else there. */
export type MarkRow = {
  readonly type: "mark";
  readonly block: number | null;
  readonly before: string | null;
  readonly after: string | null;
  readonly reasons: readonly DiffReason[];
};

/** A field of the body besides tools, system and messages. */
export type FieldRow = {
  readonly type: "field";
  readonly name: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly reasons: readonly DiffReason[];
};

export type DiffRow = SameRow | ChangeRow | MarkRow | FieldRow;

export type DiffTotals = {
  readonly same: number;
  readonly sameTokens: number;
  readonly changed: number;
  readonly inserted: number;
  readonly insertedTokens: number;
  readonly removed: number;
  readonly removedTokens: number;
};

/** What a client sent against what went upstream, or one request against another. */
export type RequestDiff = {
  readonly session: string;
  readonly seq: number;
  readonly exchange: number;
  /** The earlier exchange it is compared with; null: what the client sent. */
  readonly with: number | null;
  /** Not a byte differs. */
  readonly identical: boolean;
  readonly bytes: { readonly before: number; readonly after: number };
  /** Where the first byte differs: how far into the body, in which row, at which block. */
  readonly firstChange: {
    readonly byte: number;
    readonly row: number | null;
    readonly block: number | null;
  } | null;
  /** Of the prompt, as we estimate it and as the provider reported it. */
  readonly tokens: { readonly estimated: number; readonly reported: number | null };
  readonly cache: { readonly read: number; readonly write: number } | null;
  /** From the last byte of the client's request to the first that went upstream; null: not measured. */
  readonly addedMs: number | null;
  /** What the provider calls its answer. */
  readonly upstreamId: string | null;
  readonly totals: DiffTotals;
  readonly rows: readonly DiffRow[];
  /** Rows for which there was no room. */
  readonly left: number;
  /** False: at least one body could not be looked into, so that only their bytes are compared. */
  readonly isRead: boolean;
};

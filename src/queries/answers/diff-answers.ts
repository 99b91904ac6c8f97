import type { Actor, BlockKind, Shown } from "../../engine/frames/index.ts";

/** The text of a unit, for people; cut if it is long. */
export type DiffText = { readonly text: string; readonly bytes: number; readonly isCut: boolean };

/** Neighbouring units that both bodies have in common, as one row. */
export type SameRow = {
  readonly type: "same";
  readonly count: number;
  /** An estimate. */
  readonly tokens: number;
  readonly bytes: number;
  /** The first and the last unit in it that shows a block. */
  readonly from: number | null;
  readonly to: number | null;
  /** Units that are sent as a list of blocks where the client wrote a bare text. */
  readonly reformed: number;
  /** Whether it came from the provider's cache, by its report. */
  readonly cached: "all" | "some" | "none" | null;
};

/** A unit that is on one side only, or differs between the sides. */
export type ChangeRow = {
  readonly type: "changed" | "inserted" | "removed";
  readonly section: "tools" | "system" | "messages";
  /** The role on the wire: user, assistant, system. */
  readonly role: string;
  readonly kind: BlockKind;
  /** The block it shows; null for units of ours. */
  readonly block: number | null;
  /** The level it shows of the block; null if it shows no block. */
  readonly as: Shown | null;
  /** Whether Aperture inserted it. */
  readonly isOurs: boolean;
  readonly before: DiffText | null;
  readonly after: DiffText | null;
  /** Estimates; 0 on a side that lacks it. */
  readonly tokens: { readonly before: number; readonly after: number };
  /** At least one. */
  readonly reasons: readonly DiffReason[];
};

/** A cache mark that is on one side only, or differs between the sides. */
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

/** The difference between the client's body and the one sent upstream, or between two requests. */
export type RequestDiff = {
  readonly session: string;
  readonly seq: number;
  readonly exchange: number;
  /** The earlier exchange it is compared with; null if it is compared with the client's body. */
  readonly with: number | null;
  /** Whether both bodies have the same bytes. */
  readonly identical: boolean;
  readonly bytes: { readonly before: number; readonly after: number };
  /** The first byte that differs: its offset, row and block. */
  readonly firstChange: {
    readonly byte: number;
    readonly row: number | null;
    readonly block: number | null;
  } | null;
  /** Size of the prompt: our estimate and the provider's report. */
  readonly tokens: { readonly estimated: number; readonly reported: number | null };
  readonly cache: { readonly read: number; readonly write: number } | null;
  /** Milliseconds between the client's last byte and sending upstream; null if not measured. */
  readonly addedMs: number | null;
  /** The provider's id of its answer. */
  readonly upstreamId: string | null;
  readonly totals: DiffTotals;
  readonly rows: readonly DiffRow[];
  /** Rows that did not fit. */
  readonly left: number;
  /** False if a body could not be parsed, so that only bytes are compared. */
  readonly isRead: boolean;
};

/** The reasons why two bodies differ at some unit or field; `unknown` if the log explains nothing. */
const reasonCodes = [
  "tools",
  "instructions",
  "header",
  "manifest",
  "selection",
  "change-note",
  "command",
  "answer",
  "round",
  "own",
  "canon",
  "order",
  "merged",
  "arrival",
  "level",
  "pruned",
  "withheld",
  "rewrite",
  "reasoning",
  "stand-in",
  "mark",
  "form",
  "room",
  "edit",
  "new",
  "once",
  "client",
  "unknown",
] as const;

export type ReasonCode = (typeof reasonCodes)[number];

export type DiffReason = {
  readonly code: ReasonCode;
  /** For people. */
  readonly words: string;
  /** The actor that wanted it; null if it follows from no actor's wish. `seq`: the frame that says so. */
  readonly by: Actor | null;
  readonly seq: number | null;
  /** The reason that frame gives. */
  readonly why: string | null;
};

import type { Actor, BlockKind, ContentForm, Delta, Level, Shown } from "../../engine/frames/index.ts";
import type { Lifecycle, Zone } from "../../engine/moment/index.ts";

/** The source of a block: the user's side, the model, a tool, or Aperture. */
export type BlockOrigin = "user" | "model" | "tool" | "aperture";

export type BlockRow = {
  readonly n: number;
  readonly zone: Zone;
  readonly kind: BlockKind;
  /** The wire format of its content, or `part` for a text that Aperture wrote. */
  readonly form: ContentForm;
  readonly topic: string | null;
  /** At the level shown; at the original level if it is not shown. Null if not counted yet. */
  readonly tokens: number | null;
  readonly exact: boolean;
  /** The wanted level; `shown` is the form in the last request. They differ until the next rewrite. */
  readonly level: Level;
  readonly shown: Shown;
  /** The wanted level, or placeholder if the block should not be shown. */
  readonly wanted: Shown;
  /** Whether `shown` differs from `wanted` and a rewrite will change that. */
  readonly pending: boolean;
  /** Known token counts by level; a level without a rendition is missing. */
  readonly sizes: Readonly<Partial<Record<Level, number>>>;
  /** Whether it counts for the window: it is in the last request, or goes with the next one. */
  readonly counted: boolean;
  readonly pinned: boolean;
  readonly focused: boolean;
  readonly selected: boolean;
  readonly withheld: boolean;
  /** Turns left until it is lowered; null if it never expires. */
  readonly ttl: number | null;
  readonly lastUsedTurn: number;
  readonly state: Lifecycle;
  readonly origin: BlockOrigin;
  readonly speaker: string;
  readonly message: number;
  readonly turn: number;
  readonly stream: number;
  readonly addedSeq: number;
  /** The first exchange that sent it to the model; null if none has yet. */
  readonly firstRequest: number | null;
};

/** A piece of a content. Text is cut between characters, so that each piece is valid text. */
export type ContentPiece = {
  readonly text: string;
  readonly encoding: "utf-8" | "base64";
  /** Byte offset into the content. */
  readonly from: number;
  readonly length: number;
  readonly total: number;
};

/** One line that says what a block is about; null if it has no text. */
export type LabelRow = { readonly block: number; readonly label: string | null };

export type LabelsAnswer = {
  readonly session: string;
  readonly seq: number;
  /** In the order of the query; unknown blocks are left out. */
  readonly rows: readonly LabelRow[];
};

/** The text a block would show at a level. */
export type PreviewRow = {
  readonly level: Level;
  /** An estimate. */
  readonly tokens: number;
  readonly text: string;
  /** Whether the text is longer than an answer may be. */
  readonly isCut: boolean;
};

export type PreviewsAnswer = {
  readonly session: string;
  readonly seq: number;
  readonly block: number;
  /** Only levels that are shorter than the block. */
  readonly rows: readonly PreviewRow[];
  /** The reasons why rows are missing, for example why there is no summary. */
  readonly reasons: readonly string[];
};

/** A frame that touched a block. */
export type HistoryRow = {
  readonly seq: number;
  readonly time: number;
  readonly actor: Actor;
  readonly reason: string;
  readonly deltas: readonly Delta["type"][];
  /** The change in words: `trimmed`. Empty if the frame only did bookkeeping. */
  readonly did: string;
};

export type BlockDetail = {
  readonly session: string;
  readonly seq: number;
  readonly block: BlockRow;
  /** Its type in the words of its wire format, for people; null if the content names none. */
  readonly wireType: string | null;
  /** Null if it cannot be read; `problem` is then the error code. */
  readonly content: ContentPiece | null;
  readonly problem: string | null;
  /** The line that stands for it, now or after a rewrite, with `----` for the nonce. Null if it is shown. */
  readonly placeholder: string | null;
  /** All levels, the largest first; a level without a stored rendition has no size. */
  readonly levels: readonly LevelRow[];
  /** Null if it is shown as wanted. */
  readonly pending: PendingRow | null;
  /** The newest last; at most `historyRowsMax`. */
  readonly history: readonly HistoryRow[];
};

/** The size of a block at a level. A level without a rendition has no size and is never shown. */
export type LevelRow = {
  readonly level: Level;
  readonly tokens: number | null;
  readonly exact: boolean;
};

/** rewrite: the next one. managed: the session is only observed now. text: nothing shorter is stored. */
export type WaitsFor = "rewrite" | "managed" | "text";

export type PendingRow = {
  readonly shown: Shown;
  readonly wanted: Shown;
  /** Tokens the change frees; negative if it takes more. Null if not known. */
  readonly frees: number | null;
  readonly waitsFor: WaitsFor;
};

import type { Actor, Level, RewriteReason, Shown } from "../../engine/index.ts";

/** What readers are told of what was done to blocks, and how it is taken back. Plain data, as in rows.ts. */

/** Observe: it goes up as the client sent it, and the model is told nothing by us. */
export type Mode = "observe" | "auto";

/** One act: what a user, a model or policy did at once, and what is taken back at once. */
export type StepRow = {
  readonly step: number;
  readonly actor: Actor;
  /** Why, as the one who did it says: `not used for a while`. May be empty. */
  readonly reason: string;
  /** In words: `trimmed #18 #20`. Null while its frames cannot be read. */
  readonly did: string | null;
  /** The same in few words, with blocks counted: `archived 3 blocks and pinned #31`. */
  readonly said: string | null;
  /** Tokens less that were wanted after it; less than zero: more. An estimate. */
  readonly frees: number;
  readonly blocks: readonly number[];
  /** Whether it holds now, or was taken back. */
  readonly done: boolean;
  /** Who brought it to where it stands. */
  readonly by: Actor;
  /** Its first frame, and the one that brought it to where it stands. */
  readonly seq: number;
  readonly lastSeq: number;
  /** Of its first frame; null while that is not on disk. */
  readonly time: number | null;
};
export type StepsPage = {
  readonly session: string;
  readonly seq: number;
  readonly total: number;
  /** The newest last. */
  readonly rows: readonly StepRow[];
  /** To be given as `below`; null: there are no older ones. */
  readonly next: number | null;
};

export type ReverseVerb = "undo" | "redo";
export type ReverseAnswer = {
  readonly session: string;
  readonly seq: number;
  readonly verb: ReverseVerb;
  /** As it stands now; of several the last that was reversed. */
  readonly step: StepRow;
  /** All of them, in the order they were reversed. */
  readonly steps: readonly StepRow[];
  /** What kept the rest of a turn from being taken back; null: nothing. */
  readonly problem: { readonly code: string; readonly message: string } | null;
  readonly mode: Mode;
  /** Blocks of it that are not shown as they are wanted now: they follow with a rewrite. */
  readonly pending: readonly number[];
};

/** How large a block is at a level. A level that was not made has no size, and is not shown. */
export type LevelRow = {
  readonly level: Level;
  readonly tokens: number | null;
  readonly exact: boolean;
};

/** rewrite: the next one. managed: the session is only observed. text: nothing shorter is stored. */
export type WaitsFor = "rewrite" | "managed" | "text";
export type PendingRow = {
  readonly shown: Shown;
  readonly wanted: Shown;
  /** Tokens the change frees; less than zero where it takes more. Null: not known. */
  readonly frees: number | null;
  readonly waitsFor: WaitsFor;
};

/** A request that began an epoch: what was sent before is rendered anew from some place on. */
export type RewriteRow = {
  readonly epoch: number;
  readonly reason: RewriteReason;
  /** The reason in words. */
  readonly why: string;
  readonly means: "own" | "provider";
  /** Blocks that it shows otherwise than the request before. */
  readonly blocks: readonly number[];
  /** Tokens the prompt is shorter by, as far as the blocks are counted: an estimate. */
  readonly freed: number;
  /** What the prompt was expected to cost, in the price of input tokens; null where nobody said. */
  readonly predicted: {
    readonly rewritten: number;
    readonly unchanged: number;
    /** What every later request saves. */
    readonly savedEach: number;
  } | null;
};

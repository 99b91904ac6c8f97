import type { BlockKind, Shown } from "../../engine/index.ts";
import type { Mode } from "./act-rows.ts";

/** What the model is told, or would be: of what the user points at, of its context, of what is stored. */

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
  /** What it takes of the window. An estimate. */
  readonly tokens: number;
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

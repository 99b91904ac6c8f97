import type { Part } from "../../content/index.ts";
import type { BlockKind, Shown } from "../../engine/frames/index.ts";
import type { StreamMode } from "./session-answers.ts";

export type SelectedRow = {
  readonly block: number;
  /** The name the model reads for it; null if only its number. */
  readonly name: string | null;
  /** Whether the manifest mentions it: only blocks of the window or the cold zone are mentioned. */
  readonly told: boolean;
};

export type SelectionAnswer = {
  readonly session: string;
  readonly seq: number;
  /** Null if the session has none yet. */
  readonly stream: number | null;
  readonly mode: StreamMode;
  /** In the order of the blocks. */
  readonly selected: readonly SelectedRow[];
  /** The next manifest's line about the selection; null if there is none. */
  readonly told: string | null;
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
  /** The turn that would read this manifest: the next one. */
  readonly turn: number;
  readonly mode: StreamMode;
  readonly detail: ManifestDetail;
  /** With `----` in place of the session's nonce. */
  readonly text: string;
  /** Its estimated size. */
  readonly tokens: number;
  readonly ranges: readonly RangeRow[];
  /** Sum over all ranges. */
  readonly signatures: number;
};

/** A block as stored, independent of the level that is shown now. */
export type ExpandedRow = {
  readonly block: number;
  readonly message: number;
  readonly turn: number;
  readonly kind: BlockKind;
  readonly shown: Shown;
  /** Its text. Null if it has no readable text, such as reasoning that was never visible. */
  readonly text: string | null;
  /** Whether the stored text is longer than an answer may be. */
  readonly isCut: boolean;
  /** Whether a signature is stored with it. */
  readonly signed: boolean;
  /** The error code if its content cannot be read. */
  readonly problem: string | null;
};

export type ExpansionAnswer = {
  readonly session: string;
  readonly seq: number;
  readonly stream: number;
  readonly rows: readonly ExpandedRow[];
  /** Number of blocks that did not fit. `next`: the first of them. */
  readonly left: number;
  readonly next: number | null;
  /** The text a model would get: labelled, with `----` in place of the session's nonce. */
  readonly text: string;
};

/** A message with its parts, whatever wire format they were recorded in. */
export type TranscriptRow = { readonly role: "user" | "assistant"; readonly content: readonly Part[] };

export type TranscriptAnswer = {
  readonly session: string;
  readonly seq: number;
  readonly stream: number | null;
  readonly client: string;
  readonly model: string | null;
  readonly rows: readonly TranscriptRow[];
  /** Estimated size. `rawTokens`: the size of the client's own history of the same conversation. */
  readonly tokens: number;
  readonly rawTokens: number;
  /** Blocks that are missing: reasoning, and blocks replaced by one line. */
  readonly left: { readonly reasoning: number; readonly pruned: number };
};

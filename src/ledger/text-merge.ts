import { ownLines } from "../notes/index.ts";
import type { Tolerance } from "../protocols/index.ts";

/** The rest of a text that may be several texts in one, and the trailing whitespace of the last one found. */
export type MergeState = {
  readonly rest: string;
  /** Null before the first text. */
  readonly lastEnd: string | null;
};

export function startMerge(whole: string): MergeState {
  return { rest: whole.trim(), lastEnd: null };
}

/**
 * Tells, text by text, whether a client has joined the texts of several units into one. Between two of them
 * stand their own whitespace and one of the usual glues, or newlines only: a client may have trimmed them.
 */
export function mergeNext(state: MergeState, text: string): MergeState | "merged" | "other" {
  const rest = state.rest.trimStart();
  const joint = state.rest.slice(0, state.rest.length - rest.length);
  const start = text.slice(0, text.length - text.trimStart().length);
  const isJoint = /^\n*$/.test(joint) || glues.some((glue) => joint === `${state.lastEnd}${glue}${start}`);
  const trimmed = text.trim();
  if (!isJoint || !rest.startsWith(trimmed)) return "other";
  const after = { rest: rest.slice(trimmed.length), lastEnd: text.slice(text.trimEnd().length) };
  return after.rest === "" && state.lastEnd !== null ? "merged" : after;
}

const glues = ["", "\n", "\n\n"];

/** A text of the model as a client keeps it that gets our lines, and as one that does not. */
export function textForms(text: string, isOwnLine: Tolerance["isOwnLine"]): readonly string[] {
  const lines = text.split("\n");
  const ours = new Set(ownLines(lines, isOwnLine));
  if (ours.size === 0) return [text];
  return [text, lines.filter((line) => !ours.has(line)).join("\n")];
}

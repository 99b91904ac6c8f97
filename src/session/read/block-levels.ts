import {
  type BlockNotes,
  type Level,
  levels,
  type Place,
  pendingOf,
  type Shown,
} from "../../engine/index.ts";
import type { LevelRow, PendingRow } from "./act-rows.ts";
import type { Mode } from "./rows.ts";

/** What is known of a block's size at each level, before anybody asks for it. */
export function levelRows(notes: BlockNotes): readonly LevelRow[] {
  return levels.map((level) => {
    const tokens = level === "original" ? notes.tokens : notes.renditions[level]?.tokens;
    return { level, tokens: tokens?.count ?? null, exact: tokens?.exact ?? false };
  });
}

/** The sizes that are known, by level. */
export function sizesOf(notes: BlockNotes): Readonly<Partial<Record<Level, number>>> {
  const known = levelRows(notes).flatMap(({ level, tokens }) => (tokens === null ? [] : [[level, tokens]]));
  return Object.fromEntries(known) as Partial<Record<Level, number>>; // the entries have these names only
}

/** What a block takes in some form. A placeholder is a line of ours, too small to count. */
export function tokensAs(notes: BlockNotes, shown: Shown): number | null {
  if (shown === "placeholder" || shown === "absent") return 0;
  return (notes.renditions[shown]?.tokens ?? notes.tokens)?.count ?? null;
}

export type Forms = { readonly shown: Shown; readonly wanted: Shown };

/** Whether a rewrite will change how a block is shown. */
export function isWaiting({ shown, wanted }: Forms, notes: BlockNotes): boolean {
  return shown !== "absent" && shown !== wanted && hasWords(notes, wanted);
}

/** A level without a text of its own takes that of the next above it; without any, the block stays whole. */
function hasWords({ renditions }: BlockNotes, wanted: Shown): boolean {
  if (wanted === "original" || wanted === "placeholder" || wanted === "absent") return true;
  return levels.slice(1, levels.indexOf(wanted) + 1).some((level) => renditions[level] !== undefined);
}

/** What is wanted and not shown yet, and what it waits for. */
export function pendingRow(place: Place, notes: BlockNotes, mode: Mode): PendingRow | null {
  const pending = pendingOf(place);
  if (pending === null) return null;
  const { shown, wanted } = pending;
  const [before, after] = [tokensAs(notes, shown), tokensAs(notes, wanted)];
  const frees = before === null || after === null ? null : before - after;
  if (!hasWords(notes, wanted)) return { shown, wanted, frees: 0, waitsFor: "text" };
  return { shown, wanted, frees, waitsFor: mode === "observe" ? "managed" : "rewrite" };
}

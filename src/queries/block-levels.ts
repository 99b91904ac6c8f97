import { type BlockAttributes, type Level, levels, type Shown } from "../engine/frames/index.ts";
import { type BlockView, pendingChange } from "../engine/moment/index.ts";
import type { LevelRow, PendingRow } from "./answers/block-answers.ts";
import type { StreamMode } from "./answers/session-answers.ts";

/** The known sizes of a block, one row per level; a level without a rendition has none. */
export function levelRows(attributes: BlockAttributes): readonly LevelRow[] {
  return levels.map((level) => {
    const tokens = level === "original" ? attributes.tokens : attributes.renditions[level]?.tokens;
    return { level, tokens: tokens?.count ?? null, exact: tokens?.exact ?? false };
  });
}

export function sizesOf(attributes: BlockAttributes): Readonly<Partial<Record<Level, number>>> {
  const sizes = levelRows(attributes).flatMap(({ level, tokens }) =>
    tokens === null ? [] : [[level, tokens]],
  );
  return Object.fromEntries(sizes) as Partial<Record<Level, number>>; // the entries have these names only
}

/** The tokens a block takes in some form. A placeholder is one line, too small to count. */
export function tokensAs(attributes: BlockAttributes, shown: Shown): number | null {
  if (shown === "placeholder" || shown === "absent") return 0;
  return (attributes.renditions[shown]?.tokens ?? attributes.tokens)?.count ?? null;
}

/** Whether a rewrite will change how a block is shown. */
export function isPendingRewrite(
  { shown, wanted }: { readonly shown: Shown; readonly wanted: Shown },
  attributes: BlockAttributes,
): boolean {
  return shown !== "absent" && shown !== wanted && hasTextFor(attributes, wanted);
}

/** A level without a rendition uses the next level above it; without any, the block is shown whole. */
function hasTextFor({ renditions }: BlockAttributes, wanted: Shown): boolean {
  if (wanted === "original" || wanted === "placeholder" || wanted === "absent") return true;
  return levels.slice(1, levels.indexOf(wanted) + 1).some((level) => renditions[level] !== undefined);
}

/** The change that is wanted but not shown yet, and what it waits for. */
export function pendingRow(
  blockView: BlockView,
  attributes: BlockAttributes,
  mode: StreamMode,
): PendingRow | null {
  const pending = pendingChange(blockView);
  if (pending === null) return null;
  const { shown, wanted } = pending;
  const [before, after] = [tokensAs(attributes, shown), tokensAs(attributes, wanted)];
  const frees = before === null || after === null ? null : before - after;
  if (!hasTextFor(attributes, wanted)) return { shown, wanted, frees: 0, waitsFor: "text" };
  return { shown, wanted, frees, waitsFor: mode === "observe" ? "managed" : "rewrite" };
}

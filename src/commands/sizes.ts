import type { BlockId } from "../base/index.ts";
import type { AddedBlock, Delta, Shown } from "../engine/frames/index.ts";
import type { View } from "../engine/index.ts";
import {
  attributesOf,
  type BlockView,
  blockViewOf,
  factValue,
  isPinned,
  type Moment,
  pairOf,
  viewBlocks,
  wantedOf,
} from "../engine/moment/index.ts";

type ViewAtMoment = { readonly moment: Moment; readonly view: View };

/** The tokens of a block in a form; null if they are not counted. A placeholder is too small to count. */
export function tokensInForm(moment: Moment, block: BlockId, form: Shown): number | null {
  if (form === "placeholder" || form === "absent") return 0;
  const notes = attributesOf(moment, block);
  return (form === "original" ? notes?.tokens : notes?.renditions[form]?.tokens)?.count ?? null;
}

export function wantedTokens(blockView: BlockView): number {
  const { moment, block } = blockView;
  return (
    tokensInForm(moment, block.id, wantedOf(blockView)) ?? tokensInForm(moment, block.id, "original") ?? 0
  );
}

/** The blocks that the deltas would show at another level, or archive. Moving a block is not counted. */
export function blocksChangedBy(
  { moment, view }: ViewAtMoment,
  deltas: readonly Delta[],
): readonly BlockView[] {
  const ids = deltas.flatMap((delta) =>
    delta.type === "level-set" || delta.type === "archive-set" ? [delta.block] : [],
  );
  return [...new Set(ids)].flatMap((id) => blockViewOf(moment, view, id) ?? []);
}

/** The tokens of all pinned blocks and of `pinned`, each with its pair. */
export function pinnedTokens(at: ViewAtMoment, pinned: readonly BlockId[]): number {
  const { moment, view } = at;
  const pinnedViews = pinned.flatMap((id) => blockViewOf(moment, view, id) ?? []);
  const added = new Set(pinnedViews.flatMap(pairOf).map(({ block }) => block.id));
  return sumTokens(at, (blockView) => added.has(blockView.block.id) || isPinned(blockView));
}

/** The tokens of all memories but the archived ones and the one about to be replaced. */
export function memoryTokens(at: ViewAtMoment, replaced: BlockId | null): number {
  return sumTokens(
    at,
    (blockView, { id, kind }) =>
      kind === "memory" && id !== replaced && factValue(blockView, "archive") === null,
  );
}

/** The model's own text and reasoning are always sent unchanged, whatever their level. */
export function isModelSpeech({ block: { kind } }: BlockView): boolean {
  return kind === "assistant" || kind === "reasoning";
}

/** The tokens that a block in this form would free; null if its size in the form is not known. */
export function freedTokens(blockView: BlockView, form: Shown): number | null {
  if (isModelSpeech(blockView)) return 0;
  const tokens = tokensInForm(blockView.moment, blockView.block.id, form);
  return tokens === null ? null : wantedTokens(blockView) - tokens;
}

function sumTokens(at: ViewAtMoment, counts: (blockView: BlockView, block: AddedBlock) => boolean): number {
  let total = 0;
  for (const block of viewBlocks(at.moment, at.view)) {
    const blockView = blockViewOf(at.moment, at.view, block.id);
    if (blockView !== null && counts(blockView, block)) total += wantedTokens(blockView);
  }
  return total;
}

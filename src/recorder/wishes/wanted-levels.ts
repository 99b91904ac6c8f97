import type { BlockId, ViewId } from "../../base/index.ts";
import { type Delta, type FactDelta, levels, type Shown } from "../../engine/frames/index.ts";
import type { State, View } from "../../engine/index.ts";
import {
  attributesOf,
  type BlockView,
  blockViewOf,
  factOf,
  factValue,
  isFocused,
  isPinned,
  isWithheld,
  now,
  pairOf,
  shownOf,
  viewBlocks,
  wantedOf,
} from "../../engine/moment/index.ts";
import { type LevelWish, placeholderTokens } from "../../exchange/index.ts";
import type { Store } from "../../store/index.ts";
import type { LevelText } from "../level-texts.ts";
import type { Renditions } from "../renditions.ts";

export type LevelWishInput = {
  readonly state: State;
  readonly view: View;
  readonly renditions: Renditions;
  readonly store: Pick<Store, "content">;
};

/** The level wishes of these blocks. Withheld blocks are left out: the planner gets those separately. */
export async function levelWishes(
  input: LevelWishInput,
  blocks: readonly BlockId[],
): Promise<readonly LevelWish[]> {
  const wishes: LevelWish[] = [];
  for (const block of blocks) {
    const blockView = blockViewOf(now(input.state), input.view, block);
    if (blockView === null || isWithheld(blockView)) continue;
    const wish = await levelWish(input, blockView);
    if (!isWithoutEffect(input, blockView, wish)) wishes.push(wish);
  }
  return wishes;
}

/**
 * True if a block that is shown whole stays whole whatever level is wanted: output of the model, and blocks
 * without a shorter text. Most old blocks are like that, and with a wish for each the planner would search
 * the whole path for nothing.
 */
function isWithoutEffect(
  { state, view }: LevelWishInput,
  { block }: BlockView,
  { as, text, input, tokens }: LevelWish,
) {
  const moment = now(state);
  if (as === "original" || shownOf(moment, view, block.id) !== "original") return false;
  const isFromModel = block.kind === "assistant" || block.kind === "reasoning";
  const tokensWhole = attributesOf(moment, block.id)?.tokens?.count ?? Number.POSITIVE_INFINITY;
  return isFromModel || (text === null && input === null) || tokens >= tokensWhole;
}

/** True if a lower level than the original is wanted. */
export function isWantedLower(state: State, view: View, block: BlockId): boolean {
  const blockView = blockViewOf(now(state), view, block);
  return blockView !== null && wantedOf(blockView) !== "original";
}

/** All blocks that are not shown whole or should not be, for a planner that knows nothing yet. */
export function loweredBlocks({ state, view }: LevelWishInput): readonly BlockId[] {
  const moment = now(state);
  const isLowered = (block: BlockId): boolean => {
    const blockView = blockViewOf(moment, view, block);
    if (blockView === null) return false;
    const shown = shownOf(moment, view, block);
    return wantedOf(blockView) !== "original" || (shown !== "original" && shown !== "absent");
  };
  return [...viewBlocks(moment, view)].map(({ id }) => id).filter(isLowered);
}

async function levelWish(
  { state, renditions, store }: LevelWishInput,
  blockView: BlockView,
): Promise<LevelWish> {
  const { id: block } = blockView.block;
  const as = wantedOf(blockView);
  const reason = factValue(blockView, "archive")?.reason ?? "";
  const text = await textFor(as, (level) => renditions.textAt(state, block, { level, store }));
  return { block, as, reason, ...(text ?? noText) };
}

const noText: LevelText = { text: null, input: null, tokens: 0 };

type LevelTextReader = (level: (typeof levels)[number]) => Promise<LevelText | null>;

/** The text of a level, or of the next level above it that has one. */
async function textFor(as: Shown, readText: LevelTextReader): Promise<LevelText | null> {
  if (as === "original" || as === "absent") return null;
  if (as === "placeholder") {
    const { text = "", input = null } = (await readText("minimal")) ?? {};
    return { text: input === null ? (text ?? "") : null, input, tokens: placeholderTokens };
  }
  for (let at = levels.indexOf(as); at > 0; at -= 1) {
    const levelText = await readText(levels[at] ?? "original");
    if (levelText !== null) return levelText;
  }
  return null;
}

type HoldDelta = Extract<FactDelta, { type: "pin-set" | "selection-set" | "focus-set" | "level-set" }>;

/** True if the delta may make a block a held one. */
export function mayHoldBlock(delta: Delta): delta is HoldDelta {
  if (delta.type === "level-set") return delta.to.by !== "policy";
  return delta.type === "pin-set" || delta.type === "selection-set" || delta.type === "focus-set";
}

/** Those of the blocks that must not be shown shorter: pinned, selected, focused, or wanted whole. */
export function heldBlocks(state: State, view: ViewId, blocks: ReadonlySet<BlockId>): readonly number[] {
  const found = state.views.get(view);
  if (found === undefined) return [];
  const members = [...blocks].flatMap((block) => {
    const blockView = blockViewOf(now(state), found, block);
    return blockView !== null && isHeld(blockView) ? pairOf(blockView) : [];
  });
  return [...new Set(members.map(({ block }) => Number(block.id)))];
}

function isHeld(blockView: BlockView): boolean {
  const { value, by } = factOf(blockView, "level");
  const isKept = value === "original" && by !== "policy";
  return isKept || isPinned(blockView) || isFocused(blockView) || factValue(blockView, "selection");
}

import type { BlockId, ViewId } from "../../base/index.ts";
import {
  blocksOf,
  type Delta,
  type FactDelta,
  factOf,
  factValue,
  isFocused,
  isPinned,
  isWithheld,
  levels,
  notesOf,
  now,
  type Place,
  pairOf,
  placeOf,
  type Shown,
  type State,
  shownOf,
  type View,
  wantedOf,
} from "../../engine/index.ts";
import type { Store } from "../../store/index.ts";
import { prunedTokens, type WantedBlock } from "../desk-port.ts";
import type { LevelWords } from "./level-words.ts";
import type { Renditions } from "./renditions.ts";

export type WantedAsked = {
  readonly state: State;
  readonly view: View;
  readonly renditions: Renditions;
  readonly store: Pick<Store, "content">;
};

/** How some blocks are to be shown, for the desk. What is withheld it is told in another way. */
export async function wantedBlocks(
  asked: WantedAsked,
  blocks: readonly BlockId[],
): Promise<readonly WantedBlock[]> {
  const wanted: WantedBlock[] = [];
  for (const block of blocks) {
    const place = placeOf(now(asked.state), asked.view, block);
    if (place === null || isWithheld(place)) continue;
    const told = await wantedBlock(asked, place);
    if (!isIdle(asked, place, told)) wanted.push(told);
  }
  return wanted;
}

/**
 * Whether a block that is shown whole stays whole, whatever is wanted: the model's own words do, and so does
 * what has nothing shorter to say. Most of what ages is such, and a desk that heard of it would look at the
 * whole path for nothing.
 */
function isIdle({ state, view }: WantedAsked, { block }: Place, { as, text, input, tokens }: WantedBlock) {
  const moment = now(state);
  if (as === "original" || shownOf(moment, view, block.id) !== "original") return false;
  const isSpoken = block.kind === "assistant" || block.kind === "reasoning";
  const whole = notesOf(moment, block.id)?.tokens?.count ?? Number.POSITIVE_INFINITY;
  return isSpoken || (text === null && input === null) || tokens >= whole;
}

/** Whether less of a block is wanted than all of it. */
export function isWantedLower(state: State, view: View, block: BlockId): boolean {
  const place = placeOf(now(state), view, block);
  return place !== null && wantedOf(place) !== "original";
}

/** All that is not shown whole, or is not to be: for a desk that has forgotten. */
export function loweredBlocks({ state, view }: WantedAsked): readonly BlockId[] {
  const moment = now(state);
  const isLowered = (block: BlockId): boolean => {
    const place = placeOf(moment, view, block);
    if (place === null) return false;
    const shown = shownOf(moment, view, block);
    return wantedOf(place) !== "original" || (shown !== "original" && shown !== "absent");
  };
  return [...blocksOf(moment, view)].map(({ id }) => id).filter(isLowered);
}

async function wantedBlock({ state, renditions, store }: WantedAsked, place: Place): Promise<WantedBlock> {
  const { id: block } = place.block;
  const as = wantedOf(place);
  const reason = factValue(place, "archive")?.reason ?? "";
  const words = await wordsAs(as, (level) => renditions.words(state, block, { level, store }));
  return { block, as, reason, ...(words ?? nothing) };
}

const nothing: LevelWords = { text: null, input: null, tokens: 0 };

type WordsOf = (level: (typeof levels)[number]) => Promise<LevelWords | null>;

/** Where a level has no words of its own, the next one above it that has. */
async function wordsAs(as: Shown, wordsOf: WordsOf): Promise<LevelWords | null> {
  if (as === "original" || as === "absent") return null;
  if (as === "placeholder") {
    const { text = "", input = null } = (await wordsOf("minimal")) ?? {};
    return { text: input === null ? (text ?? "") : null, input, tokens: prunedTokens };
  }
  for (let at = levels.indexOf(as); at > 0; at -= 1) {
    const words = await wordsOf(levels[at] ?? "original");
    if (words !== null) return words;
  }
  return null;
}

type Holding = Extract<FactDelta, { type: "pin-set" | "selection-set" | "focus-set" | "level-set" }>;

/** Whether it may make a block one that is held. */
export function isHolding(delta: Delta): delta is Holding {
  if (delta.type === "level-set") return delta.to.by !== "policy";
  return delta.type === "pin-set" || delta.type === "selection-set" || delta.type === "focus-set";
}

/** Those of some blocks that must not be shown shorter: pinned, selected, focused on, or wanted whole. */
export function heldBlocks(state: State, view: ViewId, blocks: ReadonlySet<BlockId>): readonly number[] {
  const seen = state.views.get(view);
  if (seen === undefined) return [];
  const members = [...blocks].flatMap((block) => {
    const place = placeOf(now(state), seen, block);
    return place !== null && isHeld(place) ? pairOf(place) : [];
  });
  return [...new Set(members.map(({ block }) => Number(block.id)))];
}

function isHeld(place: Place): boolean {
  const { value, by } = factOf(place, "level");
  const isKept = value === "original" && by !== "policy";
  return isKept || isPinned(place) || isFocused(place) || factValue(place, "selection");
}

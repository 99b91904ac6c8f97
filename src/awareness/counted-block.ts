import type { BlockId } from "../base/index.ts";
import type { AddedBlock, Shown, Tokens } from "../engine/frames/index.ts";
import {
  attributesOf,
  type BlockView,
  isWithheld,
  lastSentTurn,
  type Moment,
  shownOf,
  type Zone,
  zoneOf,
} from "../engine/moment/index.ts";

/** A block as the manifest counts it. */
export type CountedBlock = {
  readonly blockView: BlockView;
  readonly zone: Zone;
  readonly shown: Shown;
  readonly tokens: number;
  readonly exact: boolean;
};

/** Null if the block is neither in the window nor cold: a fork left it behind. */
export function countBlock(place: BlockView): CountedBlock | null {
  const { moment, view, block } = place;
  const { id } = block;
  const shown = shownOf(moment, view, id);
  const zone = zoneOf(place);
  const isCold = zone === "cold" && (shown === "placeholder" || shown === "absent");
  if (isCold) {
    const { count, exact } = tokensShown(moment, id, "original");
    return { blockView: place, zone, shown, tokens: count, exact };
  }
  if (shown === "absent" && !isNew(place)) return null;
  const { count, exact } = tokensShown(moment, id, shown === "absent" ? "original" : shown);
  // An archived block that is still shown takes its tokens until the next rewrite.
  return { blockView: place, zone: zone === "cold" ? "middle" : zone, shown, tokens: count, exact };
}

/** True if the block is not sent yet and will be with the next request. */
export function isNew(place: BlockView): boolean {
  const sentSeq = lastSentTurn(place.moment, place.view)?.seq ?? 0;
  return place.block.addedSeq > sentSeq && place.block.stream === place.view.stream && !isWithheld(place);
}

export function speakerOf({ kind, taint }: AddedBlock): "user" | "assistant" | "tool" {
  if (kind === "assistant" || kind === "reasoning") return "assistant";
  if (kind === "tool-call" || kind === "tool-result") return "tool";
  if (kind === "memory") return taint === "user" ? "user" : "assistant";
  return kind === "media" && taint === "untrusted" ? "tool" : "user";
}

const listMax = 12;

/** The largest items, as many as a list may have. */
export function largest<T extends { readonly tokens: number }>(all: readonly T[]): readonly T[] {
  return [...all].sort((a, b) => b.tokens - a.tokens).slice(0, listMax);
}

const nothing: Tokens = { count: 0, exact: true };

/** The tokens of a block in that form. A placeholder is one short line of ours and counts as none. */
export function tokensShown(moment: Moment, id: BlockId, shown: Shown): Tokens {
  if (shown === "placeholder" || shown === "absent") return nothing;
  const notes = attributesOf(moment, id);
  return notes?.renditions[shown]?.tokens ?? notes?.tokens ?? { count: 0, exact: false };
}

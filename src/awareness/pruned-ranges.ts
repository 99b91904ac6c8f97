import { must } from "../base/index.ts";
import type { View } from "../engine/index.ts";
import {
  attributesOf,
  type BlockView,
  blockViewOf,
  factValue,
  lifecycleOf,
  type Moment,
  shownOf,
  viewBlocks,
} from "../engine/moment/index.ts";
import { spanOf } from "./id-ranges.ts";

/** Neighbouring messages that are shown as placeholders only, collapsed into one range. */
export type PrunedRange = {
  readonly from: number;
  readonly to: number;
  readonly reasons: readonly string[];
  /** Reasoning blocks that are preserved in the range. */
  readonly signatures: number;
};

/** The ranges of a view, first to last. */
export function prunedRanges(moment: Moment, view: View): readonly PrunedRange[] {
  return rangesAmong(showableBlocks(moment, view));
}

/** Every block of a view that may be shown, in order. */
export function showableBlocks(moment: Moment, view: View): readonly BlockView[] {
  const places = [...viewBlocks(moment, view)].map(({ id }) => blockViewOf(moment, view, id));
  return places.map((place) => must(place, "a view reaches its blocks")).filter(isShowable);
}

/** Activations and ephemeral blocks are part of no context. */
export function isShowable({ block: { kind, ephemeral } }: BlockView): boolean {
  return kind !== "activation" && ephemeral === undefined;
}

export function rangesAmong(all: readonly BlockView[]): readonly PrunedRange[] {
  const ranges: PrunedRange[] = [];
  let open: BlockView[] = [];
  const close = (): void => {
    if (open.length > 0) ranges.push(rangeOf(open));
    open = [];
  };
  for (const places of messagesAmong(all)) {
    if (places.every(isPruned)) open.push(...places);
    else close();
  }
  close();
  return ranges;
}

function messagesAmong(all: readonly BlockView[]): readonly (readonly BlockView[])[] {
  const messages = new Map<number, BlockView[]>();
  for (const place of all) {
    const places = messages.get(place.block.message);
    if (places === undefined) messages.set(place.block.message, [place]);
    else places.push(place);
  }
  return [...messages.values()];
}

/** True for a placeholder and an archived block that left the ledger, not for one a fork left behind. */
export function isPruned(place: BlockView): boolean {
  const shown = shownOf(place.moment, place.view, place.block.id);
  return shown === "placeholder" || (shown === "absent" && lifecycleOf(place) === "evicted");
}

function rangeOf(places: readonly BlockView[]): PrunedRange {
  const reasons = new Set<string>();
  let signatures = 0;
  for (const place of places) {
    const archive = factValue(place, "archive");
    if (archive !== null) reasons.add(archive.reason);
    if (place.block.kind === "reasoning" && !attributesOf(place.moment, place.block.id)?.purged)
      signatures += 1;
  }
  return { ...spanOf(places.map(({ block }) => block.message)), reasons: [...reasons], signatures };
}

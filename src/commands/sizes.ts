import type { BlockId } from "../base/index.ts";
import {
  type AddedBlock,
  blocksOf,
  type Delta,
  factValue,
  isPinned,
  type Moment,
  notesOf,
  type Place,
  pairOf,
  placeOf,
  type Shown,
  type View,
  wantedOf,
} from "../engine/index.ts";

type Sight = { readonly moment: Moment; readonly view: View };

/** What a block takes in that form; null where nobody has counted. A placeholder is too small to count. */
export function tokensAs(moment: Moment, block: BlockId, form: Shown): number | null {
  if (form === "placeholder" || form === "absent") return 0;
  const notes = notesOf(moment, block);
  return (form === "original" ? notes?.tokens : notes?.renditions[form]?.tokens)?.count ?? null;
}

export function tokensWanted(place: Place): number {
  const { moment, block } = place;
  return tokensAs(moment, block.id, wantedOf(place)) ?? tokensAs(moment, block.id, "original") ?? 0;
}

/** What would be shown otherwise than it is wanted now: the reach of a change. Moving is not counted. */
export function changedPlaces({ moment, view }: Sight, deltas: readonly Delta[]): readonly Place[] {
  const ids = deltas.flatMap((delta) =>
    delta.type === "level-set" || delta.type === "archive-set" ? [delta.block] : [],
  );
  return [...new Set(ids)].flatMap((id) => placeOf(moment, view, id) ?? []);
}

/** What pins take, these blocks among them, each with its pair. */
export function pinnedTokens(sight: Sight, pinned: readonly BlockId[]): number {
  const { moment, view } = sight;
  const places = pinned.flatMap((id) => placeOf(moment, view, id) ?? []);
  const also = new Set(places.flatMap(pairOf).map(({ block }) => block.id));
  return sum(sight, (place) => also.has(place.block.id) || isPinned(place));
}

/** What memories take that are not archived and not about to be replaced. */
export function memoryTokens(sight: Sight, replaced: BlockId | null): number {
  return sum(
    sight,
    (place, { id, kind }) => kind === "memory" && id !== replaced && factValue(place, "archive") === null,
  );
}

/** The model's own words and reasoning are always sent as it said them, however they are wanted. */
export function isSpoken({ block: { kind } }: Place): boolean {
  return kind === "assistant" || kind === "reasoning";
}

/** Tokens that a block would free in that form; null where its size there is not known. */
export function freedTokens(place: Place, form: Shown): number | null {
  if (isSpoken(place)) return 0;
  const then = tokensAs(place.moment, place.block.id, form);
  return then === null ? null : tokensWanted(place) - then;
}

function sum(sight: Sight, counts: (place: Place, block: AddedBlock) => boolean): number {
  let total = 0;
  for (const block of blocksOf(sight.moment, sight.view)) {
    const place = placeOf(sight.moment, sight.view, block.id);
    if (place !== null && counts(place, block)) total += tokensWanted(place);
  }
  return total;
}

import { hashContent } from "../../base/index.ts";
import type { RewriteReason } from "../../engine/index.ts";
import type { Item } from "./draft.ts";
import { bytesOf, isReasoning, type Place, pathTo, sentOf, type UnitFacts } from "./place.ts";

/** Units to be shown in other words from now on, by the key of the client's unit. */
export type Rewrite = {
  readonly replacements: ReadonlyMap<string, Uint8Array>;
  readonly reason: RewriteReason;
};

export type Rewritten = {
  /** The last place that stays as it is. */
  readonly cut: Place;
  /** Everything that was sent behind it, once more. */
  readonly items: readonly Item[];
  readonly reason: RewriteReason;
};

/** What a path is to show from now on. */
export type Wanted = {
  readonly wordsFor: (facts: UnitFacts) => Uint8Array | undefined;
  readonly reason: RewriteReason;
};

/** Renders a path anew from the first unit that is to be shown otherwise. */
export function rewritePath(end: Place, wanted: Wanted): Rewritten | null {
  const path = pathTo(end).filter(({ sent }) => sent !== null);
  const first = path.findIndex((place) => isOtherwise(place, wanted));
  const cut = path[first]?.parent ?? null;
  if (first === -1 || cut === null) return null;
  const items = path.slice(first).map((place) => rewrittenItem(place, wanted));
  return { cut, items, reason: wanted.reason };
}

/** What is left of items that come to stand behind other words than they were made behind. */
export function withoutReasoning(items: readonly Item[]): readonly Item[] {
  const left: Item[] = [];
  let mustOpen = false;
  for (const item of items) {
    mustOpen ||= item.opens;
    if (item.facts.kind === "reasoning") continue;
    left.push(item.opens === mustOpen ? item : { ...item, opens: mustOpen });
    mustOpen = false;
  }
  return left;
}

function isOtherwise(place: Place, { wordsFor }: Wanted): boolean {
  const words = place.origin === "aperture" ? undefined : wordsFor(place.facts);
  return words !== undefined && Buffer.compare(words, bytesOf(place)) !== 0;
}

function rewrittenItem(place: Place, { wordsFor }: Wanted): Item {
  const { facts, origin, wrapping, opens, extra } = place;
  const words = origin === "aperture" ? undefined : wordsFor(facts);
  const shown = Uint8Array.from(bytesOf(place));
  const bytes = words ?? shown;
  const isRewritten = place.isRewritten || words !== undefined;
  const original = place.isRewritten || words === undefined ? place.original : shown;
  const said = { facts, origin, wrapping, opens, extra, bytes, hash: hashContent(bytes) };
  return {
    ...said,
    at: null,
    place: null,
    isRewritten,
    isFromElsewhere: isReasoning(place),
    original,
    from: place,
    numbered: place.numbered,
    isHeader: place.isHeader && words === undefined,
  };
}

/** What the log calls the cut. */
export function cutId({ cut }: Rewritten): string | null {
  const { id } = sentOf(cut);
  return id === "" ? null : id;
}

import { hashContent } from "../../base/index.ts";
import type { RewriteReason } from "../../engine/index.ts";
import type { Item } from "./draft.ts";
import { bytesOf, type Place, pathTo, sentOf } from "./place.ts";

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

/**
 * Renders a path anew from the first unit that is to be shown otherwise. What is bound to the old words, the
 * reasoning behind the cut, is left out.
 */
export function rewritePath(
  end: Place,
  { replacements, reason }: Rewrite,
  isBound: boolean,
): Rewritten | null {
  const path = pathTo(end).filter(({ sent }) => sent !== null);
  const first = path.findIndex((place) => isOtherwise(place, replacements));
  const cut = path[first]?.parent ?? null;
  if (first === -1 || cut === null) return null;
  const items = path.slice(first).map((place) => rewrittenItem(place, replacements));
  return { cut, items: isBound ? withoutReasoning(items) : items, reason };
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

function isOtherwise(place: Place, replacements: Rewrite["replacements"]): boolean {
  const wanted = place.origin === "aperture" ? undefined : replacements.get(place.facts.key);
  return wanted !== undefined && Buffer.compare(wanted, bytesOf(place)) !== 0;
}

function rewrittenItem(place: Place, replacements: Rewrite["replacements"]): Item {
  const { facts, origin, wrapping, opens, extra } = place;
  const wanted = origin === "aperture" ? undefined : replacements.get(facts.key);
  const bytes = wanted ?? Uint8Array.from(bytesOf(place));
  const isRewritten = place.isRewritten || wanted !== undefined;
  const said = { facts, origin, wrapping, opens, extra, bytes, hash: hashContent(bytes) };
  return { ...said, at: null, place: null, isRewritten, from: place };
}

/** What the log calls the cut. */
export function cutId({ cut }: Rewritten): string | null {
  const { id } = sentOf(cut);
  return id === "" ? null : id;
}

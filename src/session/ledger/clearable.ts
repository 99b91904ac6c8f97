import { editOf } from "./clearing.ts";
import type { Item } from "./draft.ts";
import { clearedTokens, type Place } from "./place.ts";
import { headerIn } from "./renumber.ts";
import { otherFor, type WantedBlocks } from "./wanted.ts";

/** A path that is to be shown shorter. */
export type ClearingAsked = {
  readonly path: readonly Place[];
  /** What comes behind it. */
  readonly items: readonly Item[];
  readonly wanted: WantedBlocks;
  /** Blocks that stay as they are. */
  readonly held: ReadonlySet<number>;
  /** Whether a place belongs to what the model works on now. */
  readonly isWorking: (at: number) => boolean;
  /** Tokens that have to go; 0: what is wanted, and nothing else. */
  readonly toFree: number;
};

/**
 * The results that the provider would have to leave out in place of a rewrite of ours, those it leaves out
 * already included; null where it cannot be asked for that. It takes away whole results, the oldest first.
 */
export function clearable(asked: ClearingAsked): ReadonlySet<Place> | null {
  const { path, items, toFree } = asked;
  const cleared = toFree > 0 ? oldestResults(asked) : wantedResults(asked);
  if (cleared === null) return null;
  const gone = new Set([...cleared].map(({ numbered }) => numbered?.block));
  // What refers to lines that go would have to say them itself: that is more than an edit can do.
  const refers = ({ showing }: Pick<Place, "showing">): boolean =>
    showing.borrows.some((block) => gone.has(block));
  if (path.some((place) => !cleared.has(place) && refers(place)) || items.some(refers)) return null;
  const edit = editOf({ path, items }, ({ place }) => place !== null && cleared.has(place));
  return edit === null ? null : cleared;
}

/** Where nothing is wanted but that results are not seen any more. */
function wantedResults({ path, wanted, ...asked }: ClearingAsked): ReadonlySet<Place> | null {
  const mayGo = removable({ path, ...asked });
  const cleared = new Set<Place>();
  for (const [at, place] of path.entries()) {
    const other = otherFor(place, wanted);
    if (other !== null && (other.as !== "placeholder" || !mayGo(place, at))) return null;
    if (other !== null || place.showing.isCleared === true) cleared.add(place);
  }
  return cleared;
}

/** As many as it takes, the results of one message together. */
function oldestResults({ path, toFree, ...asked }: ClearingAsked): ReadonlySet<Place> | null {
  const mayGo = removable({ path, ...asked });
  const cleared = new Set<Place>();
  let left = toFree;
  for (const [at, place] of path.entries()) {
    if (place.opens && left <= 0) break;
    if (place.facts.type !== "tool_result") continue;
    if (asked.isWorking(at)) break;
    if (place.showing.isCleared !== true && !mayGo(place, at)) continue;
    cleared.add(place);
    left -= (place.showing.tokens ?? place.numbered?.tokens ?? 0) - clearedTokens;
  }
  return left <= 0 ? cleared : null;
}

type Removable = Pick<ClearingAsked, "path" | "held" | "isWorking">;

/** Whether nobody holds a result, and the model was told what to ask for if it wants it back. */
function removable({ path, held, isWorking }: Removable): (place: Place, at: number) => boolean {
  const named = namedIn(path);
  return ({ facts, numbered, isHeader }, at) => {
    if (facts.type !== "tool_result" || numbered === null || held.has(numbered.block)) return false;
    // A header that stands inside a result goes with it.
    return named.has(numbered.block) && !isHeader && !isWorking(at);
  };
}

/**
 * The blocks whose numbers stand in a header on this path. That one stands behind a block does not tell: the
 * block may have been numbered since.
 */
function namedIn(path: readonly Place[]): ReadonlySet<number> {
  const named = new Set<number>();
  for (const place of path) {
    // What a manifest names is gone with the manifest.
    for (const [, first, last] of (headerIn(place) ?? "").matchAll(/#(\d{1,9})(?:\.\.#(\d{1,9}))?/g)) {
      const [from, to] = [Number(first), Number(last ?? first)];
      for (let block = from; block <= Math.min(to, from + rangeMax); block += 1) named.add(block);
    }
  }
  return named;
}

/** More blocks than these come between two headers in no session. */
const rangeMax = 10_000;

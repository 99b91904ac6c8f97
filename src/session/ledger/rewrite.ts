import { hashContent } from "../../base/index.ts";
import type { PredictedBill, RewriteReason } from "../../engine/index.ts";
import type { Money, RewriteBill } from "../../render/index.ts";
import type { SentEpoch } from "../exchange.ts";
import type { Item } from "./draft.ts";
import {
  bytesOf,
  type Firstly,
  isReasoning,
  type Place,
  pathTo,
  type Showing,
  sentOf,
  type UnitFacts,
  wholly,
} from "./place.ts";

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
  /** Provider: nothing is said in other words, so what was thought behind it holds. */
  readonly means: "own" | "provider";
  /** What it was expected to cost; null where nobody asked. */
  readonly bill: RewriteBill | null;
  readonly freed: number;
};

/** A unit in the words it is to have from now on. */
export type Reworded = { readonly bytes: Uint8Array; readonly showing: Showing };

/** What a path is to show from now on. */
export type Wanted = {
  readonly wordsFor: (place: Place) => Reworded | undefined;
  readonly reason: RewriteReason;
  readonly means: "own" | "provider";
  readonly bill: RewriteBill | null;
  /** About how much smaller the prompt becomes. */
  readonly freed: number;
};

/** Renders a path anew from the first unit that is to be shown otherwise. */
export function rewritePath(end: Place, { wordsFor, ...why }: Wanted): Rewritten | null {
  const path = pathTo(end).filter(({ sent }) => sent !== null);
  const words = new Map<Place, Reworded>();
  for (const place of path) {
    const other = wordsFor(place);
    if (other !== undefined && isOther(other, place)) words.set(place, other);
  }
  const lenders = new Map(path.map((place) => [place.numbered?.block, place]));
  for (const place of path) lendBack(place, lenders, words);
  const first = path.findIndex((place) => words.has(place));
  const cut = path[first]?.parent ?? null;
  if (first === -1 || cut === null) return null;
  const isSaid = why.means === "own";
  const items = path.slice(first).map((place) => rewrittenItem(place, words.get(place), isSaid));
  return { cut, items, ...why };
}

function isOther({ bytes, showing }: Reworded, place: Place): boolean {
  return showing.isCleared !== place.showing.isCleared || Buffer.compare(bytes, bytesOf(place)) !== 0;
}

type Lenders = ReadonlyMap<number | undefined, Place>;

/** What refers to lines that will not be shown any more says them itself again. */
function lendBack(place: Place, lenders: Lenders, words: Map<Place, Reworded>): void {
  const { borrows } = (words.get(place) ?? place).showing;
  if (borrows.length === 0 || place.original === null) return;
  const isGone = (block: number): boolean => {
    const lender = lenders.get(block);
    return lender === undefined || (words.get(lender)?.showing ?? lender.showing).as !== "original";
  };
  if (borrows.some(isGone)) words.set(place, { bytes: place.original, showing: wholly });
}

/** What was heard behind words that are still the same was not said behind others, wherever it now stands. */
export function behindCut(heard: readonly Item[], rewritten: Rewritten | null): readonly Item[] {
  if (rewritten?.means !== "provider") return heard;
  return heard.map((item) => ({ ...item, place: null, from: item.place }));
}

/** Where the model's last words begin: what it works on now. */
export function lastAnswer(items: readonly Pick<Place, "opens" | "wrapping">[]): number {
  return items.findLastIndex(({ opens, wrapping }) => opens && wrapping.role === "assistant");
}

/** What is left of items that come to stand behind other words than they were made behind; of the first. */
export function withoutReasoning(items: readonly Item[], before = items.length): readonly Item[] {
  const left: Item[] = [];
  let mustOpen = false;
  for (const [at, item] of items.entries()) {
    mustOpen ||= item.opens;
    if (item.facts.kind === "reasoning" && at < before) continue;
    left.push(item.opens === mustOpen ? item : { ...item, opens: mustOpen });
    mustOpen = false;
  }
  return left;
}

/** All of it was shown in fewer lines than the client's: that is what it is shown as again. */
function firstOf(place: Place): Firstly | null {
  const { isRewritten, isHeader, showing } = place;
  if (!isRewritten || isHeader || showing.as !== "original") return null;
  return { bytes: Uint8Array.from(bytesOf(place)), showing };
}

function rewrittenItem(place: Place, words: Reworded | undefined, isSaidOtherwise: boolean): Item {
  const { facts, origin, wrapping, opens, extra } = place;
  const shown = Uint8Array.from(bytesOf(place));
  const bytes = words?.bytes ?? shown;
  const said = { facts, origin, wrapping, opens, extra, bytes, hash: hashContent(bytes) };
  const original = place.isRewritten || words === undefined ? place.original : shown;
  return {
    ...said,
    at: null,
    place: null,
    isRewritten: place.isRewritten || words !== undefined,
    isFromElsewhere: isReasoning(place) && (isSaidOtherwise || place.isFromElsewhere),
    original,
    first: place.first ?? firstOf(place),
    from: place,
    numbered: place.numbered,
    showing: words?.showing ?? place.showing,
    isHeader: place.isHeader && words === undefined,
  };
}

/** Words that somebody has chosen for a unit. */
export function replacedWords(
  replacements: Rewrite["replacements"] | undefined,
  { key }: UnitFacts,
): Reworded | undefined {
  const bytes = replacements?.get(key);
  return bytes === undefined
    ? undefined
    : { bytes, showing: { as: "summarized", tokens: null, borrows: [] } };
}

/** For the log. */
export function epochOf({ cut, reason, means, bill }: Rewritten): SentEpoch {
  const { id } = sentOf(cut);
  const predicted = bill === null ? null : predictedBill(bill);
  return { cut: id === "" ? null : id, reason, means, predicted };
}

function predictedBill({ rewritten, unchanged, savedEach }: RewriteBill): PredictedBill {
  const round = ({ tokens }: Money): number => Math.round(tokens);
  return {
    rewritten: round(rewritten),
    unchanged: round(unchanged),
    savedEach: Math.max(0, round(savedEach)),
  };
}

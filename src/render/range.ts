import { must } from "../base/index.ts";
import {
  blocksOf,
  factValue,
  lifecycleOf,
  type Moment,
  notesOf,
  type Place,
  placeOf,
  shownOf,
  type View,
} from "../engine/index.ts";
import { spanOf } from "./numbers.ts";
import { safeText, shortened } from "./safe-text.ts";

/** Neighbouring messages of which nothing but placeholders is shown, collapsed into one. */
export type PrunedRange = {
  readonly from: number;
  readonly to: number;
  readonly reasons: readonly string[];
  /** Reasoning that is preserved behind it. */
  readonly signatures: number;
};

const reasonsMax = 5;
const reasonCharsMax = 80;

export function rangeText(nonce: string, ranges: readonly PrunedRange[]): string {
  return [`--- PRUNED MESSAGE RANGES --- | ${nonce}`, ...ranges.map((range) => rangeLine(nonce, range))].join(
    "\n",
  );
}

function rangeLine(nonce: string, { from, to, reasons, signatures }: PrunedRange): string {
  const texts = reasons.map((reason) => shortened(safeText(reason, nonce), reasonCharsMax));
  const distinct = [...new Set(texts.filter((text) => text !== ""))];
  const more = distinct.length > reasonsMax ? [`+${distinct.length - reasonsMax} more`] : [];
  const said = distinct.length === 0 ? ["no reason given"] : [...distinct.slice(0, reasonsMax), ...more];
  return (
    `- Messages ID: ${from} to ${to} are PRUNED | Reasons: {${said.join(", ")}} | ` +
    `Thought Signatures Preserved: ${signatures}`
  );
}

/** The ranges of a view as it stands, first to last. */
export function prunedRanges(moment: Moment, view: View): readonly PrunedRange[] {
  return rangesAmong(placesIn(moment, view));
}

/** Every block of a view that may be shown where the view sees it, in the order they came. */
export function placesIn(moment: Moment, view: View): readonly Place[] {
  const places = [...blocksOf(moment, view)].map(({ id }) => placeOf(moment, view, id));
  return places.map((place) => must(place, "a view reaches its blocks")).filter(isShowable);
}

/** What only says that something goes on, or is there for a moment, is part of no context. */
export function isShowable({ block: { kind, ephemeral } }: Place): boolean {
  return kind !== "activation" && ephemeral === undefined;
}

export function rangesAmong(all: readonly Place[]): readonly PrunedRange[] {
  const ranges: PrunedRange[] = [];
  let open: Place[] = [];
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

function messagesAmong(all: readonly Place[]): readonly (readonly Place[])[] {
  const messages = new Map<number, Place[]>();
  for (const place of all) {
    const places = messages.get(place.block.message);
    if (places === undefined) messages.set(place.block.message, [place]);
    else places.push(place);
  }
  return [...messages.values()];
}

/** A placeholder, or gone from the ledger after it was archived. What was only left behind is not pruned. */
export function isPruned(place: Place): boolean {
  const shown = shownOf(place.moment, place.view, place.block.id);
  return shown === "placeholder" || (shown === "absent" && lifecycleOf(place) === "evicted");
}

function rangeOf(places: readonly Place[]): PrunedRange {
  const reasons = new Set<string>();
  let signatures = 0;
  for (const place of places) {
    const archive = factValue(place, "archive");
    if (archive !== null) reasons.add(archive.reason);
    if (place.block.kind === "reasoning" && !notesOf(place.moment, place.block.id)?.purged) signatures += 1;
  }
  return { ...spanOf(places.map(({ block }) => block.message)), reasons: [...reasons], signatures };
}

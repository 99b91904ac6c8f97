import { markerCost } from "./gap-markers.ts";
import { type NameVisitor, nameCharsMin, visitNames } from "./name-worths.ts";
import type { Segment } from "./segments.ts";

export type SegmentChoice = {
  readonly segments: readonly Segment[];
  /** By segment: its worth without its names. Infinity keeps it at any cost, -Infinity leaves it out. */
  readonly worths: Float64Array;
  /** Tokens that all kept segments and their markers may take together. */
  readonly budget: number;
  /** Whether gaps need markers. */
  readonly isMarked: boolean;
};

const ratioMax = 2;
const ratioStep = 0.837;
/** Worth per token below which a segment is left out although there is room. */
const ratioMin = 0.0398;
const costMin = 1;

/**
 * Chooses the segments to keep; the result has a 1 for each. A name adds to the worth of a segment only if no
 * kept segment shows it. Each pass takes every segment above a ratio of worth to cost, then lowers the ratio.
 * Taking the single best one each time would be slightly better, but quadratic.
 */
export function chooseSegments({ segments, worths, budget, isMarked }: SegmentChoice): Uint8Array {
  const names = new NameTable(segments);
  // One more entry at either end, never kept, so that every segment has two neighbours.
  const keep = new Uint8Array(segments.length + 2);
  const costs = worths.map((_, at) => segments[at]?.cost ?? 0);
  const costPerGap = isMarked ? markerCost : 0;
  let left = budget;
  // A segment inside a gap splits it and needs one more marker; one that closes a gap saves a marker.
  const costWithMarkers = (at: number): number => {
    const neighbours = (keep[at] ?? 0) + (keep[at + 2] ?? 0);
    return Math.max(costMin, (costs[at] ?? 0) + costPerGap * (1 - neighbours));
  };
  const take = (at: number): void => {
    left -= costWithMarkers(at);
    keep[at + 1] = 1;
    names.markShown(at);
  };
  for (let at = 0; at < worths.length; at += 1) if (worths[at] === Infinity) take(at);
  // Upper bounds: a worth only falls, so a segment whose last worth was too low need not be computed again.
  const lastWorths = worths.map((worth, at) => (worth === Infinity ? 0 : worth + names.worthOf(at)));
  let open: number[] = [];
  for (let at = 0; at < lastWorths.length; at += 1)
    if ((lastWorths[at] ?? 0) > ratioMin * costMin) open.push(at);
  for (let ratio = ratioMax; ratio >= ratioMin && left > 0 && open.length > 0; ratio *= ratioStep) {
    open = open.filter((at) => {
      const cost = costWithMarkers(at);
      if ((lastWorths[at] ?? 0) < ratio * cost || cost > left) return true;
      const worth = (worths[at] ?? 0) + names.worthOf(at);
      lastWorths[at] = worth;
      if (worth < ratio * cost) return worth > ratioMin * costMin;
      take(at);
      return false;
    });
  }
  return keep.subarray(1, segments.length + 1);
}

const noNames: readonly number[] = [];

/** The names of each segment as numbers, so that the worth of a segment is cheap to compute again. */
class NameTable {
  readonly #worths: number[] = [];
  readonly #isShown: boolean[] = [];
  readonly #idsBySegment: readonly (readonly number[])[];

  constructor(segments: readonly Segment[]) {
    const ids = new Map<string, number>();
    let ownIds: number[] = [];
    const addName: NameVisitor = (name, worth) => {
      let id = ids.get(name);
      if (id === undefined) {
        id = ids.size;
        ids.set(name, id);
        this.#worths.push(worth);
        this.#isShown.push(false);
      } else if ((this.#worths[id] ?? 0) < worth) this.#worths[id] = worth;
      if (!ownIds.includes(id)) ownIds.push(id);
    };
    this.#idsBySegment = segments.map(({ text }) => {
      if (text.length < nameCharsMin) return noNames;
      ownIds = [];
      visitNames(text, addName);
      return ownIds;
    });
  }

  /** Sums the worth of names in a segment that no kept segment shows. */
  worthOf(segment: number): number {
    let worth = 0;
    for (const id of this.#idsBySegment[segment] ?? [])
      if (this.#isShown[id] === false) worth += this.#worths[id] ?? 0;
    return worth;
  }

  markShown(segment: number): void {
    for (const id of this.#idsBySegment[segment] ?? []) this.#isShown[id] = true;
  }
}

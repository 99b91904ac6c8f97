import { markerCost } from "./marker.ts";
import { nameCharsMin, type Tell, tellNames } from "./names.ts";
import type { Unit } from "./units.ts";

export type Choice = {
  readonly units: readonly Unit[];
  /** By unit: what it is worth beside its names; infinite for what is kept whatever it costs, or never. */
  readonly worths: Float64Array;
  /** Tokens that all kept units and their markers may take together. */
  readonly budget: number;
  /** Whether gaps need markers. */
  readonly isMarked: boolean;
};

const ratioMax = 2;
const ratioStep = 0.837;
/** Worth per token below which a unit is left out although there is room. */
const ratioMin = 0.0398;
const costMin = 1;

/**
 * Which units to keep. Each is worth the names it shows that no kept one shows yet. Instead of always taking
 * the very best, every pass takes all that are better than a mark, and the mark falls: nearly as good, and
 * linear.
 */
export function chosen({ units, worths, budget, isMarked }: Choice): Uint8Array {
  const names = new NameTable(units);
  // With an unkept unit at either end, so that every unit has two neighbours.
  const keep = new Uint8Array(units.length + 2);
  const costs = worths.map((_, at) => units[at]?.cost ?? 0);
  const perGap = isMarked ? markerCost : 0;
  let left = budget;
  // A unit on its own needs one more marker; one that closes a gap saves one.
  const costOf = (at: number): number => {
    const neighbours = (keep[at] ?? 0) + (keep[at + 2] ?? 0);
    return Math.max(costMin, (costs[at] ?? 0) + perGap * (1 - neighbours));
  };
  const take = (at: number): void => {
    left -= costOf(at);
    keep[at + 1] = 1;
    names.show(at);
  };
  for (let at = 0; at < worths.length; at += 1) if (worths[at] === Infinity) take(at);
  // What a unit was worth when last asked. It only falls, so a low one need not be asked again.
  const known = worths.map((worth, at) => (worth === Infinity ? 0 : worth + names.worthOf(at)));
  let open: number[] = [];
  for (let at = 0; at < known.length; at += 1) if ((known[at] ?? 0) > ratioMin * costMin) open.push(at);
  for (let ratio = ratioMax; ratio >= ratioMin && left > 0 && open.length > 0; ratio *= ratioStep) {
    open = open.filter((at) => {
      const cost = costOf(at);
      if ((known[at] ?? 0) < ratio * cost || cost > left) return true;
      const worth = (worths[at] ?? 0) + names.worthOf(at);
      known[at] = worth;
      if (worth < ratio * cost) return worth > ratioMin * costMin;
      take(at);
      return false;
    });
  }
  return keep.subarray(1, units.length + 1);
}

const none: readonly number[] = [];

/** Names as numbers, so that asking again and again what a unit is worth stays cheap. */
class NameTable {
  readonly #worths: number[] = [];
  readonly #isShown: boolean[] = [];
  readonly #ofUnit: readonly (readonly number[])[];

  constructor(units: readonly Unit[]) {
    const ids = new Map<string, number>();
    let own: number[] = [];
    const tell: Tell = (name, worth) => {
      let id = ids.get(name);
      if (id === undefined) {
        id = ids.size;
        ids.set(name, id);
        this.#worths.push(worth);
        this.#isShown.push(false);
      } else if ((this.#worths[id] ?? 0) < worth) this.#worths[id] = worth;
      if (!own.includes(id)) own.push(id);
    };
    this.#ofUnit = units.map(({ text }) => {
      if (text.length < nameCharsMin) return none;
      own = [];
      tellNames(text, tell);
      return own;
    });
  }

  worthOf(unit: number): number {
    let worth = 0;
    for (const id of this.#ofUnit[unit] ?? [])
      if (this.#isShown[id] === false) worth += this.#worths[id] ?? 0;
    return worth;
  }

  show(unit: number): void {
    for (const id of this.#ofUnit[unit] ?? []) this.#isShown[id] = true;
  }
}

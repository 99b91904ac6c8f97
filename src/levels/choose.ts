import { markerCost } from "./marker.ts";
import { namesIn } from "./names.ts";
import type { Unit } from "./units.ts";

export type Choice = {
  readonly units: readonly Unit[];
  /** By unit: what it is worth beside its names; infinite for what is kept whatever it costs. */
  readonly worths: Float64Array;
  /** Tokens that all kept units and their markers may take together. */
  readonly budget: number;
  /** Whether gaps need markers. */
  readonly isMarked: boolean;
};

const ratioMax = 2;
const ratioStep = 0.85;
/** Worth per token below which a unit is left out although there is room. */
const ratioMin = 0.02;
const costMin = 0.5;

/**
 * Which units to keep. Each is worth the names it shows that no kept one shows yet. Instead of always taking
 * the very best, every pass takes all that are better than a mark, and the mark falls: nearly as good, and
 * linear.
 */
export function chosen({ units, worths, budget, isMarked }: Choice): Uint8Array {
  const names = new NameTable(units);
  const keep = new Uint8Array(units.length);
  const perGap = isMarked ? markerCost : 0;
  let left = budget;
  // A unit on its own needs one more marker; one that closes a gap saves one.
  const costOf = (at: number): number => {
    const neighbours = (keep[at - 1] ?? 0) + (keep[at + 1] ?? 0);
    return Math.max(costMin, (units[at]?.cost ?? 0) + perGap * (1 - neighbours));
  };
  const take = (at: number): void => {
    left -= costOf(at);
    keep[at] = 1;
    names.show(at);
  };
  let open: number[] = [];
  for (const at of units.keys()) {
    if (worths[at] === Infinity) take(at);
    else open.push(at);
  }
  for (let ratio = ratioMax; ratio > ratioMin && left > 0 && open.length > 0; ratio *= ratioStep) {
    open = open.filter((at) => {
      const worth = (worths[at] ?? 0) + names.worthOf(at);
      const cost = costOf(at);
      if (worth < ratio * cost || cost > left) return worth > 0;
      take(at);
      return false;
    });
  }
  return keep;
}

/** Names as numbers, so that asking again and again what a unit is worth stays cheap. */
class NameTable {
  readonly #worths: number[] = [];
  readonly #isShown: boolean[] = [];
  readonly #ofUnit: readonly (readonly number[])[];

  constructor(units: readonly Unit[]) {
    const ids = new Map<string, number>();
    this.#ofUnit = units.map(({ text }) => {
      const own: number[] = [];
      for (const { text: name, worth } of namesIn(text)) {
        const id = ids.get(name) ?? ids.size;
        if (id === ids.size) {
          ids.set(name, id);
          this.#worths.push(worth);
          this.#isShown.push(false);
        } else if ((this.#worths[id] ?? 0) < worth) this.#worths[id] = worth;
        if (!own.includes(id)) own.push(id);
      }
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

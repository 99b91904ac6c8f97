import { markerCost } from "./marker.ts";
import { namesIn } from "./names.ts";
import type { Unit } from "./units.ts";

export type Choice = {
  readonly units: readonly Unit[];
  /** Kept whatever it costs. */
  readonly musts: readonly number[];
  /** Tokens that all kept units and their markers may take together. */
  readonly budget: number;
};

const ratioMax = 2;
const ratioMin = 0.005;
const ratioStep = 0.8;

/**
 * Which units to keep. Each is worth the names it shows that no kept one shows yet. Instead of always taking
 * the very best, every pass takes all that are better than a mark, and the mark falls: nearly as good, and
 * linear.
 */
export function chosen({ units, musts, budget }: Choice): Uint8Array {
  const names = new NameTable(units);
  const keep = new Uint8Array(units.length);
  let left = budget;
  const take = (at: number): void => {
    left -= (units[at]?.cost ?? 0) + joinCost(keep, at);
    keep[at] = 1;
    names.show(at);
  };
  for (const at of musts) if (keep[at] === 0) take(at);
  let open = units.map((_, at) => at).filter((at) => keep[at] === 0);
  for (let ratio = ratioMax; ratio > ratioMin && left > 0 && open.length > 0; ratio *= ratioStep) {
    open = open.filter((at) => {
      const worth = names.worthOf(at);
      const cost = (units[at]?.cost ?? 0) + joinCost(keep, at);
      if (worth < ratio * cost || cost > left) return worth > 0;
      take(at);
      return false;
    });
  }
  return keep;
}

/** A unit on its own needs one more marker; one that closes a gap saves one. */
function joinCost(keep: Uint8Array, at: number): number {
  const neighbours = (keep[at - 1] ?? 0) + (keep[at + 1] ?? 0);
  return markerCost * (1 - neighbours);
}

/** Names as numbers, so that asking again and again what a unit is worth stays cheap. */
class NameTable {
  readonly #worths: number[] = [];
  readonly #shown: boolean[] = [];
  readonly #ofUnit: readonly (readonly number[])[];

  constructor(units: readonly Unit[]) {
    const ids = new Map<string, number>();
    this.#ofUnit = units.map(({ text }) => {
      const own = new Set<number>();
      for (const { text: name, worth } of namesIn(text)) {
        const id = ids.get(name) ?? ids.size;
        ids.set(name, id);
        this.#worths[id] = Math.max(this.#worths[id] ?? 0, worth);
        own.add(id);
      }
      return [...own];
    });
  }

  worthOf(unit: number): number {
    let worth = 0;
    for (const id of this.#ofUnit[unit] ?? []) if (this.#shown[id] !== true) worth += this.#worths[id] ?? 0;
    return worth;
  }

  show(unit: number): void {
    for (const id of this.#ofUnit[unit] ?? []) this.#shown[id] = true;
  }
}

import type { NameBook } from "../play/name-book.ts";
import type { ClientRequest } from "../play/stream.ts";
import type { SizedUnit } from "../play/units.ts";

/** Something that was in prompts of a stream: from when on, how often, and when an answer used it last. */
export type Carried = {
  readonly unit: SizedUnit;
  readonly arrived: number;
  /** In how many prompts it was. */
  prompts: number;
  /** The last request whose answer has a name of which this is the most recent copy; null: none. */
  usedAt: number | null;
  /** In how many prompts it was after that; of what was never used, after the first. */
  idlePrompts: number;
};

/** Everything one stream carried, in the order it came. The same content at two places is one. */
export function carriedIn(requests: readonly ClientRequest[], book: NameBook): readonly Carried[] {
  const found = new Map<string, Carried>();
  const copies = new Map<string, Carried>();
  let known = 0;
  for (const [at, { units, used, isExtension }] of requests.entries()) {
    if (!isExtension) copies.clear();
    const met = new Set<string>();
    for (const [place, unit] of units.entries()) {
      const carried = found.get(unit.bare) ?? {
        unit,
        arrived: at,
        prompts: 0,
        usedAt: null,
        idlePrompts: -1,
      };
      found.set(unit.bare, carried);
      if (!met.has(unit.bare)) carry(carried);
      met.add(unit.bare);
      const isFresh = !isExtension || place >= known;
      if (isFresh) for (const name of book.namesIn(unit)) copies.set(name, carried);
    }
    known = units.length;
    for (const name of used) use(copies.get(name), at);
  }
  return [...found.values()];
}

function carry(carried: Carried): void {
  carried.prompts += 1;
  carried.idlePrompts += 1;
}

function use(carried: Carried | undefined, at: number): void {
  if (carried === undefined) return;
  carried.usedAt = at;
  carried.idlePrompts = 0;
}

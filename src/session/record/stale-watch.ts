import type { BlockId } from "../../base/index.ts";
import { factValue, type Moment, placeOf, staleTurns, type View } from "../../engine/index.ts";

/** Knows when each block would be stale, so that finding those that are costs what there is to find. */
export class StaleWatch {
  readonly #due = new Map<number, BlockId[]>();
  #looked = 0;

  /** A block that was said in a turn. */
  add(block: BlockId, turn: number): void {
    this.#at(Math.max(turn + staleTurns, this.#looked + 1), block);
  }

  /** The blocks nobody has referred to for so long, up to a turn; each is given once. */
  take(moment: Moment, view: View, turn: number): readonly BlockId[] {
    const stale: BlockId[] = [];
    for (let at = this.#looked + 1; at <= turn; at += 1) {
      const due = this.#due.get(at) ?? [];
      this.#due.delete(at);
      this.#looked = at;
      for (const block of due) {
        const place = placeOf(moment, view, block);
        if (place === null) continue;
        const used = factValue(place, "reference").turn + staleTurns;
        if (used > at) this.#at(used, block);
        else stale.push(block);
      }
    }
    return stale;
  }

  #at(turn: number, block: BlockId): void {
    const due = this.#due.get(turn);
    if (due === undefined) this.#due.set(turn, [block]);
    else due.push(block);
  }
}

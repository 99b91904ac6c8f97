import { assert, limits, type StreamId } from "../../base/index.ts";
import type { Delta, State } from "../../engine/index.ts";

export type IdKind = "block" | "message";
type Cursor = { next: number; end: number };

/** Reserved at a time: few enough that gaps do not matter, enough that most turns need no reservation. */
const idsPerReservation = 100;

/**
 * Ids a stream may use. They are reserved in the log before they are used, so that no two streams take the
 * same one; what was reserved and not used before a restart stays a gap.
 */
export class IdPool {
  readonly #stream: StreamId;
  readonly #cursors: Record<IdKind, Cursor> = { block: { next: 0, end: 0 }, message: { next: 0, end: 0 } };

  constructor(stream: StreamId) {
    this.#stream = stream;
  }

  /** The deltas that make sure of so many ids, given where the session's numbering stands. */
  reserve(state: State, wanted: Readonly<Record<IdKind, number>>): readonly Delta[] {
    const deltas: Delta[] = [];
    for (const of of ["block", "message"] as const) {
      const cursor = this.#cursors[of];
      const missing = wanted[of] - (cursor.end - cursor.next);
      if (missing <= 0) continue;
      // What is left of the old range is given up: ranges need not meet, and a gap costs nothing.
      cursor.next = state.next[of];
      cursor.end = state.next[of];
      for (let left = Math.max(wanted[of], idsPerReservation); left > 0; ) {
        const count = Math.min(left, limits.idsPerReservationMax);
        const [from, to] = [cursor.end, cursor.end + count];
        deltas.push({ type: "ids-reserved", stream: this.#stream, of, from, to });
        cursor.end = to;
        left -= count;
      }
    }
    return deltas;
  }

  take(of: IdKind): number {
    const cursor = this.#cursors[of];
    assert(cursor.next < cursor.end, "ids are reserved before they are taken");
    cursor.next += 1;
    return cursor.next - 1;
  }
}

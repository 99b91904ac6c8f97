import { assert, limits, must, type StreamId } from "../../base/index.ts";
import { areFree, type Delta, type IdRange, type NextIds, type State } from "../../engine/index.ts";
import type { KnownBlock } from "../exchange.ts";

export type IdKind = keyof NextIds;
type Cursor = { next: number; readonly end: number };

/** Reserved at a time: few enough that gaps do not matter, enough that most turns need no reservation. */
const perReservation = 100;
/** Where the desk numbers too, it has the even thousands and the log the odd ones. */
const perShare = 1_000;
const kinds = ["block", "message"] as const;

/** Whether somebody else numbers in a session too. */
export type Sharing = { isShared: boolean };

/**
 * Ids a stream may use. They are reserved in the log before they are used, so that no two streams take the
 * same one; what was reserved and not used before a restart stays a gap.
 */
export class IdPool {
  readonly #stream: StreamId;
  readonly #sharing: Sharing;
  /** What is left of the ranges reserved here, the one in use first. */
  readonly #left: Record<IdKind, Cursor[]> = { block: [], message: [] };
  /** Ranges the desk has numbered from. */
  readonly #given: Record<IdKind, Set<number>> = { block: new Set(), message: new Set() };
  /** Reserved with the draft at hand, so not in the state it is made from. */
  #pending: { readonly seq: number; readonly ranges: Record<IdKind, IdRange[]> } = noneAt(0);

  constructor(stream: StreamId, sharing: Sharing = { isShared: false }) {
    this.#stream = stream;
    this.#sharing = sharing;
  }

  /** The deltas that make sure of so many ids, given where the session's numbering stands. */
  reserve(state: State, wanted: Readonly<NextIds>): readonly Delta[] {
    this.#look(state);
    const deltas: Delta[] = [];
    for (const of of kinds) {
      const left = this.#left[of].reduce((sum, { next, end }) => sum + end - next, 0);
      for (let missing = wanted[of] - left; missing > 0; ) {
        const range = this.#nextRange(state, of, missing);
        deltas.push(this.#reserved(of, range));
        this.#left[of].push({ next: range.from, end: range.to });
        missing -= range.to - range.from;
      }
    }
    return deltas;
  }

  /** Takes over numbers that the desk has given, with what reserves them; null where they are not free. */
  accept(state: State, { block, message }: KnownBlock): readonly Delta[] | null {
    this.#look(state);
    const ranges = [this.#acceptable(state, "block", block), this.#acceptable(state, "message", message)];
    if (ranges.includes(null)) return null;
    return kinds.flatMap((of, at) => {
      const range = ranges[at];
      if (range === undefined || range === null || this.#given[of].has(range.from)) return [];
      this.#given[of].add(range.from);
      return isReserved(state, this.#stream, { of, range }) ? [] : [this.#reserved(of, range)];
    });
  }

  take(of: IdKind): number {
    const left = this.#left[of];
    while (left[0] !== undefined && left[0].next >= left[0].end) left.shift();
    const cursor = must(left[0], "ids are reserved before they are taken");
    cursor.next += 1;
    return cursor.next - 1;
  }

  #look({ seq }: State): void {
    if (seq !== this.#pending.seq) this.#pending = noneAt(seq);
  }

  #nextRange({ next }: State, of: IdKind, missing: number): IdRange {
    const from = Math.max(next[of], ...this.#pending.ranges[of].map(({ to }) => to));
    if (!this.#sharing.isShared) {
      const count = Math.min(Math.max(missing, perReservation), limits.idsPerReservationMax);
      return { from, to: from + count };
    }
    const share = Math.ceil((from - 1) / perShare);
    return shareRange(share % 2 === 1 ? share : share + 1);
  }

  /** The share a number lies in, if this stream has it or may have it. */
  #acceptable(state: State, of: IdKind, id: number): IdRange | null {
    const range = shareRange(Math.floor((id - 1) / perShare));
    if (this.#given[of].has(range.from)) return range;
    const isOwn = this.#left[of].some(({ next, end }) => next <= id && id < end);
    if (isOwn) return null;
    const isPending = this.#pending.ranges[of].some(({ from, to }) => from < range.to && range.from < to);
    const isFree = !isPending && areFree(state, of, range);
    return isFree || isReserved(state, this.#stream, { of, range }) ? range : null;
  }

  #reserved(of: IdKind, { from, to }: IdRange): Delta {
    assert(to > from, "a range is not empty");
    this.#pending.ranges[of].push({ from, to });
    return { type: "ids-reserved", stream: this.#stream, of, from, to };
  }
}

function noneAt(seq: number) {
  return { seq, ranges: { block: [], message: [] } };
}

function shareRange(share: number): IdRange {
  return { from: share * perShare + 1, to: (share + 1) * perShare + 1 };
}

type Reservation = { readonly of: IdKind; readonly range: IdRange };

function isReserved({ streams }: State, stream: StreamId, { of, range }: Reservation): boolean {
  const reserved = streams.get(stream)?.reserved[of] ?? [];
  return reserved.some(({ from, to }) => from <= range.from && range.to <= to);
}

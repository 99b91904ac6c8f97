import { assert, limits, must, type StreamId } from "../base/index.ts";
import type { Delta, NextIds } from "../engine/frames/index.ts";
import { areIdsFree, type ReservedRange, type State } from "../engine/index.ts";
import type { KnownBlock } from "../exchange/index.ts";

export type IdKind = keyof NextIds;
type IdCursor = { next: number; readonly end: number };

/** Ids reserved at a time: few enough that gaps do not matter, enough that most turns need no reservation. */
const perReservation = 100;
/** If the planner numbers blocks too, it takes the even thousands and the log the odd ones. */
const perShare = 1_000;
const idKinds = ["block", "message"] as const;

/** Shared by the pools of a session; set once the planner numbers its blocks too. */
export type IdSharingState = { isShared: boolean };

/**
 * Ids a stream may use. They are reserved in the log before they are used, so that no two streams take the
 * same one. Ids that were reserved but not used before a restart stay a gap.
 */
export class IdPool {
  readonly #stream: StreamId;
  readonly #sharing: IdSharingState;
  /** The unused rest of the ranges reserved here, the one in use first. */
  readonly #left: Record<IdKind, IdCursor[]> = { block: [], message: [] };
  /** Starts of the ranges the planner has numbered from. */
  readonly #plannerRanges: Record<IdKind, Set<number>> = { block: new Set(), message: new Set() };
  /** Ranges reserved by the current draft: the state it is made from does not have them yet. */
  #pending: { readonly seq: number; readonly ranges: Record<IdKind, ReservedRange[]> } = nonePendingAt(0);

  constructor(stream: StreamId, sharing: IdSharingState = { isShared: false }) {
    this.#stream = stream;
    this.#sharing = sharing;
  }

  /** Returns the deltas that reserve the missing ids, so that `wanted` of each kind can be taken. */
  reserve(state: State, wanted: Readonly<NextIds>): readonly Delta[] {
    this.#dropOldPending(state);
    const deltas: Delta[] = [];
    for (const of of idKinds) {
      const left = this.#left[of].reduce((sum, { next, end }) => sum + end - next, 0);
      for (let missing = wanted[of] - left; missing > 0; ) {
        const range = this.#nextRange(state, of, missing);
        deltas.push(this.#reserveRange(of, range));
        this.#left[of].push({ next: range.from, end: range.to });
        missing -= range.to - range.from;
      }
    }
    return deltas;
  }

  /**
   * Accepts ids that the planner gave and returns the deltas that reserve them; null if they are not free.
   */
  accept(state: State, { block, message }: KnownBlock): readonly Delta[] | null {
    this.#dropOldPending(state);
    const ranges = [
      this.#acceptableRange(state, "block", block),
      this.#acceptableRange(state, "message", message),
    ];
    if (ranges.includes(null)) return null;
    return idKinds.flatMap((of, at) => {
      const range = ranges[at];
      if (range === undefined || range === null || this.#plannerRanges[of].has(range.from)) return [];
      this.#plannerRanges[of].add(range.from);
      return isReserved(state, this.#stream, { of, range }) ? [] : [this.#reserveRange(of, range)];
    });
  }

  take(of: IdKind): number {
    const left = this.#left[of];
    while (left[0] !== undefined && left[0].next >= left[0].end) left.shift();
    const cursor = must(left[0], "ids are reserved before they are taken");
    cursor.next += 1;
    return cursor.next - 1;
  }

  #dropOldPending({ seq }: State): void {
    if (seq !== this.#pending.seq) this.#pending = nonePendingAt(seq);
  }

  #nextRange({ next }: State, of: IdKind, missing: number): ReservedRange {
    const from = Math.max(next[of], ...this.#pending.ranges[of].map(({ to }) => to));
    if (!this.#sharing.isShared) {
      const count = Math.min(Math.max(missing, perReservation), limits.idsPerReservationMax);
      return { from, to: from + count };
    }
    const share = Math.ceil((from - 1) / perShare);
    return shareRange(share % 2 === 1 ? share : share + 1);
  }

  /** The thousand an id lies in, if this stream has it or may have it. */
  #acceptableRange(state: State, of: IdKind, id: number): ReservedRange | null {
    const range = shareRange(Math.floor((id - 1) / perShare));
    if (this.#plannerRanges[of].has(range.from)) return range;
    const isOwn = this.#left[of].some(({ next, end }) => next <= id && id < end);
    if (isOwn) return null;
    const isPending = this.#pending.ranges[of].some(({ from, to }) => from < range.to && range.from < to);
    const isFree = !isPending && areIdsFree(state, of, range);
    return isFree || isReserved(state, this.#stream, { of, range }) ? range : null;
  }

  #reserveRange(of: IdKind, { from, to }: ReservedRange): Delta {
    assert(to > from, "a range is not empty");
    this.#pending.ranges[of].push({ from, to });
    return { type: "ids-reserved", stream: this.#stream, of, from, to };
  }
}

function nonePendingAt(seq: number) {
  return { seq, ranges: { block: [], message: [] } };
}

function shareRange(share: number): ReservedRange {
  return { from: share * perShare + 1, to: (share + 1) * perShare + 1 };
}

type IdReservation = { readonly of: IdKind; readonly range: ReservedRange };

function isReserved({ streams }: State, stream: StreamId, { of, range }: IdReservation): boolean {
  const reserved = streams.get(stream)?.reserved[of] ?? [];
  return reserved.some(({ from, to }) => from <= range.from && range.to <= to);
}

import { assert, type ContentHash, limits, must } from "../base/index.ts";
import { commonPrefixLength, commonSuffixLength } from "./common-bytes.ts";
import { type BodyRef, mergePieces } from "./recipe.ts";
import type { Piece } from "./store.ts";
import { hashWindow, indexWindows, longestMatch, rollWindow, WINDOW_BYTES } from "./window-index.ts";

/** Bytes of the new body that are bytes of a content, from `from` on, or from its start. */
export type Slice = {
  readonly start: number;
  readonly length: number;
  readonly content: ContentHash;
  readonly from?: number;
};

export type RecipeDiff = {
  /** The body the new one most resembles: the one before on the same side of the same stream. */
  readonly previous: (BodyRef & { readonly bytes: Uint8Array }) | null;
  readonly next: Uint8Array;
  readonly slices: readonly Slice[];
  /** How many bytes both bodies begin with, where that is known. */
  readonly sharedStart?: number;
};

/** Bytes of the new body that the previous one has too, at `source`. */
type Run = { readonly start: number; readonly end: number; readonly source: number };

/** A shared start or end shorter than this is cheaper as it is. */
const EDGE_BYTES_MIN = 16;

/**
 * Writes a body in terms of the one before. A turn adds messages at the end, moves a cache mark here, turns
 * a string into a block there: a few copies and a few short literals. Bytes inside a slice are copied or
 * named as content, never kept as literal bytes, so erasing the content erases them here too. Linear in the
 * size of the bodies.
 */
export function diffRecipe({ previous, next, slices, sharedStart }: RecipeDiff): readonly Piece[] {
  const known = orderedSlices(slices, next.length);
  const edges = previous === null ? NO_EDGES : sharedEdges(previous.bytes, next, sharedStart);
  const inner = previous === null ? [] : innerRuns({ previous: previous.bytes, next, edges, slices: known });
  const plan = { previous, next, slices: known };
  const pieces = mergePieces(fillIn(plan, [edges.head, ...inner, edges.tail]));
  return pieces.length <= limits.recipePiecesMax
    ? pieces
    : mergePieces(fillIn(plan, [edges.head, edges.tail]));
}

type Edges = { readonly head: Run; readonly tail: Run };
const NO_EDGES: Edges = { head: { start: 0, end: 0, source: 0 }, tail: { start: 0, end: 0, source: 0 } };

function sharedEdges(previous: Uint8Array, next: Uint8Array, sharedStart?: number): Edges {
  const head = worthwhile(sharedStart ?? commonPrefixLength(previous, next));
  const tail = worthwhile(commonSuffixLength(previous.subarray(head), next.subarray(head)));
  return {
    head: { start: 0, end: head, source: 0 },
    tail: { start: next.length - tail, end: next.length, source: previous.length - tail },
  };
}

function worthwhile(length: number): number {
  return length < EDGE_BYTES_MIN ? 0 : length;
}

function orderedSlices(slices: readonly Slice[], length: number): readonly Slice[] {
  const ordered = slices.filter((slice) => slice.length > 0).sort((a, b) => a.start - b.start);
  let end = 0;
  for (const slice of ordered) {
    assert(slice.start >= end, "slices do not overlap");
    end = slice.start + slice.length;
  }
  assert(end <= length, "slices lie inside the body");
  return ordered;
}

type Inner = {
  readonly previous: Uint8Array;
  readonly next: Uint8Array;
  readonly edges: Edges;
  readonly slices: readonly Slice[];
};

/** The runs between the shared start and the shared end. They hold a slice whole or not at all. */
function innerRuns({ previous, next, edges, slices }: Inner): readonly Run[] {
  const source = previous.subarray(edges.head.end, edges.tail.source);
  const target = next.subarray(0, edges.tail.start);
  if (source.length < WINDOW_BYTES || target.length - edges.head.end < WINDOW_BYTES) return [];
  const index = indexWindows(source);
  const fences = fencesOf(slices);
  const runs: Run[] = [];
  let done = edges.head.end;
  let at = done;
  let hash: number | null = null;
  while (at + WINDOW_BYTES <= target.length) {
    const fence = fences.around(at);
    // A slice the previous body holds whole would have been found within its first window.
    if (fence !== null && at >= fence.start + WINDOW_BYTES) {
      at = fence.end;
      hash = null;
      continue;
    }
    hash ??= hashWindow(target, at);
    const match = longestMatch(index, target, { at, hash });
    if (match === null) {
      hash = at + WINDOW_BYTES < target.length ? rollWindow(hash, target, at) : null;
      at += 1;
      continue;
    }
    const back = sharedBackwards({ source, target }, { source: match.source, at, stop: done });
    const start = fences.after(at - back);
    const end = fences.before(at + match.length);
    if (end - start >= WINDOW_BYTES) {
      runs.push({ start, end, source: edges.head.end + match.source + (start - at) });
      done = end;
      at = end;
    } else {
      at = Math.max(at + 1, start, fences.around(at + match.length)?.end ?? 0);
    }
    hash = null;
  }
  return runs;
}

function sharedBackwards(
  { source, target }: { readonly source: Uint8Array; readonly target: Uint8Array },
  { source: sourceAt, at, stop }: { readonly source: number; readonly at: number; readonly stop: number },
): number {
  const most = Math.min(sourceAt, at - stop);
  let count = 0;
  while (count < most && source[sourceAt - count - 1] === target[at - count - 1]) count += 1;
  return count;
}

type Fences = {
  /** The slice an offset lies strictly inside of. */
  readonly around: (offset: number) => { readonly start: number; readonly end: number } | null;
  readonly before: (offset: number) => number;
  readonly after: (offset: number) => number;
};

function fencesOf(slices: readonly Slice[]): Fences {
  const around = (offset: number): { readonly start: number; readonly end: number } | null => {
    const slice = slices[lastStartingBefore(slices, offset)];
    if (slice === undefined || offset <= slice.start || offset >= slice.start + slice.length) return null;
    return { start: slice.start, end: slice.start + slice.length };
  };
  return {
    around,
    before: (offset) => around(offset)?.start ?? offset,
    after: (offset) => around(offset)?.end ?? offset,
  };
}

function lastStartingBefore(slices: readonly Slice[], offset: number): number {
  let low = -1;
  let high = slices.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (must(slices[middle], "bisection stays inside").start < offset) low = middle;
    else high = middle;
  }
  return low;
}

/** Copies for the runs; between them contents where a slice is known, literal bytes where none is. */
function fillIn({ previous, next, slices }: RecipeDiff, runs: readonly Run[]): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  let nextSlice = 0;
  const fillTo = (end: number): void => {
    while (at < end) {
      while (nextSlice < slices.length && sliceEnd(slices, nextSlice) <= at) nextSlice += 1;
      const slice = slices[nextSlice];
      const inside = slice !== undefined && slice.start <= at;
      const stop = Math.min(end, inside ? slice.start + slice.length : (slice?.start ?? end));
      pieces.push(
        inside ? contentPiece(slice, at, stop) : { from: "literal", bytes: next.subarray(at, stop) },
      );
      at = stop;
    }
  };
  for (const run of runs) {
    if (run.end <= run.start) continue;
    fillTo(run.start);
    const { exchange, side } = must(previous, "a run is copied from a previous body");
    pieces.push({ from: "body", exchange, side, start: run.source, length: run.end - run.start });
    at = run.end;
  }
  fillTo(next.length);
  return pieces;
}

function contentPiece(slice: Slice, from: number, to: number): Piece {
  const start = (slice.from ?? 0) + from - slice.start;
  return { from: "content", content: slice.content, start, length: to - from };
}

function sliceEnd(slices: readonly Slice[], at: number): number {
  const slice = must(slices[at], "there is such a slice");
  return slice.start + slice.length;
}

import { assert, type ContentHash, limits, must } from "../base/index.ts";
import { commonPrefixLength, commonSuffixLength } from "./common-bytes.ts";
import { type BodyRef, mergePieces } from "./recipe.ts";
import type { RecipePiece } from "./store.ts";
import { hashWindow, indexWindows, longestMatch, rollWindow, WINDOW_BYTES } from "./window-index.ts";

/** Bytes of the new body that equal those of a content, from its offset `from` or from its start. */
export type ContentSlice = {
  readonly start: number;
  readonly length: number;
  readonly content: ContentHash;
  readonly from?: number;
};

export type RecipeDiffInput = {
  /** The body most like the new one: the previous one on the same side of the same stream. */
  readonly previous: (BodyRef & { readonly bytes: Uint8Array }) | null;
  readonly next: Uint8Array;
  readonly slices: readonly ContentSlice[];
  /** The number of bytes both bodies begin with, if it is known already. */
  readonly sharedStart?: number;
};

/** Bytes of the new body that the previous one has too, at offset `source`. */
type CopyRun = { readonly start: number; readonly end: number; readonly source: number };

/** A shared start or end shorter than this is cheaper as literal bytes. */
const EDGE_BYTES_MIN = 16;

/**
 * Describes a body by its differences from the one before. A turn adds messages at the end, moves a cache
 * mark, turns a string into a block: a few copies and a few short literals. Bytes inside a slice are copied
 * or named as content, never kept as literal bytes, so erasing the content erases them here too. Linear in
 * the size of the bodies.
 */
export function diffRecipe({ previous, next, slices, sharedStart }: RecipeDiffInput): readonly RecipePiece[] {
  const ordered = orderedSlices(slices, next.length);
  const edges = previous === null ? NO_EDGES : sharedEdges(previous.bytes, next, sharedStart);
  const inner =
    previous === null ? [] : innerRuns({ previous: previous.bytes, next, edges, slices: ordered });
  const plan = { previous, next, slices: ordered };
  const pieces = mergePieces(fillIn(plan, [edges.head, ...inner, edges.tail]));
  return pieces.length <= limits.recipePiecesMax
    ? pieces
    : mergePieces(fillIn(plan, [edges.head, edges.tail]));
}

type SharedEdges = { readonly head: CopyRun; readonly tail: CopyRun };
const NO_EDGES: SharedEdges = {
  head: { start: 0, end: 0, source: 0 },
  tail: { start: 0, end: 0, source: 0 },
};

function sharedEdges(previous: Uint8Array, next: Uint8Array, sharedStart?: number): SharedEdges {
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

function orderedSlices(slices: readonly ContentSlice[], length: number): readonly ContentSlice[] {
  const ordered = slices.filter((slice) => slice.length > 0).sort((a, b) => a.start - b.start);
  let end = 0;
  for (const slice of ordered) {
    assert(slice.start >= end, "slices do not overlap");
    end = slice.start + slice.length;
  }
  assert(end <= length, "slices lie inside the body");
  return ordered;
}

type InnerRunsInput = {
  readonly previous: Uint8Array;
  readonly next: Uint8Array;
  readonly edges: SharedEdges;
  readonly slices: readonly ContentSlice[];
};

/** The runs between the shared start and the shared end. A run never holds only part of a slice. */
function innerRuns({ previous, next, edges, slices }: InnerRunsInput): readonly CopyRun[] {
  const source = previous.subarray(edges.head.end, edges.tail.source);
  const target = next.subarray(0, edges.tail.start);
  if (source.length < WINDOW_BYTES || target.length - edges.head.end < WINDOW_BYTES) return [];
  const index = indexWindows(source);
  const fences = fencesOf(slices);
  const runs: CopyRun[] = [];
  let done = edges.head.end;
  let at = done;
  let hash: number | null = null;
  while (at + WINDOW_BYTES <= target.length) {
    const fence = fences.around(at);
    // If the previous body held the whole slice, its first window would have matched.
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

type SliceFences = {
  /** The slice that an offset lies strictly inside. Null if there is none. */
  readonly around: (offset: number) => { readonly start: number; readonly end: number } | null;
  readonly before: (offset: number) => number;
  readonly after: (offset: number) => number;
};

function fencesOf(slices: readonly ContentSlice[]): SliceFences {
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

function lastStartingBefore(slices: readonly ContentSlice[], offset: number): number {
  let low = -1;
  let high = slices.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (must(slices[middle], "bisection stays inside").start < offset) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * Makes copies for the runs, and between them content pieces for known slices and literal bytes for the rest.
 */
function fillIn({ previous, next, slices }: RecipeDiffInput, runs: readonly CopyRun[]): RecipePiece[] {
  const pieces: RecipePiece[] = [];
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

function contentPiece(slice: ContentSlice, from: number, to: number): RecipePiece {
  const start = (slice.from ?? 0) + from - slice.start;
  return { from: "content", content: slice.content, start, length: to - from };
}

function sliceEnd(slices: readonly ContentSlice[], at: number): number {
  const slice = must(slices[at], "there is such a slice");
  return slice.start + slice.length;
}

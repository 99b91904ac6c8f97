import { assert, fail, limits, must, ok, type Result } from "../base/index.ts";
import { type BodyRef, type PieceOf, pieceLength, type RecipeCopy, type RecipeLeaf } from "./recipe.ts";

/** A recipe with the offset at which each piece starts, for finding the pieces of a range. */
export type IndexedRecipe<C> = {
  readonly pieces: readonly PieceOf<C>[];
  readonly starts: readonly number[];
};

export type RecipeLookup<C> = (body: BodyRef) => IndexedRecipe<C>;

export function indexRecipe<C>(pieces: readonly PieceOf<C>[]): IndexedRecipe<C> {
  const starts: number[] = [];
  let start = 0;
  for (const piece of pieces) {
    starts.push(start);
    start += pieceLength(piece);
  }
  return { pieces, starts };
}

export type ExpandedRecipe<C> = {
  readonly leaves: readonly RecipeLeaf<C>[];
  /** The number of pieces visited, copies included: the work of restoring the body. */
  readonly steps: number;
};

/**
 * Follows copies down to contents and literal bytes. Depth and work are bounded when bodies are stored; a
 * damaged recipe from disk that is endless or circular is refused here.
 */
export function expandRecipe<C>(
  pieces: readonly PieceOf<C>[],
  recipeOf: RecipeLookup<C>,
): Result<ExpandedRecipe<C>> {
  const leaves: RecipeLeaf<C>[] = [];
  let steps = 0;
  const visit = (piece: PieceOf<C>, depth: number): boolean => {
    steps += 1;
    if (steps > limits.recipeLeavesMax || depth > limits.recipeChainMax + 1) return false;
    if (piece.from === "body")
      return slicePieces(recipeOf(piece), piece).every((part) => visit(part, depth + 1));
    leaves.push(piece);
    return true;
  };
  if (pieces.every((piece) => visit(piece, 0))) return ok({ leaves, steps });
  return fail("AP_RECIPE_INVALID", { problem: "it takes too many pieces to put it together" });
}

/** An upper bound of the steps that restore a body, and its longest chain of copies. */
export type ExpandEffort = { readonly leaves: number; readonly depth: number };

/**
 * An upper bound of the steps a recipe takes, computed from its sources without reading them; if the bound is
 * too high, the caller counts. Slices of one source that do not overlap take together as many steps as the
 * whole source, plus one at every depth for each cut; overlapping slices take the whole source each.
 */
export function stepsAtMost(
  pieces: readonly PieceOf<unknown>[],
  effortOf: (body: BodyRef) => ExpandEffort,
): number {
  const copies = new Map<string, RecipeCopy[]>();
  for (const piece of pieces) {
    if (piece.from !== "body") continue;
    const name = `${piece.exchange} ${piece.side}`;
    copies.set(name, [...(copies.get(name) ?? []), piece]);
  }
  let steps = pieces.length;
  for (const slices of copies.values()) {
    const { leaves, depth } = effortOf(must(slices[0], "there is a first"));
    const count = slices.length;
    steps += isDisjoint(slices) ? leaves + (count - 1) * (depth + 1) : count * leaves;
  }
  return steps;
}

function isDisjoint(slices: readonly RecipeCopy[]): boolean {
  const ordered = [...slices].sort((a, b) => a.start - b.start);
  return ordered.every(({ start, length }, at) => start + length <= (ordered[at + 1]?.start ?? Infinity));
}

/** The pieces of a range, cut to fit it. */
export function slicePieces<C>(
  { pieces, starts }: IndexedRecipe<C>,
  range: Pick<RecipeCopy, "start" | "length">,
): PieceOf<C>[] {
  const end = range.start + range.length;
  const parts: PieceOf<C>[] = [];
  for (let at = pieceAt(starts, range.start); at < pieces.length; at++) {
    const start = must(starts[at], "every piece has a start");
    if (start >= end) break;
    const piece = must(pieces[at], "every start has a piece");
    const from = Math.max(range.start - start, 0);
    const to = Math.min(end - start, pieceLength(piece));
    if (to > from) parts.push(cutPiece(piece, { from, to }));
  }
  return parts;
}

/** The last piece that starts at or before the offset. */
function pieceAt(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] as number) <= offset) low = middle;
    else high = middle;
  }
  return low;
}

function cutPiece<C>(
  piece: PieceOf<C>,
  { from, to }: { readonly from: number; readonly to: number },
): PieceOf<C> {
  assert(from >= 0 && to <= pieceLength(piece), "a cut lies inside its piece");
  if (piece.from === "literal") return { from: "literal", bytes: piece.bytes.subarray(from, to) };
  return { ...piece, start: piece.start + from, length: to - from };
}

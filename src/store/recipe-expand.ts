import { assert, fail, limits, must, ok, type Result } from "../base/index.ts";
import { type BodyRef, type Copy, type Leaf, type PieceOf, pieceLength } from "./recipe.ts";

/** A recipe and the offset at which each of its pieces starts, for finding the pieces of a range. */
export type IndexedRecipe<C> = { readonly pieces: readonly PieceOf<C>[]; readonly starts: readonly number[] };

export type RecipeOf<C> = (body: BodyRef) => IndexedRecipe<C>;

export function indexRecipe<C>(pieces: readonly PieceOf<C>[]): IndexedRecipe<C> {
  const starts: number[] = [];
  let start = 0;
  for (const piece of pieces) {
    starts.push(start);
    start += pieceLength(piece);
  }
  return { pieces, starts };
}

export type Expanded<C> = {
  readonly leaves: readonly Leaf<C>[];
  /** Every piece that was walked through, the copies too: what it takes to put the body together. */
  readonly steps: number;
};

/**
 * Follows copies down to contents and literal bytes. Depth and work are bounded when bodies are stored; a
 * recipe from disk that goes on regardless, or in circles, ends here.
 */
export function expandRecipe<C>(pieces: readonly PieceOf<C>[], recipeOf: RecipeOf<C>): Result<Expanded<C>> {
  const leaves: Leaf<C>[] = [];
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

/** What it takes at most to put a body together, and how many copies of copies it rests on. */
export type Effort = { readonly leaves: number; readonly depth: number };

/**
 * At most how many steps a recipe takes, from what its sources take, so that nothing needs to be read; where
 * the answer is too much, counting tells. Slices of one source that lie behind each other take what all of it
 * takes, and a step more at every depth where they cut a piece in two; any others take all of it each.
 */
export function stepsAtMost(
  pieces: readonly PieceOf<unknown>[],
  effortOf: (body: BodyRef) => Effort,
): number {
  const copies = new Map<string, Copy[]>();
  for (const piece of pieces) {
    if (piece.from !== "body") continue;
    const name = `${piece.exchange} ${piece.side}`;
    copies.set(name, [...(copies.get(name) ?? []), piece]);
  }
  let steps = pieces.length;
  for (const slices of copies.values()) {
    const { leaves, depth } = effortOf(must(slices[0], "there is a first"));
    const count = slices.length;
    steps += liesApart(slices) ? leaves + (count - 1) * (depth + 1) : count * leaves;
  }
  return steps;
}

function liesApart(slices: readonly Copy[]): boolean {
  const ordered = [...slices].sort((a, b) => a.start - b.start);
  return ordered.every(({ start, length }, at) => start + length <= (ordered[at + 1]?.start ?? Infinity));
}

/** The pieces of a range, cut to fit it. */
export function slicePieces<C>(
  { pieces, starts }: IndexedRecipe<C>,
  range: Pick<Copy, "start" | "length">,
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

import { assert, limits, must } from "../base/index.ts";
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

/**
 * Follows copies down to contents and literal bytes. The depth of copies is bounded when bodies are stored
 * (limits.recipeChainMax), so the recursion is too.
 */
export function expandRecipe<C>(pieces: readonly PieceOf<C>[], recipeOf: RecipeOf<C>): Leaf<C>[] {
  const leaves: Leaf<C>[] = [];
  const visit = (piece: PieceOf<C>, depth: number): void => {
    assert(depth <= limits.recipeChainMax + 1, "copies end in contents and literal bytes");
    if (piece.from !== "body") leaves.push(piece);
    else for (const part of slicePieces(recipeOf(piece), piece)) visit(part, depth + 1);
  };
  for (const piece of pieces) visit(piece, 0);
  return leaves;
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

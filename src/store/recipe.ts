import { assert, fail, ok, type Result } from "../base/index.ts";
import { type ExchangeSide, exchangeSides } from "./store.ts";
import { type ByteReader, byteReader, byteWriter, unzigzag, zigzag } from "./varint.ts";

/**
 * A piece of a recipe. `C` is how it names a content: by hash outside the database, by a small local number
 * inside.
 */
export type PieceOf<C> = RecipeLeaf<C> | RecipeCopy;
export type RecipeLeaf<C> =
  | { readonly from: "content"; readonly content: C; readonly start: number; readonly length: number }
  | { readonly from: "literal"; readonly bytes: Uint8Array };
export type RecipeCopy = BodyRef & { readonly from: "body"; readonly start: number; readonly length: number };
export type BodyRef = { readonly exchange: number; readonly side: ExchangeSide };
export type StoredPiece = PieceOf<number>;

// The low two bits of a piece's first number are its type; the rest is its length.
const LITERAL = 0;
const CONTENT = 1;
/** A copy from the same body as the copy before. */
const SAME_BODY = 2;
const OTHER_BODY = 3;

export function pieceLength(piece: PieceOf<unknown>): number {
  return piece.from === "literal" ? piece.bytes.length : piece.length;
}

export function encodeRecipe(pieces: readonly StoredPiece[]): Uint8Array {
  const out = byteWriter();
  let last: RecipeCopy | null = null;
  for (const piece of pieces) {
    const length = pieceLength(piece) * 4;
    if (piece.from === "literal") {
      out.varint(length + LITERAL);
      out.bytes(piece.bytes);
    } else if (piece.from === "content") {
      out.varint(length + CONTENT);
      out.varint(piece.content);
      out.varint(piece.start);
    } else {
      const same = last !== null && sameBody(last, piece);
      out.varint(length + (same ? SAME_BODY : OTHER_BODY));
      if (!same) {
        out.varint(piece.exchange);
        out.varint(exchangeSides.indexOf(piece.side));
      }
      // A copy mostly starts where the one before ended, so the distance is a small number.
      out.varint(zigzag(piece.start - (same && last !== null ? last.start + last.length : 0)));
      last = piece;
    }
  }
  return out.finish();
}

export function decodeRecipe(bytes: Uint8Array): Result<readonly StoredPiece[]> {
  const input = byteReader(bytes);
  const pieces: StoredPiece[] = [];
  let last: RecipeCopy | null = null;
  try {
    while (!input.done()) {
      const piece = readPiece(input, last);
      if (piece.from === "body") last = piece;
      pieces.push(piece);
    }
    return ok(pieces);
  } catch (error) {
    if (error instanceof RangeError) return fail("AP_RECIPE_INVALID", { problem: `it ${error.message}` });
    throw error;
  }
}

function readPiece(input: ByteReader, last: RecipeCopy | null): StoredPiece {
  const first = input.varint();
  const length = Math.floor(first / 4);
  switch (first % 4) {
    case LITERAL:
      return { from: "literal", bytes: input.bytes(length) };
    case CONTENT:
      return { from: "content", content: input.varint(), start: input.varint(), length };
    case SAME_BODY:
      return readCopy({ input, length, last });
    default:
      return readCopy({ input, length, last: null });
  }
}

type CopyContext = { readonly input: ByteReader; readonly length: number; readonly last: RecipeCopy | null };

function readCopy({ input, length, last }: CopyContext): RecipeCopy {
  const exchange = last === null ? input.varint() : last.exchange;
  const side = last === null ? exchangeSides[input.varint()] : last.side;
  if (side === undefined) throw new RangeError("names a side that does not exist");
  const start = unzigzag(input.varint()) + (last === null ? 0 : last.start + last.length);
  if (start < 0) throw new RangeError("copies from before the start of a body");
  return { from: "body", exchange, side, start, length };
}

/** Drops empty pieces and joins neighbours that continue each other. */
export function mergePieces<C>(pieces: readonly PieceOf<C>[]): PieceOf<C>[] {
  const merged: PieceOf<C>[] = [];
  let literals: Uint8Array[] = [];
  const flush = (): void => {
    const [only] = literals;
    if (only !== undefined)
      merged.push({ from: "literal", bytes: literals.length === 1 ? only : Buffer.concat(literals) });
    literals = [];
  };
  for (const piece of pieces) {
    if (pieceLength(piece) === 0) continue;
    if (piece.from === "literal") {
      literals.push(piece.bytes);
      continue;
    }
    flush();
    const joined = joinPieces(merged.at(-1), piece);
    if (joined === null) merged.push(piece);
    else merged[merged.length - 1] = joined;
  }
  flush();
  return merged;
}

function joinPieces<C>(
  before: PieceOf<C> | undefined,
  piece: Exclude<PieceOf<C>, { from: "literal" }>,
): PieceOf<C> | null {
  if (before === undefined || before.from !== piece.from) return null;
  assert(piece.length > 0, "empty pieces were dropped");
  if (before.start + before.length !== piece.start || !sameSource(before, piece)) return null;
  return { ...before, length: before.length + piece.length };
}

function sameSource<C>(a: PieceOf<C>, b: PieceOf<C>): boolean {
  if (a.from === "content") return b.from === "content" && a.content === b.content;
  return a.from === "body" && b.from === "body" && sameBody(a, b);
}

function sameBody(a: BodyRef, b: BodyRef): boolean {
  return a.exchange === b.exchange && a.side === b.side;
}

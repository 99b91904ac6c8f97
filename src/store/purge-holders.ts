import { bodyKeys, bodyRow, recipeOfRow } from "./body-table.ts";
import type { Database } from "./database.ts";
import { sessionRows } from "./frame-table.ts";
import { pieceLength, type StoredPiece } from "./recipe.ts";
import type { StoredBodyKey } from "./remembered.ts";
import { sides } from "./store.ts";

type Range = { readonly start: number; readonly end: number };

/** How many bodies held one of these contents, themselves or through a copy of an earlier body. */
export function countHolders(db: Database, erased: ReadonlySet<number>): number {
  if (erased.size === 0) return 0;
  return sessionRows(db).reduce((count, { id }) => {
    const rangesOf = erasedRanges(db, erased);
    return count + bodyKeys(db, id).filter((key) => rangesOf(key).length > 0).length;
  }, 0);
}

/** The ranges of a body that were erased, each body looked at once. One that cannot be read holds nothing. */
function erasedRanges(db: Database, erased: ReadonlySet<number>): (key: StoredBodyKey) => readonly Range[] {
  const known = new Map<string, readonly Range[]>();
  const rangesOf = (key: StoredBodyKey): readonly Range[] => {
    const name = `${key.exchange} ${key.side}`;
    const ranges = known.get(name) ?? look(key);
    known.set(name, ranges);
    return ranges;
  };
  const look = (key: StoredBodyKey): readonly Range[] => {
    const row = bodyRow(db, key);
    const pieces = row === null ? null : recipeOfRow(row);
    let at = 0;
    return (pieces?.ok ? pieces.value : []).flatMap((piece) => {
      const start = at;
      at += pieceLength(piece);
      return rangesIn({ piece, start, session: key.session });
    });
  };
  const rangesIn = ({ piece, start, session }: Placed): readonly Range[] => {
    if (piece.from === "literal") return [];
    if (piece.from === "content")
      return erased.has(piece.content) ? [{ start, end: start + piece.length }] : [];
    const source = { session, exchange: piece.exchange, side: sides.indexOf(piece.side) };
    return rangesOf(source).flatMap((range) => overlap(range, { ...piece, at: start }));
  };
  return rangesOf;
}

type Placed = { readonly piece: StoredPiece; readonly start: number; readonly session: number };

/** What of a range of the source a copy takes over, in the place it has in the copy. */
function overlap(
  range: Range,
  copy: { readonly start: number; readonly length: number; readonly at: number },
): readonly Range[] {
  const start = Math.max(range.start, copy.start);
  const end = Math.min(range.end, copy.start + copy.length);
  return start < end ? [{ start: start - copy.start + copy.at, end: end - copy.start + copy.at }] : [];
}

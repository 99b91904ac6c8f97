import type { ContentHash } from "../base/index.ts";
import { bodyKeys, bodyRow, recipeOfRow } from "./body-table.ts";
import {
  type ContentRow,
  contentByHash,
  eraseContent,
  readContentRow,
  rewriteWhole,
} from "./content-table.ts";
import type { Database } from "./database.ts";
import { writeStep } from "./fail-points.ts";
import { storedSessions } from "./frame-table.ts";
import { rollBack } from "./migrations.ts";
import { pieceLength, type StoredPiece } from "./recipe.ts";
import { exchangeSides, type PurgeReport } from "./store.ts";
import type { StoredBodyKey } from "./table-cache.ts";

/**
 * Erases contents for good, in one transaction. Contents that share their beginning with an erased one are
 * stored whole first. Contract: the caller empties the journal afterwards, which still holds the bytes.
 */
export function purgeContents(db: Database, hashes: readonly ContentHash[]): PurgeReport {
  db.sql("BEGIN IMMEDIATE").run();
  try {
    const rows = [...new Set(hashes)]
      .flatMap((hash) => contentByHash(db, hash) ?? [])
      .filter((row) => row.bytes !== null);
    const erased = new Set(rows.map((row) => row.id));
    writeStep("purge-rewrite", () => {
      for (const row of rows) freeDependents(db, row, erased);
    });
    for (const row of rows) writeStep("purge-erase", () => eraseContent(db, row));
    const bodies = countHolders(db, erased);
    writeStep("purge-commit", () => db.sql("COMMIT").run());
    return { contents: erased.size, bodies };
  } catch (error) {
    rollBack(db.sqlite);
    throw error;
  }
}

function freeDependents(db: Database, row: ContentRow, erased: ReadonlySet<number>): void {
  const sql = "SELECT id, hash, length, head, base, shared, depth, sum, bytes FROM contents WHERE base = ?";
  for (const dependent of db.sql(sql).all(row.id) as unknown as ContentRow[]) {
    if (erased.has(dependent.id)) continue;
    const bytes = readContentRow(db, dependent);
    // A damaged content stays damaged; the erasure the user wants does not wait for it.
    if (bytes.ok) rewriteWhole(db, dependent, bytes.value);
  }
}

type ErasedRange = { readonly start: number; readonly end: number };

/** The number of bodies that held one of these contents, directly or through a copy of an earlier body. */
function countHolders(db: Database, erased: ReadonlySet<number>): number {
  if (erased.size === 0) return 0;
  return storedSessions(db).reduce((count, { id }) => {
    const rangesOf = erasedRanges(db, erased);
    return count + bodyKeys(db, id).filter((key) => rangesOf(key).length > 0).length;
  }, 0);
}

/** Finds the erased ranges of a body and reads each body once. A body that cannot be read has none. */
function erasedRanges(
  db: Database,
  erased: ReadonlySet<number>,
): (key: StoredBodyKey) => readonly ErasedRange[] {
  const cache = new Map<string, readonly ErasedRange[]>();
  const rangesOf = (key: StoredBodyKey): readonly ErasedRange[] => {
    const name = `${key.exchange} ${key.side}`;
    const ranges = cache.get(name) ?? rangesOfBody(key);
    cache.set(name, ranges);
    return ranges;
  };
  const rangesOfBody = (key: StoredBodyKey): readonly ErasedRange[] => {
    const row = bodyRow(db, key);
    const pieces = row === null ? null : recipeOfRow(row);
    let at = 0;
    return (pieces?.ok ? pieces.value : []).flatMap((piece) => {
      const start = at;
      at += pieceLength(piece);
      return rangesOfPiece({ piece, start, session: key.session });
    });
  };
  const rangesOfPiece = ({ piece, start, session }: PieceAt): readonly ErasedRange[] => {
    if (piece.from === "literal") return [];
    if (piece.from === "content")
      return erased.has(piece.content) ? [{ start, end: start + piece.length }] : [];
    const source = { session, exchange: piece.exchange, side: exchangeSides.indexOf(piece.side) };
    return rangesOf(source).flatMap((range) => overlap(range, { ...piece, at: start }));
  };
  return rangesOf;
}

type PieceAt = { readonly piece: StoredPiece; readonly start: number; readonly session: number };

/** The part of a source's range that a copy includes, at its offset in the copying body. */
function overlap(
  range: ErasedRange,
  copy: { readonly start: number; readonly length: number; readonly at: number },
): readonly ErasedRange[] {
  const start = Math.max(range.start, copy.start);
  const end = Math.min(range.end, copy.start + copy.length);
  return start < end ? [{ start: start - copy.start + copy.at, end: end - copy.start + copy.at }] : [];
}

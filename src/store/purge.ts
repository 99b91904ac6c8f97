import type { ContentHash } from "../base/index.ts";
import { type ContentRow, contentByHash, eraseContent, readRow, rewriteWhole } from "./content-table.ts";
import type { Database } from "./database.ts";
import { writeStep } from "./fail-points.ts";
import { rollBack } from "./migrations.ts";
import { countHolders } from "./purge-holders.ts";
import type { PurgeReport } from "./store.ts";

/**
 * Erases contents for good, in one transaction. Those that share their beginning with an erased one are
 * written whole first. Contract: the caller empties the journal afterwards, where the bytes still are.
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
    const bytes = readRow(db, dependent);
    // A damaged one stays damaged; erasing what the user wants erased does not wait for it.
    if (bytes.ok) rewriteWhole(db, dependent, bytes.value);
  }
}

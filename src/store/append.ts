import { fail, ok, type Result } from "../base/index.ts";
import { checkBatch } from "./batch-rules.ts";
import { insertBody } from "./body-table.ts";
import { insertContent } from "./content-table.ts";
import type { Database } from "./database.ts";
import { isBatchError } from "./database-faults.ts";
import { writeStep } from "./fail-points.ts";
import { insertFrames } from "./frame-table.ts";
import { rollBack } from "./migrations.ts";
import { insertSnapshot } from "./snapshot-table.ts";
import type { Batch } from "./store.ts";

/**
 * Writes batches in one transaction and returns for each whether it was written. A batch refused because of
 * its content does not affect the others. Throws if the database cannot be written; then none of them is.
 */
export function appendGroup(db: Database, batches: readonly Batch[]): readonly Result<void>[] {
  // Batches are hardly ever refused. Only if one is does each batch get a savepoint of its own.
  return transact(db, () => writeAll(db, batches)) ?? transact(db, () => writeEach(db, batches)) ?? [];
}

/** Commits if `write` returns a result, and rolls back if it returns null. */
function transact<T>(db: Database, write: () => T | null): T | null {
  db.sql("BEGIN IMMEDIATE").run();
  try {
    db.cache.checkVersion(db.sql("PRAGMA data_version").get()?.["data_version"]);
    const result = write();
    if (result === null) rollBackAndForget(db);
    else writeStep("commit", () => db.sql("COMMIT").run());
    return result;
  } catch (error) {
    rollBackAndForget(db);
    throw error;
  }
}

function rollBackAndForget(db: Database): void {
  db.cache.forget();
  rollBack(db.sqlite);
}

/** Null as soon as one batch is refused. */
function writeAll(db: Database, batches: readonly Batch[]): readonly Result<void>[] | null {
  const results: Result<void>[] = [];
  for (const batch of batches) {
    const result = tryBatch(db, batch);
    if (!result.ok) return null;
    results.push(result);
  }
  return results;
}

function writeEach(db: Database, batches: readonly Batch[]): readonly Result<void>[] {
  return batches.map((batch) => {
    db.sql("SAVEPOINT batch").run();
    const result = tryBatch(db, batch);
    if (!result.ok) {
      db.cache.forget();
      db.sql("ROLLBACK TO batch").run();
    }
    db.sql("RELEASE batch").run();
    return result;
  });
}

function tryBatch(db: Database, batch: Batch): Result<void> {
  try {
    return writeBatch(db, batch);
  } catch (error) {
    if (!isBatchError(error)) throw error;
    // A value SQLite rejects, or a bug of ours, must not block every batch behind this one for ever.
    return fail("AP_STORE_IO", { problem: error instanceof Error ? error.message : String(error) });
  }
}

function writeBatch(db: Database, batch: Batch): Result<void> {
  const checked = checkBatch(batch);
  if (!checked.ok) return checked;
  for (const content of batch.contents ?? []) insertContent(db, content);
  const framed = insertFrames(db, batch.frames ?? []);
  if (!framed.ok) return framed;
  for (const body of batch.bodies ?? []) {
    const stored = insertBody(db, body);
    if (!stored.ok) return stored;
  }
  for (const snapshot of batch.snapshots ?? []) {
    const stored = insertSnapshot(db, snapshot);
    if (!stored.ok) return stored;
  }
  return ok(undefined);
}

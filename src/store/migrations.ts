import { chmodSync, closeSync, openSync, renameSync, rmSync } from "node:fs";
import { assert, must } from "../base/index.ts";
import { faultOf, StoreFault } from "./database-faults.ts";
import { type Driver, type Sqlite, selectOnce } from "./driver.ts";
import { FailPointError, writeStep } from "./fail-points.ts";
import { createFormat1, schemaOf } from "./table-schema.ts";

/** One step from a format to the next, in one transaction. A released migration is never edited. */
export type Migration = { readonly format: number; readonly up: (db: Sqlite) => void };

export const migrations: readonly Migration[] = [
  { format: 1, up: createFormat1 },
  // Frames may name exchanges. The tables are the same, but a version that does not know such frames must not
  // write.
  { format: 2, up: () => undefined },
  // An exchange may say in which form its body was sent on. Again only frames differ.
  { format: 3, up: () => undefined },
  // Frames may hold approvals, permissions and modes.
  { format: 4, up: () => undefined },
  // Blocks may say the form of their content, sessions and exchanges their wire format.
  { format: 5, up: () => undefined },
];

export type MigrationTarget = { readonly path: string; readonly migrations: readonly Migration[] };

export function latestFormat(list: readonly Migration[]): number {
  return must(list.at(-1), "there is at least one format").format;
}

export function formatOf(db: Sqlite): number {
  return selectOnce(db, "user_version", "pragma_user_version")[0]?.[0] as number;
}

/** Contract: the file is ours or empty, and not of a newer format. An existing database is copied first. */
export function migrate(db: Sqlite, target: MigrationTarget): void {
  const found = formatOf(db);
  const latest = latestFormat(target.migrations);
  assert(found <= latest, "a newer file was refused before");
  if (found === latest) return;
  if (found > 0) writeStep("migration-backup", () => copyAside(db, `${target.path}.format-${found}.bak`));
  for (const migration of target.migrations) {
    if (migration.format > found) runMigration(db, migration);
  }
  // The file's own header must have the new format, also for readers that do not read the journal.
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}

/** The schema these migrations make, to compare a database with. */
export function expectedSchema(driver: Driver, list: readonly Migration[]): readonly string[] {
  const db = new driver.DatabaseSync(":memory:");
  try {
    for (const { up } of list) up(db);
    return schemaOf(db);
  } finally {
    db.close();
  }
}

function runMigration(db: Sqlite, { format, up }: Migration): void {
  db.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have migrated the file between our check and our lock.
    if (formatOf(db) < format) {
      writeStep("migration-run", () => up(db));
      db.exec(`PRAGMA user_version = ${format}`);
    }
    writeStep("migration-commit", () => db.exec("COMMIT"));
  } catch (error) {
    rollBack(db);
    throw migrationFault(error, format);
  }
}

/**
 * A lock or a full disk goes away; any other error would fail again in the same way, so it stops the store.
 */
function migrationFault(error: unknown, format: number): unknown {
  if (error instanceof FailPointError) return error;
  const { error: cause } = faultOf(error, "");
  if (cause.code !== "AP_STORE_IO" || isDiskError(error)) return error;
  return new StoreFault("stop", "AP_STORE_MIGRATION", { format, problem: String(cause.details["problem"]) });
}

function isDiskError(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === 10;
}

export function rollBack(db: Sqlite): void {
  try {
    db.exec("ROLLBACK");
  } catch {
    // SQLite has rolled back by itself, as it does when the disk is full.
  }
}

function copyAside(db: Sqlite, path: string): void {
  const unfinished = `${path}.new`;
  rmSync(unfinished, { force: true });
  writeCopy(db, unfinished);
  renameSync(unfinished, path);
}

/**
 * Writes the whole database to a file that must not exist, readable by its owner alone from the first byte
 * on.
 */
export function writeCopy(db: Sqlite, path: string): void {
  closeSync(openSync(path, "wx", 0o600));
  try {
    chmodSync(path, 0o600);
    db.prepare("VACUUM INTO ?").run(path);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}

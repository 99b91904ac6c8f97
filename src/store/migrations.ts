import { chmodSync, closeSync, openSync, renameSync, rmSync } from "node:fs";
import { assert, must } from "../base/index.ts";
import { type Driver, readOnce, type Sqlite } from "./driver.ts";
import { FailPointReached, writeStep } from "./fail-points.ts";
import { faultOf, StoreFault } from "./faults.ts";
import { createFormat1, schemaOf } from "./schema.ts";

/** One step from a format to the next, done in one transaction. Steps are never edited once released. */
export type Migration = { readonly format: number; readonly up: (db: Sqlite) => void };

export const migrations: readonly Migration[] = [
  { format: 1, up: createFormat1 },
  // Frames may name exchanges. The tables stay, but a version that does not know such frames must not write.
  { format: 2, up: () => undefined },
  // An exchange may say how its body was sent on. Again only frames differ.
  { format: 3, up: () => undefined },
  // Frames may hold approvals, permissions and modes.
  { format: 4, up: () => undefined },
];

/** The format this version writes. */
export const storeFormat = latestFormat(migrations);

export type MigrationTarget = { readonly path: string; readonly migrations: readonly Migration[] };

export function latestFormat(list: readonly Migration[]): number {
  return must(list.at(-1), "there is at least one format").format;
}

export function formatOf(db: Sqlite): number {
  return readOnce(db, "user_version", "pragma_user_version")[0]?.[0] as number;
}

/** Contract: the file is ours or empty, and not newer than we are. A copy of what is there is made first. */
export function migrate(db: Sqlite, target: MigrationTarget): void {
  const found = formatOf(db);
  const latest = latestFormat(target.migrations);
  assert(found <= latest, "a newer file was refused before");
  if (found === latest) return;
  if (found > 0) writeStep("migration-backup", () => copyAside(db, `${target.path}.format-${found}.bak`));
  for (const migration of target.migrations) {
    if (migration.format > found) runMigration(db, migration);
  }
  // The header of the file itself shall say which format it has, also to one that looks without the journal.
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}

/** What a database of this list of migrations looks like when nothing is wrong with it. */
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
    // Another process may have been quicker between our look and our lock.
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

/** A lock or a full disk passes; anything else would fail again in the same way. */
function migrationFault(error: unknown, format: number): unknown {
  if (error instanceof FailPointReached) return error;
  const { error: found } = faultOf(error, "");
  if (found.code !== "AP_STORE_IO" || isDiskError(error)) return error;
  return new StoreFault("stop", "AP_STORE_MIGRATION", { format, problem: String(found.details["problem"]) });
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

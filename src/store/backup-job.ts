import { closeSync, fsyncSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { fail, ok, type Result } from "../base/index.ts";
import type { Database } from "./database.ts";
import { writeStep } from "./fail-points.ts";
import { writeCopy } from "./migrations.ts";
import type { BackupReport } from "./store.ts";

/** Writes a consistent copy to a new file and syncs it to disk before it returns. */
export function backUp(db: Database, path: string): Result<BackupReport> {
  try {
    writeStep("backup-write", () => writeCopy(db.sqlite, path));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST")
      return fail("AP_BACKUP_EXISTS", { path });
    throw error;
  }
  syncPath(path);
  syncPath(dirname(path));
  return ok({ path, bytes: statSync(path).size });
}

function syncPath(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

import type { SessionId } from "../base/index.ts";
import type { Database } from "./database.ts";
import { writeStep } from "./fail-points.ts";
import { storedSession } from "./frame-table.ts";
import { collectGarbage } from "./gc-job.ts";
import { rollBack } from "./migrations.ts";
import type { DropReport } from "./store.ts";

/**
 * The tables with rows of one session, ordered so that no row is deleted before the rows that refer to it.
 */
const tables = ["pages", "snapshots", "bodies", "frames"] as const;

/**
 * Deletes a whole session and no frame of another. Contents that other sessions hold too stay. Contract: the
 * caller empties the journal afterwards, which still holds the bytes.
 */
export function dropSession(db: Database, key: SessionId): DropReport {
  db.cache.forget();
  const row = storedSession(db, key);
  if (row === null) return { frames: 0, bodies: 0, contents: 0, freedBytes: 0 };
  db.sql("BEGIN IMMEDIATE").run();
  let bodies = 0;
  try {
    bodies = db.sql("SELECT count(*) AS n FROM bodies WHERE session = ?").get(row.id)?.["n"] as number;
    writeStep("drop-rows", () => {
      for (const table of tables) db.sqlite.prepare(`DELETE FROM ${table} WHERE session = ?`).run(row.id);
      db.sql("DELETE FROM sessions WHERE id = ?").run(row.id);
    });
    writeStep("drop-commit", () => db.sql("COMMIT").run());
  } catch (error) {
    rollBack(db.sqlite);
    throw error;
  }
  const { contents, freedBytes } = collectGarbage(db);
  return { frames: row.seq, bodies, contents, freedBytes };
}

import type { SessionId } from "../base/index.ts";
import type { Database } from "./database.ts";
import { writeStep } from "./fail-points.ts";
import { sessionRow } from "./frame-table.ts";
import { collectGarbage } from "./gc.ts";
import { rollBack } from "./migrations.ts";
import type { DropReport } from "./store.ts";

/** Everything that belongs to one session alone, what is pointed to behind what points to it. */
const tables = ["pages", "snapshots", "bodies", "frames"] as const;

/**
 * Takes a whole log away: no frame of another is touched, and none of its own is left. What other sessions
 * hold as well stays theirs. Contract: the caller empties the journal afterwards, where the bytes still are.
 */
export function dropSession(db: Database, key: SessionId): DropReport {
  db.known.forget();
  const row = sessionRow(db, key);
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

import { sessionId } from "../base/index.ts";
import { deltaContents } from "../engine/frames/index.ts";
import { recipeOfRow, type StoredBody } from "./body-table.ts";
import { type Database, readPragma } from "./database.ts";
import { valueOrThrow } from "./database-faults.ts";
import { writeStep } from "./fail-points.ts";
import { bytesFromHex, readFrames, storedSessions } from "./frame-table.ts";
import { rollBack } from "./migrations.ts";
import { dropPage, pageNames, pageNamesIn, snapshotRow } from "./snapshot-table.ts";
import type { GcReport } from "./store.ts";

const CHUNK_FRAMES = 512;

/** The file is rewritten when at least this share of it, and this many pages, are empty. */
const EMPTY_SHARE = 0.25;
const EMPTY_PAGES_MIN = 64;

/**
 * Drops contents and pages that nothing refers to, in one transaction. A content that was never named is
 * dropped too, so contents are sent together with the frame or body that names them. Purged contents stay
 * marked.
 */
export function collectGarbage(db: Database): GcReport {
  db.cache.forget();
  db.sql("BEGIN IMMEDIATE").run();
  let report: GcReport;
  try {
    const contents = dropContents(db);
    const pages = writeStep("gc-pages", () => dropPages(db));
    report = { contents: contents.count, pages: pages.count, freedBytes: contents.bytes + pages.bytes };
    writeStep("gc-commit", () => db.sql("COMMIT").run());
  } catch (error) {
    rollBack(db.sqlite);
    throw error;
  }
  writeStep("gc-vacuum", () => giveRoomBack(db));
  return report;
}

type DropCount = { readonly count: number; readonly bytes: number };

function dropContents(db: Database): DropCount {
  const needed = withBases(db, new Set([...namedByFrames(db), ...namedByBodies(db)]));
  const rows = db.sql("SELECT id, length(bytes) AS bytes FROM contents WHERE bytes IS NOT NULL").all();
  const dropped = rows.filter((row) => !needed.has(row["id"] as number));
  writeStep("gc-contents", () => {
    for (const row of dropped) db.sql("DELETE FROM contents WHERE id = ?").run(row["id"] as number);
  });
  return { count: dropped.length, bytes: dropped.reduce((sum, row) => sum + (row["bytes"] as number), 0) };
}

function* namedByFrames(db: Database): Generator<number> {
  const idOf = db.sql("SELECT id FROM contents WHERE hash = ?");
  for (const row of storedSessions(db)) {
    for (let after = 0; after < row.seq; after += CHUNK_FRAMES) {
      const frames = valueOrThrow(
        readFrames(db, { session: sessionId(row.key), after, limit: CHUNK_FRAMES }),
      );
      for (const hash of frames.flatMap((frame) => frame.deltas.flatMap(deltaContents))) {
        const id = idOf.get(bytesFromHex(hash))?.["id"];
        if (typeof id === "number") yield id;
      }
    }
  }
}

function* namedByBodies(db: Database): Generator<number> {
  for (const row of db.sqlite.prepare("SELECT * FROM bodies").iterate() as IterableIterator<unknown>) {
    for (const piece of valueOrThrow(recipeOfRow(row as StoredBody))) {
      if (piece.from === "content") yield piece.content;
    }
  }
}

/** A content needs the base it shares its beginning with, and the base needs its own base. */
function withBases(db: Database, named: ReadonlySet<number>): ReadonlySet<number> {
  const needed = new Set<number>();
  const baseOf = db.sql("SELECT base FROM contents WHERE id = ?");
  for (const start of named) {
    for (let id: unknown = start; typeof id === "number" && !needed.has(id); id = baseOf.get(id)?.["base"])
      needed.add(id);
  }
  return needed;
}

function dropPages(db: Database): DropCount {
  let [count, bytes] = [0, 0];
  for (const { id: session } of storedSessions(db)) {
    const row = snapshotRow(db, session);
    const named = new Set(row === null ? [] : pageNamesIn(row));
    for (const name of [...pageNames(db, session)].filter((page) => !named.has(page))) {
      const size = db.sql("SELECT length(bytes) AS bytes FROM pages WHERE session = ? AND name = ?");
      bytes += size.get(session, bytesFromHex(name))?.["bytes"] as number;
      count += 1;
      dropPage(db, { session, name });
    }
  }
  return { count, bytes };
}

function giveRoomBack(db: Database): void {
  const empty = readPragma(db, "freelist_count")[0]?.["freelist_count"] as number;
  const all = readPragma(db, "page_count")[0]?.["page_count"] as number;
  if (empty >= EMPTY_PAGES_MIN && empty >= all * EMPTY_SHARE) db.sqlite.exec("VACUUM");
}

import type { Database } from "./database.ts";
import { sessionRows } from "./frame-table.ts";
import type { VerifyReport } from "./store.ts";
import { type Check, found, guarded, openTally, tryRows } from "./verify-check.ts";
import { checkContents, checkFile } from "./verify-file.ts";
import { checkBodies, checkFrames, checkSnapshot } from "./verify-session.ts";

/** How far back the quick check looks in each session. */
export const TAIL_FRAMES = 64;

/**
 * Looks at everything there is; nothing of it is assumed to be right. Yields now and then, so that whoever
 * runs it can let writes through in between.
 */
export function* verifyAll(db: Database): Generator<void, VerifyReport> {
  const check = beginCheck(db);
  yield* guarded(check, "file", () => checkFile(check));
  yield* guarded(check, "contents", () => checkContents(check));
  for (const row of tryRows(check, "sessions", () => sessionRows(db))) {
    yield* guarded(check, `session ${row.key}`, () => checkFrames(check, row, 0));
    yield* guarded(check, `bodies of session ${row.key}`, () => checkBodies(check, row));
    yield* guarded(check, `snapshot of session ${row.key}`, () => checkSnapshot(check, row));
  }
  return { scope: "all", ...check.tally };
}

/** What was lost from the journal left no trace in the file: it was seen at the opening, or never. */
function beginCheck(db: Database): Check {
  const check: Check = { db, tally: openTally() };
  if (db.lostFrames > 0)
    found(check, "journal", `${db.lostFrames} frames of it were damaged; what they had committed is lost`);
  return check;
}

/** The last frames of every session, or of those that were written most recently. */
export function* verifyTail(
  db: Database,
  sessionsMax = Number.POSITIVE_INFINITY,
): Generator<void, VerifyReport> {
  const check = beginCheck(db);
  const rows = tryRows(check, "sessions", () => sessionRows(db));
  for (const row of [...rows].sort((a, b) => b.time - a.time).slice(0, sessionsMax)) {
    const after = Math.max(0, row.seq - TAIL_FRAMES);
    yield* guarded(check, `session ${row.key}`, () => checkFrames(check, row, after));
  }
  return { scope: "tail", ...check.tally };
}

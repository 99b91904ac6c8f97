import type { Database } from "./database.ts";
import { storedSessions } from "./frame-table.ts";
import type { VerifyReport } from "./store.ts";
import { catchDamage, emptyTally, reportDamage, tryRows, type Verification } from "./verification.ts";
import { checkContents, checkFile } from "./verify-file.ts";
import { checkBodies, checkFrames, checkSnapshot } from "./verify-session.ts";

/** The number of frames the quick check reads in each session. */
export const TAIL_FRAMES = 64;

/**
 * Checks everything, and trusts nothing it reads. Yields now and then, so that the caller can let writes
 * through in between.
 */
export function* verifyAll(db: Database): Generator<void, VerifyReport> {
  const check = beginCheck(db);
  yield* catchDamage(check, "file", () => checkFile(check));
  yield* catchDamage(check, "contents", () => checkContents(check));
  for (const row of tryRows(check, "sessions", () => storedSessions(db))) {
    yield* catchDamage(check, `session ${row.key}`, () => checkFrames(check, row, 0));
    yield* catchDamage(check, `bodies of session ${row.key}`, () => checkBodies(check, row));
    yield* catchDamage(check, `snapshot of session ${row.key}`, () => checkSnapshot(check, row));
  }
  return { scope: "all", ...check.tally };
}

/** Frames lost from the journal leave no trace in the file: only the opening could notice them. */
function beginCheck(db: Database): Verification {
  const check: Verification = { db, tally: emptyTally() };
  if (db.lostFrames > 0)
    reportDamage(
      check,
      "journal",
      `${db.lostFrames} frames of it were damaged; what they had committed is lost`,
    );
  return check;
}

/** Checks the last frames of every session, or of the most recently written ones. */
export function* verifyTail(
  db: Database,
  sessionsMax = Number.POSITIVE_INFINITY,
): Generator<void, VerifyReport> {
  const check = beginCheck(db);
  const rows = tryRows(check, "sessions", () => storedSessions(db));
  for (const row of [...rows].sort((a, b) => b.time - a.time).slice(0, sessionsMax)) {
    const after = Math.max(0, row.seq - TAIL_FRAMES);
    yield* catchDamage(check, `session ${row.key}`, () => checkFrames(check, row, after));
  }
  return { scope: "tail", ...check.tally };
}

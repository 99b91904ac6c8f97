import { apertureError, fail, ok, type Result, unreachable } from "../base/index.ts";
import { backUp } from "./backup.ts";
import { closeQuietly, type Database, limitPages, openReader, truncateJournal } from "./database.ts";
import type { Driver } from "./driver.ts";
import { dropSession } from "./drop.ts";
import { FailPointReached } from "./fail-points.ts";
import { faultOf } from "./faults.ts";
import { collectGarbage } from "./gc.ts";
import type { Job } from "./messages.ts";
import { purgeContents } from "./purge.ts";
import type { VerifyReport } from "./store.ts";
import { verifyAll, verifyTail } from "./verify.ts";

export type Workplace = {
  readonly db: Database;
  readonly driver: Driver;
  /** Lets other requests through; false when the work should stop. */
  readonly pause: (ms: number) => Promise<boolean>;
  readonly now: () => Date;
};

/** How long a check works before it lets others through. */
const SHIFT_MS = 10;
const JOURNAL_TRIES_MAX = 40;
const JOURNAL_PAUSE_MS = 50;

export async function runJob(place: Workplace, job: Job): Promise<Result<unknown>> {
  try {
    return await perform(place, job);
  } catch (error) {
    if (error instanceof FailPointReached) throw error;
    return { ok: false, error: faultOf(error, place.db.path).error };
  }
}

async function perform(place: Workplace, job: Job): Promise<Result<unknown>> {
  switch (job.type) {
    case "verify":
      return await verifyWith(place, (db) => (job.scope === "all" ? verifyAll(db) : verifyTail(db)));
    case "gc":
      return ok(collectGarbage(place.db));
    case "backup":
      return backUp(place.db, job.path);
    case "purge":
      return await withoutJournal(place, purgeContents(place.db, job.hashes));
    case "drop":
      return await withoutJournal(place, dropSession(place.db, job.session));
    case "limit-pages":
      return ok(limitPages(place.db.sqlite, job.pages));
    default:
      return unreachable(job);
  }
}

/** Answers with an error if the database could not be looked at. */
export async function verifyWith(
  place: Workplace,
  begin: (db: Database) => Generator<void, VerifyReport>,
): Promise<Result<VerifyReport>> {
  let reader: Database | null = null;
  try {
    reader = openReader(place.db, place.driver);
    return await inShifts(place, begin(reader));
  } catch (error) {
    return { ok: false, error: faultOf(error, place.db.path).error };
  } finally {
    if (reader !== null) closeQuietly(reader.sqlite);
  }
}

async function inShifts(
  { pause, now }: Workplace,
  work: Generator<void, VerifyReport>,
): Promise<Result<VerifyReport>> {
  let shiftMs = now().getTime();
  for (let step = work.next(); ; step = work.next()) {
    if (step.done) return ok(step.value);
    if (now().getTime() - shiftMs < SHIFT_MS) continue;
    if (!(await pause(0))) return fail("AP_STORE_CLOSED");
    shiftMs = now().getTime();
  }
}

/** Done only when the bytes are gone from the journal too. */
async function withoutJournal({ db, pause }: Workplace, report: unknown): Promise<Result<unknown>> {
  for (let tries = 0; tries < JOURNAL_TRIES_MAX; tries++) {
    if (truncateJournal(db)) return ok(report);
    if (!(await pause(JOURNAL_PAUSE_MS))) break;
  }
  return { ok: false, error: apertureError("AP_STORE_LOCKED") };
}

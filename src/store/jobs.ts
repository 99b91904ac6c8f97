import { apertureError, fail, ok, type Result, unreachable } from "../base/index.ts";
import { backUp } from "./backup-job.ts";
import { closeQuietly, type Database, limitPages, openReader, truncateJournal } from "./database.ts";
import { faultOf } from "./database-faults.ts";
import type { Driver } from "./driver.ts";
import { dropSession } from "./drop-job.ts";
import { FailPointError } from "./fail-points.ts";
import { collectGarbage } from "./gc-job.ts";
import { purgeContents } from "./purge-job.ts";
import type { VerifyReport } from "./store.ts";
import type { StoreJob } from "./store-messages.ts";
import { verifyAll, verifyTail } from "./verify-job.ts";

export type JobDeps = {
  readonly db: Database;
  readonly driver: Driver;
  /** Lets other requests through. False if the job should stop. */
  readonly pause: (ms: number) => Promise<boolean>;
  readonly now: () => Date;
};

/** How long a check runs before it lets other requests through. */
const SHIFT_MS = 10;
const JOURNAL_TRIES_MAX = 40;
const JOURNAL_PAUSE_MS = 50;

export async function runJob(deps: JobDeps, job: StoreJob): Promise<Result<unknown>> {
  try {
    return await perform(deps, job);
  } catch (error) {
    if (error instanceof FailPointError) throw error;
    return { ok: false, error: faultOf(error, deps.db.path).error };
  }
}

async function perform(deps: JobDeps, job: StoreJob): Promise<Result<unknown>> {
  switch (job.type) {
    case "verify":
      return await verifyWith(deps, (db) => (job.scope === "all" ? verifyAll(db) : verifyTail(db)));
    case "gc":
      return ok(collectGarbage(deps.db));
    case "backup":
      return backUp(deps.db, job.path);
    case "purge":
      return await afterJournalIsEmpty(deps, purgeContents(deps.db, job.hashes));
    case "drop":
      return await afterJournalIsEmpty(deps, dropSession(deps.db, job.session));
    case "limit-pages":
      return ok(limitPages(deps.db.sqlite, job.pages));
    default:
      return unreachable(job);
  }
}

/** Returns an error if the database could not be read at all. */
export async function verifyWith(
  deps: JobDeps,
  begin: (db: Database) => Generator<void, VerifyReport>,
): Promise<Result<VerifyReport>> {
  let reader: Database | null = null;
  try {
    reader = openReader(deps.db, deps.driver);
    return await inShifts(deps, begin(reader));
  } catch (error) {
    return { ok: false, error: faultOf(error, deps.db.path).error };
  } finally {
    if (reader !== null) closeQuietly(reader.sqlite);
  }
}

async function inShifts(
  { pause, now }: JobDeps,
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

/** Returns the report only when the erased bytes are gone from the journal too. */
async function afterJournalIsEmpty({ db, pause }: JobDeps, report: unknown): Promise<Result<unknown>> {
  for (let tries = 0; tries < JOURNAL_TRIES_MAX; tries++) {
    if (truncateJournal(db)) return ok(report);
    if (!(await pause(JOURNAL_PAUSE_MS))) break;
  }
  return { ok: false, error: apertureError("AP_STORE_LOCKED") };
}

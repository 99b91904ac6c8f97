import { setTimeout as sleep } from "node:timers/promises";
import { type ApertureError, apertureError, fail, limits, type Result } from "../base/index.ts";
import { appendGroup } from "./append.ts";
import { type BatchSize, batchSize } from "./batch-size.ts";
import {
  closeQuietly,
  type Database,
  isInPlace,
  type OpenedDatabase,
  openDatabase,
  replaceDatabase,
  truncateJournal,
} from "./database.ts";
import { type DatabaseFault, faultOf } from "./database-faults.ts";
import type { Driver } from "./driver.ts";
import { FailPointError } from "./fail-points.ts";
import { type JobDeps, runJob, verifyWith } from "./jobs.ts";
import { receiveBatch } from "./posted-batch.ts";
import { runRead } from "./reads.ts";
import type { Batch } from "./store.ts";
import type {
  StoreHealth,
  StoreJob,
  StoreQuery,
  StoreReply,
  StoreRequest,
  StoreThreadOptions,
} from "./store-messages.ts";
import { verifyTail } from "./verify-job.ts";

/** Sends replies to one handle. */
export type ReplySender = (reply: StoreReply) => void;
export type IncomingRequest = { readonly request: StoreRequest; readonly send: ReplySender };

type QueuedBatch = {
  readonly id: number;
  readonly batch: Batch;
  readonly size: BatchSize;
  readonly send: ReplySender;
};
type BatchOutcome = { readonly queued: QueuedBatch; readonly refusal: ApertureError | null };

/** The first pauses are too short to report: two processes that write by turns often meet a lock. */
const PAUSES_MS = [1, 4, 20, 40, 80, 160, 320, 500] as const;
const QUIET_TRIES = 2;
/** A connection that met an error is reopened at once; if that does not help, only at every eighth try. */
const REOPEN_EVERY_TRIES = 8;
const GROUP_BYTES_MAX = 8 * 1024 * 1024;
/**
 * Each handle keeps to the queue limit by itself; this bounds the batches that closed handles left behind.
 */
const WAITING_BYTES_MAX = limits.queueBytesMax * 2;
const CLOSE_MS_MAX = 5_000;
const CLOSE_PAUSE_MS = 20;
const RECENT_SESSIONS_MAX = 32;

/**
 * Owns the database, on a thread of its own. Batches are written in the order they came, all that wait in one
 * transaction. When the database cannot be written they stay queued and a timer tries again: no call blocks.
 */
export class StoreThread {
  readonly #options: StoreThreadOptions;
  readonly #driver: Driver;
  readonly #handles = new Set<ReplySender>();
  readonly #waiting: QueuedBatch[] = [];
  #waitingBytes = 0;
  #db: Database | null = null;
  #fault: DatabaseFault | null = null;
  #maxPages: number | null;
  /** The health last sent to the handles. Null before the first report. */
  #health: StoreHealth | null = null;
  #tries = 0;
  #timer: NodeJS.Timeout | null = null;
  #jobs: Promise<void> = Promise.resolve();
  #closing = false;

  constructor(options: StoreThreadOptions, driver: Driver) {
    this.#options = options;
    this.#maxPages = options.maxPages;
    this.#driver = driver;
  }

  start(): void {
    if (this.#ensureOpen()) this.#recover();
  }

  /** From now on this handle gets reports of the store's health. */
  addHandle(send: ReplySender): void {
    this.#handles.add(send);
    if (this.#health !== null) send({ type: "health", health: this.#health });
  }

  /** Batches the handle has sent are still written. */
  removeHandle(send: ReplySender): void {
    this.#handles.delete(send);
  }

  receive(incoming: readonly IncomingRequest[]): void {
    for (const { request, send } of incoming) {
      const { id, call } = request;
      if (call.type === "append") {
        const batch = receiveBatch(call.batch);
        this.#enqueue({ id, batch, size: batchSize(batch), send });
        continue;
      }
      // Batches accepted before the query are written first, so that the query finds them.
      this.#write();
      this.#answer(call, (result) => send({ type: "answer", id, result }));
    }
    this.#write();
  }

  /** Resolves when everything that can be written is written and the file is closed. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#jobs;
    for (let leftMs = CLOSE_MS_MAX; this.#waiting.length > 0 && leftMs > 0; leftMs -= CLOSE_PAUSE_MS) {
      await sleep(CLOSE_PAUSE_MS);
      this.#write();
    }
    this.#refuseWaiting(apertureError("AP_STORE_CLOSED"));
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#db !== null) emptyJournal(this.#db);
    this.release();
  }

  /** Closes the file at once, whatever is going on. */
  release(): void {
    if (this.#db !== null) closeQuietly(this.#db.sqlite);
    this.#db = null;
  }

  #enqueue(queued: QueuedBatch): void {
    if (this.#waitingBytes > WAITING_BYTES_MAX) {
      const frames = this.#waiting.reduce((sum, { size }) => sum + size.frames, 0);
      const refusal = apertureError("AP_STORE_QUEUE_FULL", { frames, bytes: this.#waitingBytes });
      sendOutcomes([{ queued, refusal }]);
      return;
    }
    this.#waiting.push(queued);
    this.#waitingBytes += queued.size.bytes;
  }

  /** Removes the first batches of the queue. */
  #dequeue(count: number): readonly QueuedBatch[] {
    const removed = this.#waiting.splice(0, count);
    this.#waitingBytes -= removed.reduce((sum, { size }) => sum + size.bytes, 0);
    return removed;
  }

  #write(): void {
    if (this.#fault?.remedy === "stop") this.#refuseWaiting(this.#fault.error);
    while (this.#waiting.length > 0 && this.#timer === null) {
      if (!this.#ensureOpen() || this.#db === null) return;
      const group = nextGroup(this.#waiting);
      try {
        const results = appendGroup(
          this.#db,
          group.map(({ batch }) => batch),
        );
        this.#dequeue(group.length);
        this.#recover();
        sendOutcomes(group.map((queued, at) => ({ queued, refusal: refusalIn(results[at]) })));
      } catch (error) {
        this.#handleFailure(error);
      }
    }
  }

  #ensureOpen(): boolean {
    if (this.#db !== null && isInPlace(this.#db)) return true;
    if (this.#timer !== null || this.#fault?.remedy === "stop") return false;
    const vanished = this.#db !== null;
    this.release();
    try {
      this.#adoptDatabase(openDatabase(this.#openOptions()), vanished);
      return true;
    } catch (error) {
      this.#handleFailure(error);
      return false;
    }
  }

  #openOptions(): Parameters<typeof openDatabase>[0] {
    const { path } = this.#options;
    return { path, maxPages: this.#maxPages, driver: this.#driver, now: () => new Date() };
  }

  #adoptDatabase({ database, aside, crashed }: OpenedDatabase, vanished: boolean): void {
    this.#db = database;
    if (aside !== null) {
      const { path } = this.#options;
      const foreign = { path: `${path} (kept as ${aside.path}; a new one was started)` };
      const damaged = { problem: `${aside.problem}; it was kept as ${aside.path} and a new one was started` };
      this.#recover(
        aside.kind === "foreign"
          ? apertureError("AP_STORE_FOREIGN", foreign)
          : apertureError("AP_STORE_CORRUPT", damaged),
      );
    } else if (vanished) {
      this.#recover(
        apertureError("AP_STORE_CORRUPT", {
          problem: "its file was moved or deleted; a new one was started",
        }),
      );
    }
    if (crashed) this.#queueJob(() => this.#checkRecent());
  }

  /** Verifies the newest frames, which are the ones a crash may have damaged. */
  async #checkRecent(): Promise<void> {
    const deps = this.#jobDeps();
    if (deps === null) return;
    const report = await verifyWith(deps, (db) => verifyTail(db, RECENT_SESSIONS_MAX));
    const first = report.ok ? report.value.damage[0] : undefined;
    if (first === undefined || this.#fault !== null) return;
    this.#recover(apertureError("AP_STORE_CORRUPT", { problem: `${first.where}: ${first.problem}` }));
  }

  #handleFailure(error: unknown): void {
    if (error instanceof FailPointError) throw error;
    this.#fault = faultOf(error, this.#options.path);
    if (this.#fault.remedy === "damaged" && this.#db !== null && this.#replace(this.#fault)) return;
    if (this.#fault.remedy !== "wait" && this.#tries % REOPEN_EVERY_TRIES === 0) this.release();
    if (this.#fault.remedy === "stop") {
      this.#stop(this.#fault.error);
      return;
    }
    const locked = this.#fault.error.code === "AP_STORE_LOCKED";
    if (!locked || this.#tries >= QUIET_TRIES) this.#setHealth(degraded(this.#fault.error));
    this.#scheduleRetry();
  }

  /** Replaces a file that turns out to be damaged while it is written. */
  #replace(fault: DatabaseFault): boolean {
    const inPlace = this.#db !== null && isInPlace(this.#db);
    this.release();
    try {
      const options = this.#openOptions();
      const problem = String(fault.error.details["problem"]);
      this.#adoptDatabase(inPlace ? replaceDatabase(options, problem) : openDatabase(options), !inPlace);
      return true;
    } catch (error) {
      if (error instanceof FailPointError) throw error;
      return false;
    }
  }

  #scheduleRetry(): void {
    const pauseMs = PAUSES_MS[Math.min(this.#tries, PAUSES_MS.length - 1)];
    this.#tries += 1;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#ensureOpen() && this.#waiting.length === 0) this.#recover();
      this.#write();
    }, pauseMs);
  }

  #recover(notice: ApertureError | null = null): void {
    this.#fault = null;
    this.#tries = 0;
    if (this.#health?.storage !== "ok" || notice !== null) this.#setHealth(healthy(notice));
  }

  #setHealth(health: StoreHealth): void {
    this.#health = health;
    for (const send of this.#handles) send({ type: "health", health });
  }

  /** Gives up for good: refuses the waiting batches, and makes handles refuse every later one. */
  #stop(error: ApertureError): void {
    this.#setHealth({ ...degraded(error), refusing: error });
    this.#refuseWaiting(error);
  }

  #refuseWaiting(error: ApertureError): void {
    sendOutcomes(this.#dequeue(this.#waiting.length).map((queued) => ({ queued, refusal: error })));
  }

  #answer(query: StoreQuery, reply: (result: Result<unknown>) => void): void {
    if (isJob(query)) this.#queueJob(async () => reply(await this.#runJob(query)));
    else if (!this.#ensureOpen() || this.#db === null) reply(this.#unavailable());
    else reply(runRead(this.#db, query));
  }

  async #runJob(job: StoreJob): Promise<Result<unknown>> {
    this.#write();
    if (job.type === "limit-pages") this.#maxPages = job.pages;
    const deps = this.#jobDeps();
    if (deps === null) return this.#unavailable();
    // Waiting batches must be written before anything is swept or erased, or they would bring it back.
    if (this.#waiting.length > 0 && job.type !== "limit-pages" && job.type !== "verify")
      return this.#unavailable();
    const result = await runJob(deps, job);
    if (job.type === "limit-pages") this.#retryNow();
    return result;
  }

  /** Tries again without waiting for the timer, after a change that may have ended the fault. */
  #retryNow(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#write();
  }

  #jobDeps(): JobDeps | null {
    if (!this.#ensureOpen() || this.#db === null) return null;
    const pause = async (ms: number): Promise<boolean> => {
      await (ms > 0 ? sleep(ms) : new Promise((resolve) => setImmediate(resolve)));
      return !this.#closing;
    };
    return { db: this.#db, driver: this.#driver, pause, now: () => new Date() };
  }

  #unavailable(): Result<never> {
    return this.#fault === null ? fail("AP_STORE_CLOSED") : { ok: false, error: this.#fault.error };
  }

  #queueJob(work: () => Promise<void>): void {
    this.#jobs = this.#jobs.then(work);
  }
}

function nextGroup(waiting: readonly QueuedBatch[]): readonly QueuedBatch[] {
  let bytes = 0;
  const end = waiting.findIndex((each) => {
    bytes += each.size.bytes;
    return bytes > GROUP_BYTES_MAX;
  });
  return end === -1 ? [...waiting] : waiting.slice(0, Math.max(end, 1));
}

function refusalIn(result: Result<void> | undefined): ApertureError | null {
  return result === undefined || result.ok ? null : result.error;
}

/** Sends each handle the outcomes of its own batches, all in one message. */
function sendOutcomes(all: readonly BatchOutcome[]): void {
  for (const send of new Set(all.map(({ queued }) => queued.send))) {
    const own = all.filter(({ queued }) => queued.send === send);
    const outcomes = own.map(({ queued: { id }, refusal }) => ({ id, refusal }));
    send({ type: "appended", outcomes });
  }
}

function healthy(notice: ApertureError | null): StoreHealth {
  return { storage: "ok", code: notice?.code ?? null, message: notice?.message ?? null, refusing: null };
}

function degraded({ code, message }: ApertureError): StoreHealth {
  return { storage: "degraded", code, message, refusing: null };
}

function isJob(query: StoreQuery): query is StoreJob {
  return ["verify", "gc", "backup", "purge", "drop", "limit-pages"].includes(query.type);
}

/** Ignores a failure: a journal that cannot be emptied now is read at the next opening. */
function emptyJournal(db: Database): void {
  try {
    truncateJournal(db);
  } catch (error) {
    if (error instanceof FailPointError) throw error;
  }
}

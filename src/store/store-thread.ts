import { setTimeout as sleep } from "node:timers/promises";
import { type ApertureError, apertureError, fail, limits, type Result } from "../base/index.ts";
import { answerRead } from "./answer.ts";
import { appendGroup } from "./append.ts";
import { type BatchSize, batchSize } from "./batch-size.ts";
import {
  closeQuietly,
  type Database,
  isInPlace,
  type Opened,
  openDatabase,
  replaceDatabase,
  truncateJournal,
} from "./database.ts";
import type { Driver } from "./driver.ts";
import { FailPointReached } from "./fail-points.ts";
import { type Fault, faultOf } from "./faults.ts";
import { runJob, verifyWith, type Workplace } from "./jobs.ts";
import type { Health, Job, Question, Reply, Request, ThreadOptions } from "./messages.ts";
import { receiveBatch } from "./posted-batch.ts";
import type { Batch } from "./store.ts";
import { verifyTail } from "./verify.ts";

/** Where the replies to one handle go. */
export type Answer = (reply: Reply) => void;
export type Received = { readonly request: Request; readonly answer: Answer };

type Waiting = {
  readonly id: number;
  readonly batch: Batch;
  readonly size: BatchSize;
  readonly answer: Answer;
};
type Settled = { readonly waiting: Waiting; readonly refusal: ApertureError | null };

/** The first pauses are too short to call it trouble: two processes that write by turns meet that often. */
const PAUSES_MS = [1, 4, 20, 40, 80, 160, 320, 500] as const;
const QUIET_TRIES = 2;
/** A connection that met an error is replaced at once; if that does not help, not at every try. */
const REOPEN_EVERY_TRIES = 8;
const GROUP_BYTES_MAX = 8 * 1024 * 1024;
/** A handle keeps to the limit by itself; this is for what handles left behind that are no more. */
const WAITING_BYTES_MAX = limits.queueBytesMax * 2;
const CLOSE_MS_MAX = 5_000;
const CLOSE_PAUSE_MS = 20;
const RECENT_SESSIONS_MAX = 32;

/**
 * Owns the database, on a thread of its own. Batches are written in the order they came, as many as wait in
 * one transaction. When the database cannot be written they stay, and a timer tries again: nothing here ever
 * blocks.
 */
export class StoreThread {
  readonly #options: ThreadOptions;
  readonly #driver: Driver;
  readonly #handles = new Set<Answer>();
  readonly #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #db: Database | null = null;
  #fault: Fault | null = null;
  #maxPages: number | null;
  /** What the handles were last told; null before the first word. */
  #told: Health | null = null;
  #tries = 0;
  #timer: NodeJS.Timeout | null = null;
  #jobs: Promise<void> = Promise.resolve();
  #closing = false;

  constructor(options: ThreadOptions, driver: Driver) {
    this.#options = options;
    this.#maxPages = options.maxPages;
    this.#driver = driver;
  }

  start(): void {
    if (this.#ensureOpen()) this.#recover();
  }

  /** From now on this handle is told how the store is. */
  join(answer: Answer): void {
    this.#handles.add(answer);
    if (this.#told !== null) answer({ type: "health", health: this.#told });
  }

  /** What the handle has sent is written all the same. */
  leave(answer: Answer): void {
    this.#handles.delete(answer);
  }

  receive(all: readonly Received[]): void {
    for (const { request, answer } of all) {
      const { id, call } = request;
      if (call.type === "append") {
        const batch = receiveBatch(call.batch);
        this.#take({ id, batch, size: batchSize(batch), answer });
        continue;
      }
      // What was accepted before is written before, so that a question finds it.
      this.#write();
      this.#ask(call, (result) => answer({ type: "answer", id, result }));
    }
    this.#write();
  }

  /** Resolves when everything that can be written is, and the file is let go of. */
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

  /** Lets go of the file at once, whatever is going on. */
  release(): void {
    if (this.#db !== null) closeQuietly(this.#db.sqlite);
    this.#db = null;
  }

  #take(waiting: Waiting): void {
    if (this.#waitingBytes > WAITING_BYTES_MAX) {
      const frames = this.#waiting.reduce((sum, { size }) => sum + size.frames, 0);
      const refusal = apertureError("AP_STORE_QUEUE_FULL", { frames, bytes: this.#waitingBytes });
      settle([{ waiting, refusal }]);
      return;
    }
    this.#waiting.push(waiting);
    this.#waitingBytes += waiting.size.bytes;
  }

  /** The first so many are dealt with. */
  #shift(count: number): readonly Waiting[] {
    const gone = this.#waiting.splice(0, count);
    this.#waitingBytes -= gone.reduce((sum, { size }) => sum + size.bytes, 0);
    return gone;
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
        this.#shift(group.length);
        this.#recover();
        settle(group.map((waiting, at) => ({ waiting, refusal: refusalIn(results[at]) })));
      } catch (error) {
        this.#failed(error);
      }
    }
  }

  #ensureOpen(): boolean {
    if (this.#db !== null && isInPlace(this.#db)) return true;
    if (this.#timer !== null || this.#fault?.remedy === "stop") return false;
    const vanished = this.#db !== null;
    this.release();
    try {
      this.#opened(openDatabase(this.#openOptions()), vanished);
      return true;
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  #openOptions(): Parameters<typeof openDatabase>[0] {
    const { path } = this.#options;
    return { path, maxPages: this.#maxPages, driver: this.#driver, now: () => new Date() };
  }

  #opened({ database, aside, crashed }: Opened, vanished: boolean): void {
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
    if (crashed) this.#later(() => this.#checkRecent());
  }

  /** After a crash the newest frames are the ones to doubt. */
  async #checkRecent(): Promise<void> {
    const place = this.#workplace();
    if (place === null) return;
    const report = await verifyWith(place, (db) => verifyTail(db, RECENT_SESSIONS_MAX));
    const first = report.ok ? report.value.damage[0] : undefined;
    if (first === undefined || this.#fault !== null) return;
    this.#recover(apertureError("AP_STORE_CORRUPT", { problem: `${first.where}: ${first.problem}` }));
  }

  #failed(error: unknown): void {
    if (error instanceof FailPointReached) throw error;
    this.#fault = faultOf(error, this.#options.path);
    if (this.#fault.remedy === "damaged" && this.#db !== null && this.#replace(this.#fault)) return;
    if (this.#fault.remedy !== "wait" && this.#tries % REOPEN_EVERY_TRIES === 0) this.release();
    if (this.#fault.remedy === "stop") {
      this.#stop(this.#fault.error);
      return;
    }
    const locked = this.#fault.error.code === "AP_STORE_LOCKED";
    if (!locked || this.#tries >= QUIET_TRIES) this.#tell(degraded(this.#fault.error));
    this.#schedule();
  }

  /** A file that turns out to be damaged while it is written makes room for a new one. */
  #replace(fault: Fault): boolean {
    const inPlace = this.#db !== null && isInPlace(this.#db);
    this.release();
    try {
      const options = this.#openOptions();
      const problem = String(fault.error.details["problem"]);
      this.#opened(inPlace ? replaceDatabase(options, problem) : openDatabase(options), !inPlace);
      return true;
    } catch (error) {
      if (error instanceof FailPointReached) throw error;
      return false;
    }
  }

  #schedule(): void {
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
    if (this.#told?.storage !== "ok" || notice !== null) this.#tell(healthy(notice));
  }

  #tell(health: Health): void {
    this.#told = health;
    for (const answer of this.#handles) answer({ type: "health", health });
  }

  /** Nothing will ever be written here: say so, to those who wait and to those who come. */
  #stop(error: ApertureError): void {
    this.#tell({ ...degraded(error), refusing: error });
    this.#refuseWaiting(error);
  }

  #refuseWaiting(error: ApertureError): void {
    settle(this.#shift(this.#waiting.length).map((waiting) => ({ waiting, refusal: error })));
  }

  #ask(question: Question, answer: (result: Result<unknown>) => void): void {
    if (isJob(question)) this.#later(async () => answer(await this.#work(question)));
    else if (!this.#ensureOpen() || this.#db === null) answer(this.#whyNot());
    else answer(answerRead(this.#db, question));
  }

  async #work(job: Job): Promise<Result<unknown>> {
    this.#write();
    if (job.type === "limit-pages") this.#maxPages = job.pages;
    const place = this.#workplace();
    if (place === null) return this.#whyNot();
    // What is on its way must be in before anything is swept or erased, or it would come in afterwards.
    if (this.#waiting.length > 0 && job.type !== "limit-pages" && job.type !== "verify")
      return this.#whyNot();
    const result = await runJob(place, job);
    if (job.type === "limit-pages") this.#tryNow();
    return result;
  }

  /** Something has changed that may have ended the trouble. */
  #tryNow(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#write();
  }

  #workplace(): Workplace | null {
    if (!this.#ensureOpen() || this.#db === null) return null;
    const pause = async (ms: number): Promise<boolean> => {
      await (ms > 0 ? sleep(ms) : new Promise((resolve) => setImmediate(resolve)));
      return !this.#closing;
    };
    return { db: this.#db, driver: this.#driver, pause, now: () => new Date() };
  }

  #whyNot(): Result<never> {
    return this.#fault === null ? fail("AP_STORE_CLOSED") : { ok: false, error: this.#fault.error };
  }

  #later(work: () => Promise<void>): void {
    this.#jobs = this.#jobs.then(work);
  }
}

function nextGroup(waiting: readonly Waiting[]): readonly Waiting[] {
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

/** Each handle hears of its own batches, all in one message. */
function settle(all: readonly Settled[]): void {
  for (const answer of new Set(all.map(({ waiting }) => waiting.answer))) {
    const own = all.filter(({ waiting }) => waiting.answer === answer);
    const outcomes = own.map(({ waiting: { id }, refusal }) => ({ id, refusal }));
    answer({ type: "appended", outcomes });
  }
}

function healthy(notice: ApertureError | null): Health {
  return { storage: "ok", code: notice?.code ?? null, message: notice?.message ?? null, refusing: null };
}

function degraded({ code, message }: ApertureError): Health {
  return { storage: "degraded", code, message, refusing: null };
}

function isJob(question: Question): question is Job {
  return ["verify", "gc", "backup", "purge", "drop", "limit-pages"].includes(question.type);
}

/** A journal that cannot be emptied now is read at the next opening. */
function emptyJournal(db: Database): void {
  try {
    truncateJournal(db);
  } catch (error) {
    if (error instanceof FailPointReached) throw error;
  }
}

import { Worker } from "node:worker_threads";
import { type ErrorCode, fail, limits, ok, type Result } from "../base/index.ts";

export type OwnThread = {
  /** What runs on it, compiled; the work is its `workerData`, and what it posts is what was made. */
  readonly entry: URL;
  /** What is asked for, as a fault names it. */
  readonly question: string;
  readonly msMax: number;
  readonly heapBytesMax: number;
};

type Work = Readonly<Record<string, unknown>>;
/** Buffers in it that are the thread's from then on: they are not copied. */
type Given = readonly ArrayBuffer[];

/** Why a work is given up: it is too much, or we have made a mistake. */
type GivenUp = Extract<ErrorCode, "AP_WORK_TOO_LARGE" | "AP_CONTROL_FAULT">;

/**
 * Does one work after the other, each on a thread that ends with it: it may take a while, and the relay waits
 * for none of it. What takes too long or too much memory is given up, and whatever becomes of one, the next
 * has its turn. Nobody waits for such a thread when Aperture ends.
 */
export function inTurn<Made>(thread: OwnThread): (work: Work, given?: Given) => Promise<Result<Made>> {
  let before: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return (work, given = []) => {
    if (waiting >= limits.worksWaitingMax) return Promise.resolve(fail("AP_WORK_BUSY", { waiting }));
    waiting += 1;
    const made = before.then(() => doneOn<Made>(thread, work, given));
    before = made.finally(() => {
      waiting -= 1;
    });
    return made;
  };
}

async function doneOn<Made>(thread: OwnThread, work: Work, given: Given): Promise<Result<Made>> {
  try {
    const resourceLimits = { maxOldGenerationSizeMb: megabytes(thread.heapBytesMax) };
    const transferList = [...given];
    const worker = new Worker(thread.entry, { workerData: work, transferList, resourceLimits });
    worker.unref();
    return await madeBy<Made>(worker, thread).finally(() => void worker.terminate());
  } catch (error) {
    return fail("AP_CONTROL_FAULT", { problem: String(error), question: thread.question });
  }
}

function madeBy<Made>(worker: Worker, { question, msMax, heapBytesMax }: OwnThread): Promise<Result<Made>> {
  return new Promise((done) => {
    const giveUp = (code: GivenUp, problem: string): void => done(fail(code, { problem, question }));
    const isLate = () => giveUp("AP_WORK_TOO_LARGE", `more than ${msMax / 1_000} s`);
    const timer = setTimeout(isLate, msMax).unref();
    worker.on("message", (made: Made) => done(ok(made)));
    worker.on("error", (error) =>
      isFull(error)
        ? giveUp("AP_WORK_TOO_LARGE", `more than ${megabytes(heapBytesMax)} MB of memory`)
        : giveUp("AP_CONTROL_FAULT", String(error)),
    );
    worker.on("exit", () => {
      clearTimeout(timer);
      // Whoever has answered is answered already.
      giveUp("AP_CONTROL_FAULT", "the thread ended");
    });
  });
}

function megabytes(bytes: number): number {
  return bytes / 2 ** 20;
}

function isFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}

/** Threads run compiled code. From sources, as in tests, that is the build beside them. */
export function entryOf(path: string): URL {
  const fromSources = import.meta.url.endsWith(".ts");
  return new URL(fromSources ? `../../dist/cli/${path}` : `./${path}`, import.meta.url);
}

import { Worker } from "node:worker_threads";
import { type ErrorCode, fail, limits, ok, type Result } from "../base/index.ts";

export type JobQueueOptions = {
  /** The compiled worker. Its `workerData` is the job, and the message it posts is the result. */
  readonly entry: URL;
  /** The name of the job in error messages. */
  readonly question: string;
  readonly msMax: number;
  readonly heapBytesMax: number;
};

type JobInput = Readonly<Record<string, unknown>>;

/** The reasons why a job fails: it is too large, or our own code has a bug. */
type JobFailureCode = Extract<ErrorCode, "AP_WORK_TOO_LARGE" | "AP_CONTROL_FAULT">;

/**
 * Runs jobs one after the other, each on a new worker thread, so that the relay never waits for one. A job
 * that takes too long or too much memory is stopped, and the next one still runs. Aperture does not wait for
 * these threads when it stops.
 */
export function createJobQueue<T>(
  options: JobQueueOptions,
): (job: JobInput, transferred?: readonly ArrayBuffer[]) => Promise<Result<T>> {
  let previous: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return (job, transferred = []) => {
    if (waiting >= limits.worksWaitingMax) return Promise.resolve(fail("AP_WORK_BUSY", { waiting }));
    waiting += 1;
    const result = previous.then(() => runJob<T>(options, job, transferred));
    previous = result.finally(() => {
      waiting -= 1;
    });
    return result;
  };
}

async function runJob<T>(
  options: JobQueueOptions,
  job: JobInput,
  transferred: readonly ArrayBuffer[],
): Promise<Result<T>> {
  try {
    const resourceLimits = { maxOldGenerationSizeMb: megabytes(options.heapBytesMax) };
    const transferList = [...transferred];
    const worker = new Worker(options.entry, { workerData: job, transferList, resourceLimits });
    worker.unref();
    return await awaitWorker<T>(worker, options).finally(() => void worker.terminate());
  } catch (error) {
    return fail("AP_CONTROL_FAULT", { problem: String(error), question: options.question });
  }
}

function awaitWorker<T>(
  worker: Worker,
  { question, msMax, heapBytesMax }: JobQueueOptions,
): Promise<Result<T>> {
  return new Promise((done) => {
    const failJob = (code: JobFailureCode, problem: string): void => done(fail(code, { problem, question }));
    const timeOut = () => failJob("AP_WORK_TOO_LARGE", `more than ${msMax / 1_000} s`);
    const timer = setTimeout(timeOut, msMax).unref();
    worker.on("message", (result: T) => done(ok(result)));
    worker.on("error", (error) =>
      isOutOfMemory(error)
        ? failJob("AP_WORK_TOO_LARGE", `more than ${megabytes(heapBytesMax)} MB of memory`)
        : failJob("AP_CONTROL_FAULT", String(error)),
    );
    worker.on("exit", () => {
      clearTimeout(timer);
      // No effect if the worker has posted its result.
      failJob("AP_CONTROL_FAULT", "the thread ended");
    });
  });
}

function megabytes(bytes: number): number {
  return bytes / 2 ** 20;
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}

/** Workers run compiled code. From sources, as in tests, that is the build beside them. */
export function workerEntry(path: string): URL {
  const fromSources = import.meta.url.endsWith(".ts");
  return new URL(fromSources ? `../../dist/cli/${path}` : `./${path}`, import.meta.url);
}

import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { GatheredSession } from "../../transcripts/index.ts";
import type { SessionReportResult } from "./report-worker.ts";

/** Each thread takes some hundred megabytes. */
const threadsMax = 4;

/** The sessions to report on, and a callback for each result. */
export type ReportWork = {
  /** The next session; null after the last. */
  readonly next: () => GatheredSession | null;
  readonly done: (worked: SessionReportResult, session: GatheredSession) => void;
  /** The number of sessions. */
  readonly count: number;
};

/** Sessions are independent: each thread takes the next one when it is free. */
export async function reportAll(work: ReportWork): Promise<void> {
  const threads = Math.max(1, Math.min(threadsMax, availableParallelism(), work.count));
  await Promise.all(Array.from({ length: threads }, () => runThread(work)));
}

async function runThread({ next, done }: ReportWork): Promise<void> {
  let worker: Worker | null = null;
  for (let session = next(); session !== null; session = next()) {
    worker ??= new Worker(new URL("./report-worker.js", import.meta.url));
    const { worked, isOver } = await reportOnWorker(worker, session);
    if (isOver) worker = null;
    done(worked, session);
  }
  await worker?.terminate();
}

type WorkerReply = { readonly worked: SessionReportResult; readonly isOver: boolean };

/** A thread that ends without an answer loses only its own session. */
function reportOnWorker(worker: Worker, session: GatheredSession): Promise<WorkerReply> {
  return new Promise((resolve) => {
    const settle = (worked: SessionReportResult, isOver: boolean): void => {
      worker.off("message", answered);
      worker.off("error", failed);
      worker.off("exit", ended);
      resolve({ worked, isOver });
    };
    const answered = (worked: SessionReportResult): void => settle(worked, false);
    const failed = (error: Error): void => settle({ ok: false, problem: error.message }, true);
    const ended = (code: number): void =>
      settle({ ok: false, problem: `its thread exited with ${code}` }, true);
    worker.on("message", answered);
    worker.on("error", failed);
    worker.on("exit", ended);
    worker.postMessage(session);
  });
}

import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { GatheredSession } from "../../transcripts/index.ts";
import type { Worked } from "./worker.ts";

/** Each takes some hundred megabytes. */
const threadsMax = 4;

/** What is given out, and who is told of what came back. */
export type Work = {
  /** The next session; null: there is none any more. */
  readonly next: () => GatheredSession | null;
  readonly done: (worked: Worked, session: GatheredSession) => void;
  /** How many there may be. */
  readonly count: number;
};

/** Sessions have nothing to do with each other: each core plays one, and asks for the next. */
export async function reportAll(work: Work): Promise<void> {
  const threads = Math.max(1, Math.min(threadsMax, availableParallelism(), work.count));
  await Promise.all(Array.from({ length: threads }, () => serve(work)));
}

async function serve({ next, done }: Work): Promise<void> {
  let worker: Worker | null = null;
  for (let session = next(); session !== null; session = next()) {
    worker ??= new Worker(new URL("./worker.js", import.meta.url));
    const { worked, isOver } = await answerOf(worker, session);
    if (isOver) worker = null;
    done(worked, session);
  }
  await worker?.terminate();
}

type Answered = { readonly worked: Worked; readonly isOver: boolean };

/** A thread that ends before it answers takes its session with it, and nothing else. */
function answerOf(worker: Worker, session: GatheredSession): Promise<Answered> {
  return new Promise((resolve) => {
    const settle = (worked: Worked, isOver: boolean): void => {
      worker.off("message", answered);
      worker.off("error", failed);
      worker.off("exit", ended);
      resolve({ worked, isOver });
    };
    const answered = (worked: Worked): void => settle(worked, false);
    const failed = (error: Error): void => settle({ ok: false, problem: error.message }, true);
    const ended = (code: number): void =>
      settle({ ok: false, problem: `its thread ended with ${code}` }, true);
    worker.on("message", answered);
    worker.on("error", failed);
    worker.on("exit", ended);
    worker.postMessage(session);
  });
}

import { statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { PlayedColumns } from "./play-columns.ts";

/** A session by its file name, and the columns in which it is played. */
export type PlayJob = { readonly folder: string; readonly name: string; readonly columns: readonly string[] };

/** The figures of a session, or why there are none. */
export type PlayOutcome =
  | { readonly name: string; readonly session: PlayedColumns }
  | { readonly name: string; readonly problem: string };

/**
 * Plays sessions on several threads, because they are independent. The results are in the order of the jobs.
 */
export async function playAll(jobs: readonly PlayJob[]): Promise<readonly PlayOutcome[]> {
  const threads = Math.min(threadsMax, availableParallelism(), jobs.length);
  // The longest first, so that the threads end at about the same time.
  const left = [...jobs].sort((a, b) => sizeOf(b) - sizeOf(a));
  const outcomes = new Map<string, PlayOutcome>();
  const work = async (): Promise<void> => {
    let thread = newThread();
    for (let job = left.shift(); job !== undefined; job = left.shift()) {
      const { outcome, isThreadOver } = await playJob(thread, job);
      outcomes.set(job.name, outcome);
      if (isThreadOver) thread = newThread();
    }
    await thread.terminate();
  };
  await Promise.all(Array.from({ length: threads }, work));
  return jobs.flatMap(({ name }) => outcomes.get(name) ?? []);
}

/** Each thread takes some hundred megabytes. */
const threadsMax = 4;

function sizeOf({ folder, name }: PlayJob): number {
  return statSync(join(folder, "agent-sessions", `${name}.json.gz`), { throwIfNoEntry: false })?.size ?? 0;
}

function newThread(): Worker {
  return new Worker(new URL("./worker.js", import.meta.url));
}

type JobEnd = { readonly outcome: PlayOutcome; readonly isThreadOver: boolean };

/** Plays one session. If it ends its thread, by lack of memory or a bug, no other session is lost. */
async function playJob(thread: Worker, job: PlayJob): Promise<JobEnd> {
  const { promise, resolve } = deferred<JobEnd>();
  const fail = (problem: string): void =>
    resolve({ outcome: { name: job.name, problem }, isThreadOver: true });
  const onMessage = (outcome: PlayOutcome): void => resolve({ outcome, isThreadOver: false });
  const onError = (error: Error): void => fail(`its thread ended: ${error.message}`);
  const onExit = (code: number): void => fail(`its thread ended with code ${code}`);
  thread.on("message", onMessage).on("error", onError).on("exit", onExit);
  thread.postMessage(job);
  const ended = await promise;
  thread.off("message", onMessage).off("error", onError).off("exit", onExit);
  return ended;
}

function deferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

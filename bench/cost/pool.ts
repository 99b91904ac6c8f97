import { statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { PlayedSession } from "./play.ts";

/** A session, by the name of its file, and how it is to be played. */
export type Job = { readonly folder: string; readonly name: string; readonly columns: readonly string[] };

/** What came of it: all its figures, or why there are none. */
export type Outcome =
  | { readonly name: string; readonly session: PlayedSession }
  | { readonly name: string; readonly problem: string };

/** Sessions have nothing to do with each other, so each core plays some. They come in the given order. */
export async function playAll(jobs: readonly Job[]): Promise<readonly Outcome[]> {
  const threads = Math.min(threadsMax, availableParallelism(), jobs.length);
  // The longest first: whoever ends early takes what is left.
  const left = [...jobs].sort((a, b) => sizeOf(b) - sizeOf(a));
  const outcomes = new Map<string, Outcome>();
  const work = async (): Promise<void> => {
    let thread = newThread();
    for (let job = left.shift(); job !== undefined; job = left.shift()) {
      const outcome = await played(thread, job);
      outcomes.set(job.name, outcome.is);
      if (outcome.isOver) thread = newThread();
    }
    await thread.terminate();
  };
  await Promise.all(Array.from({ length: threads }, work));
  return jobs.flatMap(({ name }) => outcomes.get(name) ?? []);
}

/** Each takes some hundred megabytes. */
const threadsMax = 4;

function sizeOf({ folder, name }: Job): number {
  return statSync(join(folder, "agent-sessions", `${name}.json.gz`), { throwIfNoEntry: false })?.size ?? 0;
}

function newThread(): Worker {
  return new Worker(new URL("./worker.js", import.meta.url));
}

type Ended = { readonly is: Outcome; readonly isOver: boolean };

/** A session that ends its thread, for want of memory or by a mistake of ours, takes no other with it. */
async function played(thread: Worker, job: Job): Promise<Ended> {
  const { promise, resolve } = deferred<Ended>();
  const over = (problem: string): void => resolve({ is: { name: job.name, problem }, isOver: true });
  const onMessage = (is: Outcome): void => resolve({ is, isOver: false });
  const onError = (error: Error): void => over(`its thread ended: ${error.message}`);
  const onExit = (code: number): void => over(`its thread ended with code ${code}`);
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

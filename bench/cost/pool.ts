import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { PlayedSession } from "./play.ts";

/** Which sessions, and where they are. */
export type Share = { readonly folder: string; readonly names: readonly string[] };

/** Sessions have nothing to do with each other, so each core plays some. They come in the given order. */
export async function playAll({ folder, names }: Share): Promise<readonly PlayedSession[]> {
  const threads = Math.min(threadsMax, availableParallelism(), names.length);
  const shares = Array.from({ length: threads }, (_, nth) => names.filter((_, at) => at % threads === nth));
  const played = await Promise.all(shares.map((share) => playShare({ folder, names: share })));
  return names.flatMap((_, at) => played[at % threads]?.slice(Math.floor(at / threads)).slice(0, 1) ?? []);
}

/** Each takes some hundred megabytes. */
const threadsMax = 4;

async function playShare(share: Share): Promise<readonly PlayedSession[]> {
  const sessions: PlayedSession[] = [];
  const worker = new Worker(new URL("./worker.js", import.meta.url), { workerData: share });
  worker.on("message", (session: PlayedSession) => sessions.push(session));
  await new Promise<void>((resolve, reject) => {
    worker.once("error", reject);
    worker.once("exit", () => resolve());
  });
  if (sessions.length < share.names.length)
    throw new Error("A thread ended before its sessions were played.");
  return sessions;
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parentPort } from "node:worker_threads";
import { pricesOf, windowOf } from "../../src/config/index.ts";
import { loadO200k } from "../../src/tokens/index.ts";
import { readAssumptions } from "./assumptions.ts";
import { parseRecording } from "./parse-recording.ts";
import { playColumns } from "./play-columns.ts";
import type { PlayJob, PlayOutcome } from "./pool.ts";

/** Plays the sessions it receives, one at a time, and posts the outcome of each. */
const deps = { assumptions: readAssumptions(), count: await loadO200k(), pricesOf, windowOf };

parentPort?.on("message", async (job: PlayJob) => {
  parentPort?.postMessage(await outcomeOf(job));
});

async function outcomeOf({ folder, name, columns }: PlayJob): Promise<PlayOutcome> {
  try {
    const recording = parseRecording(readFileSync(join(folder, "agent-sessions", `${name}.json.gz`)));
    if (typeof recording === "string") return { name, problem: recording };
    return { name, session: await playColumns({ name, recording, columns }, deps) };
  } catch (error) {
    return { name, problem: error instanceof Error ? error.message : String(error) };
  }
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parentPort } from "node:worker_threads";
import { pricesOf, windowOf } from "../../src/config/index.ts";
import { loadO200k } from "../../src/tokens/index.ts";
import { readAssumptions } from "./assumptions.ts";
import { playColumns } from "./play.ts";
import type { Job, Outcome } from "./pool.ts";
import { parseRecording } from "./recording.ts";

/** Plays the sessions it is given, one at a time, and tells what came of each. */
const playing = { assumptions: readAssumptions(), count: await loadO200k(), pricesOf, windowOf };

parentPort?.on("message", async (job: Job) => {
  parentPort?.postMessage(await outcomeOf(job));
});

async function outcomeOf({ folder, name, columns }: Job): Promise<Outcome> {
  try {
    const recording = parseRecording(readFileSync(join(folder, "agent-sessions", `${name}.json.gz`)));
    if (typeof recording === "string") return { name, problem: recording };
    return { name, session: await playColumns({ name, recording, columns }, playing) };
  } catch (error) {
    return { name, problem: error instanceof Error ? error.message : String(error) };
  }
}

import { parentPort, workerData } from "node:worker_threads";
import { pricesOf, windowOf } from "../../src/config/index.ts";
import { loadO200k } from "../../src/tokens/index.ts";
import { readRecording } from "../../test/support/recordings.ts";
import { readAssumptions } from "./assumptions.ts";
import { playColumns } from "./play.ts";
import type { Share } from "./pool.ts";

/** Plays its share of the sessions, and tells of each when it is done. */
const { folder, names } = workerData as Share;
const playing = { assumptions: readAssumptions(), count: await loadO200k(), pricesOf, windowOf };
for (const name of names) {
  parentPort?.postMessage(await playColumns(readRecording(name, folder), playing));
}

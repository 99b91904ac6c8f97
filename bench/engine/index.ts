import { recordingNames, recordingsFolder } from "../../test/support/recordings.ts";
import type { BenchOptions, Cell } from "../report.ts";
import { stateAtCells } from "./state-at.ts";
import { storeCells } from "./store.ts";

/**
 * The engine and the store (a wrong --data is told before anything is measured): what the past costs, what
 * opening costs, what a disk holds.
 */
export async function* engineCells(options: BenchOptions): AsyncGenerator<Cell> {
  recordingNames(options.data ?? recordingsFolder);
  yield* stateAtCells(options);
  yield* storeCells(options);
}

import { recordingNames, recordingsFolder } from "../../test/support/recordings.ts";
import type { BenchOptions, Cell } from "../report.ts";
import { stateAtCells } from "./state-at.ts";
import { storeCells } from "./store.ts";

/** Measures the engine and the store: reading past states, opening a session, and disk use. */
export async function* engineCells(options: BenchOptions): AsyncGenerator<Cell> {
  // Throws for a wrong --data before anything is measured.
  recordingNames(options.data ?? recordingsFolder);
  yield* stateAtCells(options);
  yield* storeCells(options);
}

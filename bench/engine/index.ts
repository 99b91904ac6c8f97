import { recordingNames, recordingsFolder } from "../../test/support/recordings.ts";
import { type BenchOptions, type Cell, withoutBounds } from "../report.ts";
import { stateAtCells } from "./state-at.ts";
import { diskCells, storeTimeCells } from "./store.ts";

/** Measures the engine and the store: reading past states, opening a session, and disk use. */
export async function* engineCells(options: BenchOptions): AsyncGenerator<Cell> {
  // Throws for a wrong --data before anything is measured.
  recordingNames(options.data ?? recordingsFolder);
  const timed = [stateAtCells(options), storeTimeCells(options)];
  for (const cells of timed) yield* options.quick ? withoutBounds(cells) : cells;
  yield* diskCells(options);
}

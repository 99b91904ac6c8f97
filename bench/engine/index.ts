import type { BenchOptions, Cell } from "../report.ts";
import { stateAtCells } from "./state-at.ts";
import { storeCells } from "./store.ts";

/** The engine and the store: what the past costs, what opening costs, what a disk holds. */
export async function* engineCells(options: BenchOptions): AsyncGenerator<Cell> {
  yield* stateAtCells(options);
  yield* storeCells(options);
}

import { type BenchOptions, type Cell, withoutBounds } from "../report.ts";
import { growthCells } from "./growth.ts";
import { recallCell } from "./recall.ts";
import { statuslineCell } from "./statusline.ts";

/** Times that a user would notice, and functions whose time must grow with the length of a text only. */
export function speedCells(options: BenchOptions): AsyncGenerator<Cell> {
  const cells = measureSpeed(options);
  return options.quick ? withoutBounds(cells) : cells;
}

async function* measureSpeed(options: BenchOptions): AsyncGenerator<Cell> {
  yield* growthCells(options);
  yield recallCell(options);
  yield statuslineCell(options);
}

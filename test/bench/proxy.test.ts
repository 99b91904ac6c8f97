// Runs the quick form of the benchmark through the public command. The real bounds are for a quiet machine
// and the full form; the bounds here are so wide that only a mistake breaks them.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

type Cell = { readonly name: string; readonly figure: number; readonly boundMax: number | null };
type Summary = { readonly bench: string; readonly cells: readonly Cell[] };

/** The bound of each kind of cell, above which it is a mistake and not a busy machine. */
const mistakes: readonly (readonly [pattern: RegExp, count: number, max: number])[] = [
  [/^first byte.*observe/, 9, 3],
  // A small body and its answer are read as thoroughly as large ones, so the ratio is large.
  [/^first byte.*auto/, 9, 9],
  // 18 to 20 on a quiet machine, including the policy's work on a megabyte of old results.
  [/^CPU of a request/, 1, 30],
  [/^delay of a delta/, 1, 30],
  [/^event loop delay/, 1, 200],
  [/^memory of a live session/, 1, 4],
  [/^memory after/, 1, 1.5],
  [/^a turn at the desk/, 1, 2.5],
  [/not managed/, 1, 20],
];

function run(): readonly Cell[] {
  const args = ["scripts/run.mjs", "bench", "proxy", "--quick", "--json"];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 400_000 });
  const summary = JSON.parse(stdout.trimEnd().split("\n").at(-1) || "null") as Summary | null;
  expect(summary, stderr).toMatchObject({ bench: "proxy" });
  return summary?.cells.filter(({ boundMax }) => boundMax !== null) ?? [];
}

/** `name: figure` of every cell above its bound. */
function mistakenIn(cells: readonly Cell[]): readonly string[] {
  expect(cells).toHaveLength(mistakes.reduce((sum, [, count]) => sum + count, 0));
  return mistakes.flatMap(([pattern, count, max]) => {
    const figures = cells.filter(({ name }) => pattern.test(name));
    expect(figures).toHaveLength(count);
    return figures.filter(({ figure }) => !(figure <= max)).map(({ name, figure }) => `${name}: ${figure}`);
  });
}

/**
 * Other work on the machine ends and a mistake stays: it fails if a second run finds the same cell far off.
 */
test("npm run bench -- proxy prints its figures, none of them far off", { timeout: 900_000 }, () => {
  const first = mistakenIn(run());
  const second = first.length === 0 ? [] : mistakenIn(run());
  const nameOf = (cell: string) => cell.slice(0, cell.lastIndexOf(":"));
  const names = new Set(first.map(nameOf));
  expect(
    second.filter((cell) => names.has(nameOf(cell))),
    `at first: ${first.join(", ")}`,
  ).toEqual([]);
});

// Runs the benchmark in its quick form, through the public command. The promise of the proxy (1.3x) is for a
// quiet machine and the full form; here a bound that only a mistake would break keeps it honest.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

type Cell = { readonly name: string; readonly figure: number; readonly boundMax: number | null };
type Summary = { readonly bench: string; readonly cells: readonly Cell[] };
const mistakeMin = 2.5;

test("npm run bench -- proxy prints its figures, none of them far off", { timeout: 300_000 }, () => {
  const args = ["scripts/run.mjs", "bench", "proxy", "--quick", "--json"];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 290_000 });
  const summary = JSON.parse(stdout.trimEnd().split("\n").at(-1) || "null") as Summary | null;
  expect(summary, stderr).toMatchObject({ bench: "proxy" });
  const cells = summary?.cells.filter(({ boundMax }) => boundMax !== null) ?? [];
  expect(cells).toHaveLength(9);
  expect(cells.every(({ figure }) => figure > 0.2)).toBe(true);
  expect(cells.filter(({ figure }) => !(figure <= mistakeMin))).toEqual([]);
});

import { spawnSync } from "node:child_process";
import { compare } from "../measure.ts";
import type { BenchOptions, Cell } from "../report.ts";

/** A client draws its status line after every message: it may take little more than starting Node. */
export function statuslineCell({ quick }: BenchOptions): Cell {
  const run = (args: readonly string[]): void => {
    spawnSync(process.execPath, [...args], { input: '{"session_id":"none"}' });
  };
  const { a, b, ratio } = compare(
    () => run(["-e", "0"]),
    () => run(["dist/cli/main.cjs", "statusline"]),
    quick ? 1 : 15,
  );
  return {
    name: "the status line / starting Node",
    figure: ratio,
    boundMax: 2.5,
    unit: "x",
    note: `${b.toFixed(0)} ms against ${a.toFixed(0)} ms`,
  };
}

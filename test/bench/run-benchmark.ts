import { spawnSync } from "node:child_process";
import type { Cell } from "../../bench/report.ts";

export type BenchmarkSummary = {
  readonly bench: string;
  readonly ok: boolean;
  readonly cells: readonly Cell[];
};

export type BenchmarkRun = {
  readonly status: number | null;
  /** Null if the last line is no summary. */
  readonly summary: BenchmarkSummary | null;
  readonly stderr: string;
};

/** Runs a benchmark through the public command. */
export function runBenchmark(name: string, args: readonly string[] = []): BenchmarkRun {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["scripts/run.mjs", "bench", name, "--json", ...args],
    { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
  );
  const last = stdout.trimEnd().split("\n").at(-1) ?? "";
  return { status, summary: last.startsWith("{") ? (JSON.parse(last) as BenchmarkSummary) : null, stderr };
}

// Runs the quick form of the benchmark, which judges no times.
import { expect, test } from "vitest";
import { runBenchmark } from "./run-benchmark.ts";

test("npm run bench -- speed measures every cell", () => {
  const { status, summary, stderr } = runBenchmark("speed", ["--quick"]);
  expect(summary, stderr).toMatchObject({ bench: "speed", ok: true });
  expect(status).toBe(0);
  const names = summary?.cells.map(({ name }) => name) ?? [];
  expect(names.filter((name) => name.startsWith("reading ")).length).toBeGreaterThan(5);
  expect(names.slice(-2)).toEqual([
    "finding among 500 blocks, p95, / looking through all",
    "the status line / starting Node",
  ]);
});

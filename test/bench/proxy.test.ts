// Runs the quick form of the benchmark. Ratios of times need a quiet machine: only `npm run bench -- proxy`
// judges them.
import { expect, test } from "vitest";
import { runBenchmark } from "./run-benchmark.ts";

const firstBytes = ["5 KB", "200 KB"].flatMap((size) =>
  [1, 8].flatMap((count) =>
    ["observe", "auto"].map((mode) => `first byte, ${size}, ${count} at a time: ${mode} / bare proxy`),
  ),
);

test("npm run bench -- proxy measures every cell", () => {
  const { status, summary, stderr } = runBenchmark("proxy", ["--quick"]);
  expect(summary, stderr).toMatchObject({ bench: "proxy", ok: true });
  expect(status).toBe(0);
  const cells = summary?.cells ?? [];
  expect(cells.map(({ name }) => name)).toEqual([
    ...firstBytes,
    "CPU of a request of 1 MB, all threads: auto / bare proxy",
    "delay of a delta, 8 streams, p99: auto / bare proxy",
    "event loop delay, 5 requests of 400 KB at once, p99",
    "memory of a live session of 1 MB, against its content",
    "memory after 20 turns of other sessions, against before",
    "planning a turn, 100 messages / 10 messages",
    "requests that were not recorded in full",
    "requests in auto that were not managed, because the log was late",
  ]);
  expect(cells.filter(({ figure }) => !Number.isFinite(figure))).toEqual([]);
  expect(cells.filter(({ boundMax }) => boundMax !== null)).toEqual([]);
});

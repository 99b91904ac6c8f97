// A benchmark that is never run stops working. This runs its quick form, which judges no times.
import { expect, test } from "vitest";
import type { Cell } from "../../bench/report.ts";
import { runBenchmark } from "./run-benchmark.ts";

test("npm run bench -- engine prints its figures, and sessions keep to their bytes on disk", () => {
  const { status, summary, stderr } = runBenchmark("engine", ["--quick"]);
  expect(summary, stderr).toMatchObject({ bench: "engine", ok: true });
  expect(status).toBe(0);
  const cells = summary?.cells ?? [];
  // The quick form holds so few frames that other garbage may outweigh them.
  const isMeasured = ({ name, figure }: Cell): boolean =>
    name.startsWith("memory") ? Number.isFinite(figure) : figure > 0;
  expect(cells.filter((cell) => !isMeasured(cell))).toEqual([]);
  expect(cells.map(({ name }) => name.trim())).toEqual([
    "stateAt anywhere in 1,000 / 100 frames, at 500 blocks",
    "and every block of it, at 500 blocks",
    "stateAt anywhere in 1,000 / 100 frames, with blocks growing",
    "and every block of it, with blocks growing",
    "walking every seq, 800 / 100 frames",
    "memory, 800 / 100 frames",
    "applying a frame, at 950 / at 50 frames",
    "replaying from 1 for each of 40 seqs, against stateAt",
    "opening 1,000 / 100 frames, at 500 blocks",
    "the session alone, at 500 blocks",
    "opening 1,000 / 100 frames, with blocks growing",
    "the session alone, with blocks growing",
    "a durable append / a bare commit of such a row",
    "bytes on disk / (1.5 x unique content + 600 a frame)",
  ]);
  expect(cells.flatMap(({ boundMax }) => boundMax ?? [])).toEqual([1]);
});

test("an unknown benchmark prints the usage", () => {
  const { status, stderr } = runBenchmark("dance");
  expect(stderr).toContain("usage: npm run bench");
  expect(status).toBe(2);
});

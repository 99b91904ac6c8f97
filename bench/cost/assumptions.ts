import { readFileSync } from "node:fs";
import type { Assumptions } from "../../src/analysis/index.ts";

const file = "bench/assumptions.json";

/** Beside the benchmark, to be tried otherwise. The product has the same; a test compares them. */
export function readAssumptions(): Assumptions {
  return JSON.parse(readFileSync(file, "utf8")) as Assumptions;
}

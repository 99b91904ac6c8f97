import { readFileSync } from "node:fs";
import type { Assumptions } from "../../src/analysis/play/assumptions.ts";

const file = "bench/assumptions.json";

/**
 * Reads a copy of the assumptions that can be changed for a try. A test compares it with the product's own.
 */
export function readAssumptions(): Assumptions {
  return JSON.parse(readFileSync(file, "utf8")) as Assumptions;
}

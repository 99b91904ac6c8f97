import type { CostTotals, OwnPart } from "../../src/analysis/play/cost-sums.ts";
import type { TokenBill } from "../../src/analysis/play/simulated-cache.ts";
import { type ModelPrices, promptPrice } from "../../src/policy/index.ts";

export const ownParts: readonly OwnPart[] = ["instructions", "header", "tail"];

/** The cost of a bill in tokens of plain input. */
export function billCost(bill: TokenBill, prices: ModelPrices): number {
  return promptPrice({ ...bill, output: 0 }, prices).tokens;
}

/** How many percent more the managed session costs than the client's own. */
export function extraPercent({ asSent, managed }: Pick<CostTotals, "asSent" | "managed">): number {
  return asSent === 0 ? 0 : 100 * (managed / asSent - 1);
}

/** 0 for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

import type { Usage } from "../../engine/frames/index.ts";
import { dayOf } from "./days.ts";

/** The tokens and the cost of one request. */
export type RequestCost = Usage & {
  readonly timeMs: number;
  readonly session: string;
  readonly model: string | null;
  /** Null if the price of the model is not known. */
  readonly usd: number | null;
};

export const costGroupNames = ["daily", "session", "model"] as const;
export type CostGroupBy = (typeof costGroupNames)[number];

export type CostSum = {
  /** The sum over requests with a known price; null if there are none. */
  readonly usd: number | null;
  readonly unpriced: number;
};
export type CostRow = Usage & CostSum & { readonly name: string; readonly requests: number };

/** Days in order of time; sessions and models by tokens, the most first. */
export function sumCosts(costs: readonly RequestCost[], by: CostGroupBy | "all"): readonly CostRow[] {
  const groups = new Map<string, RequestCost[]>();
  for (const cost of costs) {
    const name = nameOf(cost, by);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [cost]);
    else group.push(cost);
  }
  const rows = [...groups].map(([name, group]) => sumOf(name, group));
  if (by === "daily") return rows.sort((a, b) => (a.name < b.name ? -1 : 1));
  return rows.sort((a, b) => tokensOf(b) - tokensOf(a));
}

function nameOf({ timeMs, session, model }: RequestCost, by: CostGroupBy | "all"): string {
  switch (by) {
    case "daily":
      return dayOf(timeMs);
    case "session":
      return session;
    case "model":
      return model ?? "unknown";
    default:
      return "all";
  }
}

function sumOf(name: string, costs: readonly RequestCost[]): CostRow {
  const sum = (fieldOf: (cost: RequestCost) => number) =>
    costs.reduce((total, cost) => total + fieldOf(cost), 0);
  const unpriced = costs.filter(({ usd }) => usd === null).length;
  return {
    name,
    requests: costs.length,
    input: sum(({ input }) => input),
    cacheRead: sum(({ cacheRead }) => cacheRead),
    cacheWrite: sum(({ cacheWrite }) => cacheWrite),
    output: sum(({ output }) => output),
    usd: unpriced === costs.length ? null : sum(({ usd }) => usd ?? 0),
    unpriced,
  };
}

function tokensOf({ input, cacheRead, cacheWrite, output }: Usage): number {
  return input + cacheRead + cacheWrite + output;
}

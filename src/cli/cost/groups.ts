import type { Usage } from "../../engine/index.ts";
import { dayOf } from "./days.ts";

/** What one request used. */
export type Spend = Usage & {
  readonly timeMs: number;
  readonly session: string;
  readonly model: string | null;
  /** Null: the price of the model is not known. */
  readonly usd: number | null;
};

export const groupings = ["daily", "session", "model"] as const;
export type Grouping = (typeof groupings)[number];

export type Priced = {
  /** Of the requests whose price is known; null: of none. */
  readonly usd: number | null;
  readonly unpriced: number;
};
export type CostRow = Usage & Priced & { readonly name: string; readonly requests: number };

/** Days in their order; sessions and models with the most tokens first. */
export function summed(spends: readonly Spend[], by: Grouping | "all"): readonly CostRow[] {
  const groups = new Map<string, Spend[]>();
  for (const spend of spends) {
    const name = nameOf(spend, by);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [spend]);
    else group.push(spend);
  }
  const rows = [...groups].map(([name, group]) => sumOf(name, group));
  if (by === "daily") return rows.sort((a, b) => (a.name < b.name ? -1 : 1));
  return rows.sort((a, b) => tokensOf(b) - tokensOf(a));
}

function nameOf({ timeMs, session, model }: Spend, by: Grouping | "all"): string {
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

function sumOf(name: string, spends: readonly Spend[]): CostRow {
  const sum = (of: (spend: Spend) => number) => spends.reduce((total, spend) => total + of(spend), 0);
  const unpriced = spends.filter(({ usd }) => usd === null).length;
  return {
    name,
    requests: spends.length,
    input: sum(({ input }) => input),
    cacheRead: sum(({ cacheRead }) => cacheRead),
    cacheWrite: sum(({ cacheWrite }) => cacheWrite),
    output: sum(({ output }) => output),
    usd: unpriced === spends.length ? null : sum(({ usd }) => usd ?? 0),
    unpriced,
  };
}

function tokensOf({ input, cacheRead, cacheWrite, output }: Usage): number {
  return input + cacheRead + cacheWrite + output;
}

import { type ModelPrices, promptPrice } from "../../policy/index.ts";
import type { TokenBill } from "./simulated-cache.ts";
import type { PricedPrompt } from "./stream-player.ts";

/** The prices of a session and every prompt of it. */
export type SessionCost = {
  readonly name: string;
  readonly agent: string;
  readonly streams: readonly (readonly PricedPrompt[])[];
  readonly prices: ModelPrices;
};

export type PauseClock = "timed" | "warm";
export type OwnPart = keyof PricedPrompt["own"];

/**
 * How costs are summed: with or without pauses, with another price of cache reads, with or without output.
 */
export type CostQuery = {
  readonly clock: PauseClock;
  readonly read: number | null;
  readonly withOutput: boolean;
};
export const defaultCostQuery: CostQuery = { clock: "timed", read: null, withOutput: false };

export type CostTotals = {
  readonly asSent: number;
  readonly managed: number;
  /** `managed` plus the cost of showing missed content again. */
  readonly charged: number;
  readonly own: Readonly<Record<OwnPart, number>>;
};

/** The costs of several sessions together, in tokens of plain input, each at its own prices. */
export function costsOf(sessions: readonly SessionCost[], query = defaultCostQuery): CostTotals {
  const costs = sessions.map((session) => sessionCosts(session, query));
  const total = (of: (one: CostTotals) => number): number => sum(costs.map(of));
  return {
    asSent: total(({ asSent }) => asSent),
    managed: total(({ managed }) => managed),
    charged: total(({ charged }) => charged),
    own: {
      instructions: total(({ own }) => own.instructions),
      header: total(({ own }) => own.header),
      tail: total(({ own }) => own.tail),
    },
  };
}

function sessionCosts({ streams, prices }: SessionCost, { clock, read, withOutput }: CostQuery): CostTotals {
  const usedPrices = { ...prices, read: read ?? prices.read };
  const requests = streams.flat();
  const cost = (bill: TokenBill, output: number): number =>
    promptPrice({ ...bill, output }, usedPrices).tokens;
  const whole = (of: (one: PricedPrompt) => TokenBill): number =>
    sum(requests.map((one) => cost(of(one), withOutput ? one.output : 0)));
  const part = (own: OwnPart): number => sum(requests.map((one) => cost(one.own[own], 0)));
  const managed = whole(({ managed }) => managed[clock]);
  return {
    asSent: whole(({ asSent }) => asSent[clock]),
    managed,
    charged: managed + sum(requests.map(({ charge }) => cost(charge, 0))),
    own: { instructions: part("instructions"), header: part("header"), tail: part("tail") },
  };
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

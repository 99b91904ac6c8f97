import { type ModelPrices, promptPrice } from "../../render/index.ts";
import type { Bill } from "./cache.ts";
import type { Priced } from "./stream.ts";

/** What a session was, and every prompt of it. */
export type SessionCost = {
  readonly name: string;
  readonly agent: string;
  readonly streams: readonly (readonly Priced[])[];
  readonly prices: ModelPrices;
};

export type Clock = "timed" | "warm";
export type OwnPart = keyof Priced["own"];
export const ownParts: readonly OwnPart[] = ["instructions", "header", "tail"];

/** How a cost is asked for: with pauses or without, and with prices other than the session's own. */
export type Question = { readonly clock: Clock; readonly read: number | null; readonly withOutput: boolean };
export const asPriced: Question = { clock: "timed", read: null, withOutput: false };

export type Costs = {
  readonly asSent: number;
  readonly managed: number;
  /** With what it costs to have shown again what was missed. */
  readonly charged: number;
  readonly own: Readonly<Record<OwnPart, number>>;
};

/** Of several sessions together, in tokens of plain input, each at its own prices. */
export function costsOf(sessions: readonly SessionCost[], question = asPriced): Costs {
  const costs = sessions.map((session) => sessionCosts(session, question));
  const total = (of: (one: Costs) => number): number => sum(costs.map(of));
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

function sessionCosts({ streams, prices }: SessionCost, { clock, read, withOutput }: Question): Costs {
  const asked = { ...prices, read: read ?? prices.read };
  const requests = streams.flat();
  const cost = (bill: Bill, output: number): number => promptPrice({ ...bill, output }, asked).tokens;
  const whole = (of: (one: Priced) => Bill): number =>
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

/** In tokens of plain input. */
export function billCost(bill: Bill, prices: ModelPrices): number {
  return promptPrice({ ...bill, output: 0 }, prices).tokens;
}

/** By how many per cent it costs more than as the client sent it. */
export function extraPercent({ asSent, managed }: Pick<Costs, "asSent" | "managed">): number {
  return asSent === 0 ? 0 : 100 * (managed / asSent - 1);
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Zero of nothing. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

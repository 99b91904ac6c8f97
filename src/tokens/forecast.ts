import { growthOf } from "./budget.ts";

export type ForecastAsked = {
  /** What the last prompts and their answers filled, the oldest first. */
  readonly fillings: readonly number[];
  /** What the window holds; null: nobody knows, and nothing is said of its end. */
  readonly size: number | null;
  /** Tokens that have to stay free for the answer. */
  readonly reserved: number;
  readonly turns: number;
};

/** How a window fills if it goes on like this. An estimate, whatever it is made from. */
export type Forecast = {
  /** By how much it grew per turn lately. */
  readonly growth: number;
  /** What is used after each of the next turns; never more than the window holds. */
  readonly next: readonly number[];
  /** Whole turns until nothing is free beside what is reserved; null: it does not grow, or hardly. */
  readonly turnsLeft: number | null;
};

/** A few turns say nothing about more than these. */
const turnsLeftMax = 500;

/** Null where there are not two turns to compare. */
export function forecastOf({ fillings, size, reserved, turns }: ForecastAsked): Forecast | null {
  const used = fillings.at(-1);
  if (used === undefined || fillings.length < 2) return null;
  const growth = growthOf(fillings);
  const free = size === null ? null : Math.max(0, size - used - reserved);
  const left = free !== null && growth > 0 ? Math.floor(free / growth) : null;
  return {
    growth,
    next: Array.from({ length: turns }, (_, turn) =>
      Math.min(size ?? Number.POSITIVE_INFINITY, used + growth * (turn + 1)),
    ),
    turnsLeft: left !== null && left <= turnsLeftMax ? left : null,
  };
}

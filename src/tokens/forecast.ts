import { growthOf } from "./budget.ts";

export type ForecastInput = {
  /** Tokens of the last prompts with their answers, oldest first. */
  readonly fillings: readonly number[];
  /** Tokens of the window. Null if they are not known; then the forecast does not say when it is full. */
  readonly size: number | null;
  /** Tokens that have to stay free for the answer. */
  readonly reserved: number;
  readonly turns: number;
};

/** How a window fills if it continues to grow as lately. An estimate. */
export type Forecast = {
  /** Recent growth per turn in tokens. */
  readonly growth: number;
  /** Tokens used after each of the next turns; never more than the window. */
  readonly next: readonly number[];
  /** Whole turns until only the reserved tokens are free. Null if it does not grow, or hardly. */
  readonly turnsLeft: number | null;
};

/** A few turns allow no forecast beyond this many. */
const turnsLeftMax = 500;

/** Null if there are not two turns to compare. */
export function forecastOf({ fillings, size, reserved, turns }: ForecastInput): Forecast | null {
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

import { type Asked, type Calibration, predict } from "./calibrate.ts";

/** What there is room for. */
export type BudgetAsked = {
  readonly asked: Asked;
  /** Tokens of the model's context window. */
  readonly window: number;
  /** Tokens the client wants to leave for the answer. */
  readonly answerMax: number;
};

/** Tokens available, used and reserved, and how long they last. Used and reserved never exceed the window. */
export type Budget = {
  readonly window: number;
  readonly used: number;
  readonly reserved: number;
  readonly free: number;
  /** By how much the prompt grew per turn lately. */
  readonly growth: number;
  /** Whole turns until nothing is free, if it goes on like this; null if it does not grow. */
  readonly turnsLeft: number | null;
};

/** From what was last reported plus what is new since. */
export function budgetOf(calibration: Calibration, { asked, window, answerMax }: BudgetAsked): Budget {
  const size = roomOf(window);
  const used = Math.min(size, predict(calibration, asked));
  const reserved = Math.min(size - used, roomOf(answerMax));
  const free = size - used - reserved;
  const growth = growthOf([...(calibration.line?.recent ?? []), used]);
  return {
    window: size,
    used,
    reserved,
    free,
    growth,
    turnsLeft: growth > 0 ? Math.floor(free / growth) : null,
  };
}

function roomOf(tokens: number): number {
  return Number.isFinite(tokens) && tokens > 0 ? Math.floor(tokens) : 0;
}

/**
 * The mean, since a few large results make most of the growth and a median would not see them. Turns in
 * which the prompt shrank were rewrites and say nothing about growth.
 */
export function growthOf(prompts: readonly number[]): number {
  const steps = prompts.flatMap((prompt, index) => {
    const before = prompts[index - 1];
    return before === undefined || prompt < before ? [] : [prompt - before];
  });
  if (steps.length === 0) return 0;
  return Math.round(steps.reduce((sum, step) => sum + step, 0) / steps.length);
}

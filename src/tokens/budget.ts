import { type Calibration, type EstimatedPrompt, predict } from "./calibrate.ts";

export type BudgetInput = {
  readonly estimate: EstimatedPrompt;
  /** Tokens of the model's context window. */
  readonly window: number;
  /** Tokens the client wants to leave for the answer. */
  readonly answerMax: number;
};

/**
 * Tokens available, used and reserved, and how many turns they last. Used and reserved never exceed the
 * window.
 */
export type Budget = {
  readonly window: number;
  readonly used: number;
  readonly reserved: number;
  readonly free: number;
  /** Recent growth of the prompt per turn. */
  readonly growth: number;
  /** Whole turns until nothing is free at the recent growth. Null if it does not grow. */
  readonly turnsLeft: number | null;
};

/** The budget by the last report plus an estimate of what is new since. */
export function budgetOf(calibration: Calibration, { estimate, window, answerMax }: BudgetInput): Budget {
  const size = tokensOr0(window);
  const used = Math.min(size, predict(calibration, estimate));
  const reserved = Math.min(size - used, tokensOr0(answerMax));
  const free = size - used - reserved;
  const growth = growthOf([...(calibration.history?.recent ?? []), used]);
  return {
    window: size,
    used,
    reserved,
    free,
    growth,
    turnsLeft: growth > 0 ? Math.floor(free / growth) : null,
  };
}

function tokensOr0(tokens: number): number {
  return Number.isFinite(tokens) && tokens > 0 ? Math.floor(tokens) : 0;
}

/**
 * The mean growth, because a few large results make most of it and a median would miss them. Turns in which
 * the prompt shrank were rewrites and tell nothing about growth.
 */
export function growthOf(prompts: readonly number[]): number {
  const steps = prompts.flatMap((prompt, index) => {
    const before = prompts[index - 1];
    return before === undefined || prompt < before ? [] : [prompt - before];
  });
  if (steps.length === 0) return 0;
  return Math.round(steps.reduce((sum, step) => sum + step, 0) / steps.length);
}

/**
 * The assumed window of a model whose window is not known: most models have at least this, and too small a
 * value does no harm. It is never shown to people as the size of a window.
 */
export const assumedWindow = 200_000;

import { assert } from "../base/index.ts";
import type { Usage } from "../engine/frames/index.ts";
import type { View } from "../engine/index.ts";
import type { Moment } from "../engine/moment/index.ts";

/** The provider's usage of the last turn it answered; null if it reported none. */
export function lastUsage(moment: Moment, view: View): Usage | null {
  for (let index = view.answers.size - 1; index >= 0; index -= 1) {
    const answer = view.answers.get(index);
    // A failed turn adds nothing to the window.
    if (answer !== undefined && answer.seq <= moment.seq && answer.outcome !== "failed") return answer.usage;
  }
  return null;
}

export type WindowInput = {
  readonly usage: Usage | null;
  /** Called only if there is no usage. */
  readonly estimate: () => number;
  /** Tokens of the model's window. Null if unknown: no size is invented. */
  readonly size: number | null;
};

/** Tokens that a turn puts into the window: prompt and answer. */
export function windowTokens({ input, cacheRead, cacheWrite, output }: Usage): number {
  return input + cacheRead + cacheWrite + output;
}

export function windowRow({ usage, estimate, size: knownSize }: WindowInput): WindowRow {
  const used = usage === null ? estimate() : windowTokens(usage);
  assert(used >= 0, "nothing takes less than no room");
  if (knownSize === null) return { used, free: null, size: null, exact: usage !== null };
  // The provider accepted the prompt, so if it is larger than the known size, that size is wrong.
  const size = Math.max(knownSize, used);
  return { used, free: size - used, size, exact: usage !== null };
}

/**
 * The tokens in a model's window, for panel, command line and API: computed here once, so that no two of them
 * can disagree. Used and free add up to the size. Free and size are null if the size of the window is
 * unknown. If `exact` is false, `used` is an estimate and is shown as one.
 */
export type WindowRow = {
  readonly used: number;
  readonly free: number | null;
  readonly size: number | null;
  readonly exact: boolean;
};

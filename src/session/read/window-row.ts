import { assert } from "../../base/index.ts";
import type { Moment, Usage, View } from "../../engine/index.ts";
import type { WindowRow } from "./rows.ts";

/** What the provider counted for the last turn it answered; null where it has not said. */
export function lastUsage(moment: Moment, view: View): Usage | null {
  for (let index = view.answers.size - 1; index >= 0; index -= 1) {
    const answer = view.answers.get(index);
    // A failed turn has put nothing into the window.
    if (answer !== undefined && answer.seq <= moment.seq && answer.outcome !== "failed") return answer.usage;
  }
  return null;
}

export type Filling = {
  readonly usage: Usage | null;
  /** Asked only if the provider has not counted. */
  readonly estimate: () => number;
  /** Null: not known, and none is made up. */
  readonly size: number | null;
};

/** What a turn has put into the window: all that was read, and what was said. */
export function fillingOf({ input, cacheRead, cacheWrite, output }: Usage): number {
  return input + cacheRead + cacheWrite + output;
}

export function windowRow({ usage, estimate, size: usualSize }: Filling): WindowRow {
  const used = usage === null ? estimate() : fillingOf(usage);
  assert(used >= 0, "nothing takes less than no room");
  if (usualSize === null) return { used, free: null, size: null, exact: usage !== null };
  // The provider took it, so it fits: where the two disagree, the size we know of is the one that is wrong.
  const size = Math.max(usualSize, used);
  return { used, free: size - used, size, exact: usage !== null };
}

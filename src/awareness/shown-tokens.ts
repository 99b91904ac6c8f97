import type { BlockId } from "../base/index.ts";
import type { Shown, Tokens } from "../engine/frames/index.ts";
import { attributesOf, type Moment } from "../engine/moment/index.ts";

const nothing: Tokens = { count: 0, exact: true };

/** What a block takes of the window in that form. A placeholder is a line of ours, and too small to count. */
export function tokensShown(moment: Moment, id: BlockId, shown: Shown): Tokens {
  if (shown === "placeholder" || shown === "absent") return nothing;
  const notes = attributesOf(moment, id);
  return notes?.renditions[shown]?.tokens ?? notes?.tokens ?? { count: 0, exact: false };
}

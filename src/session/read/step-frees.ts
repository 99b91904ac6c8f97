import { blockId } from "../../base/index.ts";
import {
  asOf,
  type Moment,
  notesOf,
  now,
  placeOf,
  type State,
  type Step,
  streamOf,
  wantedOf,
} from "../../engine/index.ts";
import { tokensAs } from "./block-levels.ts";
import { viewIn } from "./look.ts";

/** The frames that did it, and the blocks they are about. */
export type Made = { readonly made: readonly number[]; readonly blocks: readonly number[] };

/** Tokens less of these blocks that were wanted after a step than before it. */
export function freedBy(state: State, { stream }: Step, { made, blocks }: Made): number {
  const [first, last] = [made[0], made.at(-1)];
  if (stream === null || first === undefined || last === undefined) return 0;
  const moment = now(state);
  const before = asOf(moment, (first - 1) as Moment["seq"]);
  const after = asOf(moment, last as Moment["seq"]);
  return blocks.reduce((sum, block) => {
    const [was, is] = [before, after].map((each) => wantedTokens(each, stream, block));
    // What came to be with the step itself frees nothing.
    return was === null || was === undefined ? sum : sum + was - (is ?? 0);
  }, 0);
}

function wantedTokens(moment: Moment, id: NonNullable<Step["stream"]>, block: number): number | null {
  const stream = streamOf(moment, id);
  const view = stream === null ? null : viewIn(moment, stream);
  const place = view === null ? null : placeOf(moment, view, blockId(block));
  // Sizes that were made since tell more of what was wanted than those that were known then.
  const notes = notesOf(now(moment.state), blockId(block));
  return place === null || notes === null ? null : (tokensAs(notes, wantedOf(place)) ?? 0);
}

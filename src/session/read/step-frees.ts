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
import { fitOf } from "./state-row.ts";

/** The frames that did it, the blocks they are about, and by what the sizes of their stream are fitted. */
export type Made = {
  readonly made: readonly number[];
  readonly blocks: readonly number[];
  readonly fit: number;
};

/** By what the sizes in the streams of some steps are fitted: every block is looked at, so once for all. */
export function fitsFor(state: State, steps: readonly Step[]): ReadonlyMap<Step["stream"], number> {
  const moment = now(state);
  const streams = new Set(steps.map(({ stream }) => stream));
  const fits = [...streams].map((id) => {
    const stream = id === null ? null : streamOf(moment, id);
    const view = stream === null ? null : viewIn(moment, stream);
    return [id, stream === null || view === null ? 1 : fitOf(moment, stream, view)] as const;
  });
  return new Map(fits);
}

/** Tokens less of these blocks that were wanted after a step than before it, fitted as all sizes are. */
export function freedBy(state: State, { stream }: Step, { made, blocks, fit }: Made): number {
  const [first, last] = [made[0], made.at(-1)];
  if (stream === null || first === undefined || last === undefined) return 0;
  const moment = now(state);
  const before = asOf(moment, (first - 1) as Moment["seq"]);
  const after = asOf(moment, last as Moment["seq"]);
  const freed = blocks.reduce((sum, block) => {
    const [was, is] = [before, after].map((each) => wantedTokens(each, stream, block));
    // What came to be with the step itself frees nothing.
    return was === null || was === undefined ? sum : sum + was - (is ?? 0);
  }, 0);
  return Math.trunc(freed * fit);
}

function wantedTokens(moment: Moment, id: NonNullable<Step["stream"]>, block: number): number | null {
  const stream = streamOf(moment, id);
  const view = stream === null ? null : viewIn(moment, stream);
  const place = view === null ? null : placeOf(moment, view, blockId(block));
  // Sizes that were made since tell more of what was wanted than those that were known then.
  const notes = notesOf(now(moment.state), blockId(block));
  return place === null || notes === null ? null : (tokensAs(notes, wantedOf(place)) ?? 0);
}

import { must } from "../../base/index.ts";
import { type Moment, notesOf, type Shown, type View } from "../../engine/index.ts";
import type { RewriteRow } from "./act-rows.ts";
import { rewriteWords } from "./act-words.ts";
import { tokensAs } from "./block-levels.ts";

/** The rewrites of a session up to a moment, by the exchange that carried each. */
export function rewritesAt(moment: Moment): ReadonlyMap<number, RewriteRow> {
  const rewrites = new Map<number, RewriteRow>();
  for (const [, view] of moment.state.views.entries()) {
    if (view.epochs.size === 0) continue;
    const carriers = [...view.sent.entries()].map(([, sent]) => sent).filter(({ seq }) => seq <= moment.seq);
    const changes = changesBySeq(moment, view);
    for (const [at, { seq, reason, means, predicted }] of view.epochs.entries()) {
      // The epoch and the turn that begins it are one frame, or neighbours if there is very much in it.
      const carrier = carriers.find((sent) => sent.seq >= seq);
      if (carrier === undefined) continue;
      const changed = changes.filter((change) => change.seq >= seq && change.seq <= carrier.seq);
      rewrites.set(carrier.exchange, {
        epoch: at + 1,
        reason,
        why: rewriteWords[reason],
        means,
        blocks: changed.map(({ block }) => block),
        freed: changed.reduce((sum, { freed }) => sum + freed, 0),
        predicted: predicted ?? null,
      });
    }
  }
  return rewrites;
}

type Shift = { readonly seq: number; readonly block: number; readonly freed: number };

/** When a block that was shown came to be shown otherwise. What the client left out is not our doing. */
function changesBySeq(moment: Moment, view: View): readonly Shift[] {
  const changes: Shift[] = [];
  for (const [block, newest] of view.shown.entries()) {
    for (let log: typeof newest | null = newest; log !== null && log.previous !== null; log = log.previous) {
      const [before, after] = [log.previous.value, log.value];
      if (log.seq > moment.seq || before === after || before === "absent" || after === "absent") continue;
      changes.push({ seq: log.seq, block, freed: freedBy(moment, block, { before, after }) });
    }
  }
  return changes;
}

type Forms = { readonly before: Shown; readonly after: Shown };

function freedBy(moment: Moment, block: number, { before, after }: Forms): number {
  const { id } = must(moment.state.blocks.get(block), "what was shown is known").block;
  const notes = notesOf(moment, id);
  if (notes === null) return 0;
  return (tokensAs(notes, before) ?? 0) - (tokensAs(notes, after) ?? 0);
}

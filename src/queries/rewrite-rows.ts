import { must } from "../base/index.ts";
import type { Shown } from "../engine/frames/index.ts";
import { rewriteReasonTexts } from "../engine/frames/index.ts";
import type { View } from "../engine/index.ts";
import { attributesOf, type Moment } from "../engine/moment/index.ts";
import type { RewriteRow } from "./answers/request-answers.ts";
import { tokensAs } from "./block-levels.ts";

/** The rewrites of a session up to a moment, by the exchange that carried each. */
export function rewriteRows(moment: Moment): ReadonlyMap<number, RewriteRow> {
  const rewrites = new Map<number, RewriteRow>();
  for (const [, view] of moment.state.views.entries()) {
    if (view.epochs.size === 0) continue;
    const carriers = [...view.sent.entries()].map(([, sent]) => sent).filter(({ seq }) => seq <= moment.seq);
    const changes = shownChanges(moment, view);
    for (const [at, { seq, reason, means, predicted }] of view.epochs.entries()) {
      // An epoch and the turn that begins it share a frame, or stand in neighbouring frames if it is large.
      const carrier = carriers.find((sent) => sent.seq >= seq);
      if (carrier === undefined) continue;
      const changed = changes.filter((change) => change.seq >= seq && change.seq <= carrier.seq);
      rewrites.set(carrier.exchange, {
        epoch: at + 1,
        reason,
        why: rewriteReasonTexts[reason],
        means,
        blocks: changed.map(({ block }) => block),
        freed: changed.reduce((sum, { freed }) => sum + freed, 0),
        predicted: predicted ?? null,
      });
    }
  }
  return rewrites;
}

type BlockShownChange = { readonly seq: number; readonly block: number; readonly freed: number };

/** The changes of a block from one shown form to another. Blocks that the client dropped do not count. */
function shownChanges(moment: Moment, view: View): readonly BlockShownChange[] {
  const changes: BlockShownChange[] = [];
  for (const [block, newest] of view.shown.entries()) {
    let version: typeof newest | null = newest;
    for (; version !== null && version.previous !== null; version = version.previous) {
      const [before, after] = [version.previous.value, version.value];
      if (version.seq > moment.seq || before === after || before === "absent" || after === "absent") continue;
      changes.push({ seq: version.seq, block, freed: tokensFreed(moment, block, { before, after }) });
    }
  }
  return changes;
}

function tokensFreed(
  moment: Moment,
  block: number,
  { before, after }: { readonly before: Shown; readonly after: Shown },
): number {
  const { id } = must(moment.state.blocks.get(block), "what was shown is known").block;
  const attributes = attributesOf(moment, id);
  if (attributes === null) return 0;
  return (tokensAs(attributes, before) ?? 0) - (tokensAs(attributes, after) ?? 0);
}

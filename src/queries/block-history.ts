import { type BlockId, limits, ok, type Result } from "../base/index.ts";
import { type Delta, type Frame, factNames } from "../engine/frames/index.ts";
import { type BlockView, viewOf } from "../engine/moment/index.ts";
import { actVerbs, framesAt } from "../log/index.ts";
import type { Store } from "../store/index.ts";
import type { HistoryRow } from "./answers/block-answers.ts";

/**
 * Lists the frames that touched a block. The state keeps, with every value, the seq that set it, so only
 * those frames are read; only the newest, if there are very many.
 */
export async function blockHistory(
  store: Store,
  blockView: BlockView,
): Promise<Result<readonly HistoryRow[]>> {
  const { changed, shown } = seqsOf(blockView);
  const seqs = [...new Set([...changed, ...shown])].sort((a, b) => a - b).slice(-limits.historyRowsMax);
  const frames = await framesAt(store, blockView.moment.state.session, seqs);
  if (!frames.ok) return frames;
  return ok([...frames.value.values()].flatMap((frame) => historyRow(frame, blockView.block.id, shown)));
}

function historyRow(frame: Frame, block: BlockId, shown: ReadonlySet<number>): readonly HistoryRow[] {
  const touching = frame.deltas.filter(
    (delta) => touches(delta, block) || (delta.type === "turn-sent" && shown.has(frame.seq)),
  );
  const deltas = [...new Set(touching.map(({ type }) => type))];
  const { seq, time, actor, cause } = frame;
  return deltas.length === 0
    ? []
    : [{ seq, time, actor, reason: cause.reason, deltas, did: actVerbs(touching) }];
}

function touches(delta: Delta, id: BlockId): boolean {
  if (delta.type === "unit-sent") return delta.unit.shows.some(({ block }) => block === id);
  if (!("block" in delta)) return false;
  return typeof delta.block === "object" ? delta.block.id === id : delta.block === id;
}

type HistorySeqs = { readonly changed: ReadonlySet<number>; readonly shown: ReadonlySet<number> };

/** Facts of parent views count up to the fork; later changes of a parent do not belong to this view. */
function seqsOf({ moment, view, block }: BlockView): HistorySeqs {
  const changed = new Set(seqsIn(moment.state.blocks.get(block.id)?.attributes, moment.seq));
  const shown = new Set<number>();
  for (let [ancestor, seq] = [view as typeof view | null, moment.seq as number]; ancestor !== null; ) {
    const facts = ancestor.facts.get(block.id);
    for (const name of factNames) for (const at of seqsIn(facts?.[name], seq)) changed.add(at);
    for (const at of seqsIn(ancestor.shown.get(block.id), seq)) shown.add(at);
    seq = Math.min(seq, ancestor.parent?.seq ?? seq);
    ancestor = ancestor.parent === null ? null : viewOf(moment, ancestor.parent.view);
  }
  return { changed, shown };
}

/** A value's versions, as far as their seqs matter. */
export type VersionChain = { readonly seq: number; readonly previous: VersionChain | null };

function seqsIn(newest: VersionChain | undefined, upTo: number): readonly number[] {
  const seqs: number[] = [];
  for (let version = newest ?? null; version !== null; version = version.previous)
    if (version.seq <= upTo) seqs.push(version.seq);
  return seqs;
}

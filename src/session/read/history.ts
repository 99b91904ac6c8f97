import { type BlockId, limits, ok, type Result } from "../../base/index.ts";
import { type Delta, type Frame, factNames, type Place, viewOf } from "../../engine/index.ts";
import type { Store } from "../../store/index.ts";
import { verbsIn } from "./act-words.ts";
import { framesAt } from "./frames-at.ts";
import type { HistoryRow } from "./rows.ts";

/**
 * The frames behind a block. The state remembers with every value the frame that set it, so only those are
 * read; the newest of them, if there are very many.
 */
export async function historyOf(store: Store, place: Place): Promise<Result<readonly HistoryRow[]>> {
  const { changed, shown } = seqsOf(place);
  const seqs = [...new Set([...changed, ...shown])].sort((a, b) => a - b).slice(-limits.historyRowsMax);
  const frames = await framesAt(store, place.moment.state.session, seqs);
  if (!frames.ok) return frames;
  return ok([...frames.value.values()].flatMap((frame) => historyRow(frame, place.block.id, shown)));
}

function historyRow(frame: Frame, block: BlockId, shown: ReadonlySet<number>): readonly HistoryRow[] {
  const touching = frame.deltas.filter(
    (delta) => touches(delta, block) || (delta.type === "turn-sent" && shown.has(frame.seq)),
  );
  const deltas = [...new Set(touching.map(({ type }) => type))];
  const { seq, time, actor, cause } = frame;
  return deltas.length === 0
    ? []
    : [{ seq, time, actor, reason: cause.reason, deltas, did: verbsIn(touching) }];
}

export function touches(delta: Delta, id: BlockId): boolean {
  if (delta.type === "unit-sent") return delta.unit.shows.some(({ block }) => block === id);
  if (!("block" in delta)) return false;
  return typeof delta.block === "object" ? delta.block.id === id : delta.block === id;
}

type Seqs = { readonly changed: ReadonlySet<number>; readonly shown: ReadonlySet<number> };

/** Facts of the parents count up to the fork: what they did later is not this view's. */
function seqsOf({ moment, view, block }: Place): Seqs {
  const changed = new Set(seqsIn(moment.state.blocks.get(block.id)?.notes, moment.seq));
  const shown = new Set<number>();
  for (let [then, seq] = [view as typeof view | null, moment.seq as number]; then !== null; ) {
    const facts = then.facts.get(block.id);
    for (const name of factNames) for (const at of seqsIn(facts?.[name], seq)) changed.add(at);
    for (const at of seqsIn(then.shown.get(block.id), seq)) shown.add(at);
    seq = Math.min(seq, then.parent?.seq ?? seq);
    then = then.parent === null ? null : viewOf(moment, then.parent.view);
  }
  return { changed, shown };
}

type Log = { readonly seq: number; readonly previous: Log | null };

function seqsIn(newest: Log | undefined, upTo: number): readonly number[] {
  const seqs: number[] = [];
  for (let log = newest ?? null; log !== null; log = log.previous) if (log.seq <= upTo) seqs.push(log.seq);
  return seqs;
}

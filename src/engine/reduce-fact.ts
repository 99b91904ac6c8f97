import { fail, must, ok, type Result, sameData } from "../base/index.ts";
import type { FactDelta } from "./frames/delta.ts";
import type { Fact, FactName } from "./frames/facts.ts";
import {
  type BlockView,
  blockViewIn,
  blockViewOf,
  factOf,
  factValue,
  now,
  streamOf,
  turnNow,
  viewOf,
} from "./moment/moment.ts";
import type { FactLog, State, View } from "./state.ts";
import { type Versions, withVersion } from "./versions.ts";

/** Sets any fact in the same way: from the present value to the next one, in one view. */
export function applyFactSet(state: State, delta: FactDelta): Result<State> {
  const view = viewOf(now(state), delta.view);
  if (view === null) return fail("AP_VIEW_UNKNOWN", { view: delta.view });
  const blockView = blockViewOf(now(state), view, delta.block);
  if (blockView === null) return fail("AP_BLOCK_UNKNOWN", { block: delta.block });
  const fact = delta.type.slice(0, -"-set".length) as FactName;
  if (!sameData(factOf(blockView, fact), delta.from)) {
    return fail("AP_DELTA_STALE", { type: delta.type, block: delta.block });
  }
  const changed = withFact(blockView, fact, delta.to);
  return ok({ ...state, views: state.views.with(view.id, withDue(blockView, changed, fact)) });
}

function withFact(blockView: BlockView, fact: FactName, to: Fact): View {
  const { moment, view, block } = blockView;
  const log: FactLog = view.facts.get(block.id) ?? {};
  const version = withVersion((log[fact] as Versions<Fact> | undefined) ?? null, moment.seq, to);
  return { ...view, facts: view.facts.with(block.id, { ...log, [fact]: version }) };
}

/**
 * Adds a hint for the turn at which `expire` must check the block again: the end of its ttl; or the next
 * turn, if the ttl has passed and what kept the block alive may be gone, as when a pin is undone. Hints are
 * only ever added: `expire` reads the facts themselves.
 */
function withDue(blockView: BlockView, view: View, fact: FactName): View {
  const { id } = blockView.block;
  const ttl = factValue(blockViewIn(blockView.moment, view, blockView.block), "ttl");
  const stream = must(streamOf(blockView.moment, view.stream), "a view has a stream");
  const next = turnNow(blockView.moment, stream) + 1;
  if (ttl === null || (fact !== "ttl" && ttl.at >= next)) return view;
  const at = Math.max(ttl.at, next);
  const hints = view.due.get(at) ?? [];
  return hints.includes(id) ? view : { ...view, due: view.due.with(at, [...hints, id]) };
}

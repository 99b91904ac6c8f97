import { fail, must, ok, type Result, sameData } from "../base/index.ts";
import type { FactDelta } from "./delta.ts";
import type { Fact, FactName } from "./facts.ts";
import { factOf, factValue, now, type Place, placeIn, placeOf, streamOf, turnNow, viewOf } from "./moment.ts";
import type { FactLog, State, View } from "./state.ts";
import { type Versions, withVersion } from "./versions.ts";

/** Every fact is set in the same way: from the present value to the next, in one view. */
export function setFact(state: State, delta: FactDelta): Result<State> {
  const view = viewOf(now(state), delta.view);
  if (view === null) return fail("AP_VIEW_UNKNOWN", { view: delta.view });
  const place = placeOf(now(state), view, delta.block);
  if (place === null) return fail("AP_BLOCK_UNKNOWN", { block: delta.block });
  const fact = delta.type.slice(0, -"-set".length) as FactName;
  if (!sameData(factOf(place, fact), delta.from)) {
    return fail("AP_DELTA_STALE", { type: delta.type, block: delta.block });
  }
  const changed = withFact(place, fact, delta.to);
  return ok({ ...state, views: state.views.with(view.id, withDue(place, changed, fact)) });
}

function withFact(place: Place, fact: FactName, to: Fact): View {
  const { moment, view, block } = place;
  const log: FactLog = view.facts.get(block.id) ?? {};
  const version = withVersion((log[fact] as Versions<Fact> | undefined) ?? null, moment.seq, to);
  return { ...view, facts: view.facts.with(block.id, { ...log, [fact]: version }) };
}

/**
 * Notes when the block is to be looked at again: at the end of its ttl; or next turn, if that has passed and
 * what kept the block alive may be gone, as when a pin is undone. Hints are only ever added: whoever follows
 * one looks at the facts themselves.
 */
function withDue(place: Place, view: View, fact: FactName): View {
  const { id } = place.block;
  const ttl = factValue(placeIn(place.moment, view, place.block), "ttl");
  const stream = must(streamOf(place.moment, view.stream), "a view has a stream");
  const next = turnNow(place.moment, stream) + 1;
  if (ttl === null || (fact !== "ttl" && ttl.at >= next)) return view;
  const at = Math.max(ttl.at, next);
  const hints = view.due.get(at) ?? [];
  return hints.includes(id) ? view : { ...view, due: view.due.with(at, [...hints, id]) };
}

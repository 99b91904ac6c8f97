import { assert, type BlockId, fail, limits, must, ok, type Result, type UnitId } from "../base/index.ts";
import type { Shown } from "./frames/block.ts";
import type { LedgerDelta, Unit } from "./frames/delta.ts";
import { descendsFrom, epochNow, lastSentTurn, now, streamOf, turnNow, viewOf } from "./moment/moment.ts";
import type { SentUnit, State, View } from "./state.ts";
import { withVersion } from "./versions.ts";

type LedgerDeltaOf<T extends LedgerDelta["type"]> = Extract<LedgerDelta, { type: T }>;

export function applyUnitSent(state: State, unit: Unit): Result<State> {
  const refused = (problem: string) => fail("AP_UNIT_INVALID", { unit: unit.id, problem });
  if (streamOf(now(state), unit.stream) === null) return fail("AP_STREAM_UNKNOWN", { stream: unit.stream });
  if (unit.id !== state.units.size || unit.id >= limits.unitsMax)
    return refused("units are numbered in order");
  const parent = unit.parent === null ? null : state.units.get(unit.parent);
  if (parent === undefined) return refused("its parent was never sent");
  if (parent !== null && !descendsFrom(now(state), unit.stream, parent.stream)) {
    return refused("its parent belongs to another stream");
  }
  if (unit.shows.length > limits.blocksPerUnitMax) return refused("it shows too many blocks");
  const foreign = unit.shows.find(({ block }) => !isInStream(state, unit, block));
  if (foreign !== undefined) return refused(`it shows #${foreign.block}, which its stream does not have`);
  const depth = parent === null ? 0 : parent.depth + 1;
  return ok({ ...state, units: state.units.push(sentUnit(unit, state.seq, depth)) });
}

/** Field by field: spreading a unit and adding to it takes a hundred times as long. */
function sentUnit(unit: Unit, sentSeq: State["seq"], depth: number): SentUnit {
  const { id, stream, parent, message, origin, anchor, bytes, shows } = unit;
  const sent = { id, stream, parent, message, origin, anchor, bytes, shows, sentSeq, depth };
  return unit.cleared === undefined ? sent : { ...sent, cleared: true };
}

function isInStream(state: State, unit: Unit, id: BlockId): boolean {
  const block = state.blocks.get(id)?.block;
  return block !== undefined && descendsFrom(now(state), unit.stream, block.stream);
}

export function applyTurnSent(state: State, delta: LedgerDeltaOf<"turn-sent">): Result<State> {
  const view = viewOf(now(state), delta.view);
  if (view === null) return fail("AP_VIEW_UNKNOWN", { view: delta.view });
  const stream = must(streamOf(now(state), view.stream), "a view has a stream");
  const { turn, leaf, exchange } = delta;
  const refused = (problem: string) => fail("AP_TURN_INVALID", { turn, stream: stream.id, problem });
  const before = turnNow(now(state), stream);
  const retried = turn === before && stream.turns.size > 0;
  if (!retried && turn !== before + 1) return refused(`turn ${before + 1} is next`);
  if (turn > limits.turnsMax) return refused("there are too many turns");
  const last = state.units.get(leaf);
  if (last === undefined) return refused("its last unit was never sent");
  if (!descendsFrom(now(state), stream.id, last.stream)) return refused("its last unit is another stream's");
  const turns = stream.turns.push({ seq: state.seq, turn });
  const sent = view.sent.push({ seq: state.seq, turn, leaf, exchange });
  return ok({
    ...state,
    streams: state.streams.with(stream.id, { ...stream, turns }),
    views: state.views.with(view.id, { ...view, sent, shown: shownAlong(state, view, leaf) }),
  });
}

/**
 * Compares the last path with this one: blocks of units that left are no longer shown, those that joined are.
 */
function shownAlong(state: State, view: View, leaf: UnitId): View["shown"] {
  const { left, joined, kept } = pathChange(state, lastSentTurn(now(state), view)?.leaf ?? null, leaf);
  const changes = new Map<BlockId, Shown>();
  for (const unit of joined) for (const { block, as } of unit.shows) changes.set(block, as);
  const gone = new Set(left.flatMap(({ shows }) => shows.map(({ block }) => block)));
  for (const block of changes.keys()) gone.delete(block);
  // Two units may show one block: the unit that left need not be the only one.
  for (let unit = kept; unit !== null && gone.size > 0; unit = unitAt(state, unit.parent)) {
    for (const { block, as } of [...unit.shows].reverse()) if (gone.delete(block)) changes.set(block, as);
  }
  for (const block of gone) changes.set(block, "absent");
  let { shown } = view;
  for (const [block, as] of changes) {
    const log = shown.get(block) ?? null;
    if ((log?.value ?? "absent") !== as) shown = shown.with(block, withVersion(log, state.seq, as));
  }
  return shown;
}

type PathChange = {
  readonly left: readonly SentUnit[];
  readonly joined: readonly SentUnit[];
  /** The last unit both paths have. Null if they share none. */
  readonly kept: SentUnit | null;
};

/**
 * Both lists are in the order from root to leaf. The cost is the length of the difference, not of the path.
 */
function pathChange(state: State, from: UnitId | null, to: UnitId | null): PathChange {
  const left: SentUnit[] = [];
  const joined: SentUnit[] = [];
  let [old, fresh] = [unitAt(state, from), unitAt(state, to)];
  while (old !== null || fresh !== null) {
    if (old !== null && fresh !== null && old.id === fresh.id) break;
    if (fresh === null || (old !== null && old.depth >= fresh.depth)) {
      assert(old !== null, "one of two different paths goes on");
      left.push(old);
      old = unitAt(state, old.parent);
    } else {
      joined.push(fresh);
      fresh = unitAt(state, fresh.parent);
    }
  }
  return { left: left.reverse(), joined: joined.reverse(), kept: fresh };
}

function unitAt(state: State, id: UnitId | null): SentUnit | null {
  return id === null ? null : must(state.units.get(id), "a path is made of sent units");
}

export function applyTurnAnswered(state: State, delta: LedgerDeltaOf<"turn-answered">): Result<State> {
  const view = viewOf(now(state), delta.view);
  if (view === null) return fail("AP_VIEW_UNKNOWN", { view: delta.view });
  const { turn, outcome, usage } = delta;
  const sentSeq = seqOfTurn(view, turn);
  if (sentSeq === null) {
    return fail("AP_TURN_INVALID", { turn, stream: view.stream, problem: "it was never sent" });
  }
  const answers = view.answers.push({ seq: state.seq, sentSeq, turn, outcome, usage });
  return ok({ ...state, views: state.views.with(view.id, { ...view, answers }) });
}

/** Turns are answered soon after they are sent, so the search from the end is short. */
function seqOfTurn(view: View, turn: number): State["seq"] | null {
  for (let index = view.sent.size - 1; index >= 0; index -= 1) {
    const sent = must(view.sent.get(index), "sent turns have no gaps");
    if (sent.turn === turn) return sent.seq;
    if (sent.turn < turn) return null;
  }
  return null;
}

export function applyEpochStarted(state: State, delta: LedgerDeltaOf<"epoch-started">): Result<State> {
  const view = viewOf(now(state), delta.view);
  if (view === null) return fail("AP_VIEW_UNKNOWN", { view: delta.view });
  const { epoch, cut, reason, means, predicted } = delta;
  const refused = (problem: string) => fail("AP_EPOCH_INVALID", { epoch, view: view.id, problem });
  if (epoch !== epochNow(now(state), view) + 1) return refused("epochs are numbered in order");
  if (cut !== null && state.units.get(cut) === undefined) return refused("the cut was never sent");
  const epochs = view.epochs.push({
    seq: state.seq,
    cut,
    reason,
    means,
    ...(predicted === undefined ? {} : { predicted }),
  });
  return ok({ ...state, views: state.views.with(view.id, { ...view, epochs }) });
}

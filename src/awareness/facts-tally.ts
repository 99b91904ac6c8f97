import { type BlockId, must, type Seq } from "../base/index.ts";
import type { State, View } from "../engine/index.ts";
import {
  attributesOf,
  type BlockView,
  blockViewOf,
  factValue,
  isFocused,
  isPinned,
  type Moment,
  messageBlocks,
  runNow,
  streamOf,
  turnNow,
  viewBlocks,
  type Zone,
} from "../engine/moment/index.ts";
import { type CountedBlock, countBlock, isNew } from "./counted-block.ts";
import {
  addToPending,
  addToZone,
  type BlockExpiry,
  emptySum,
  expiryOf,
  type FactsInput,
  factsFromTally,
  gainOf,
  isSelected,
  type ManifestFacts,
  manifestFacts,
  type NamedBlock,
  namedBlock,
  type PendingSum,
  type SelectedBlock,
  selectedBlock,
  soonTurns,
  type ViewTally,
  type ZoneSum,
} from "./manifest-facts.ts";
import { isPruned, isShowable, type PrunedRange, prunedRanges } from "./pruned-ranges.ts";

/** A view at one moment. States are immutable, so keeping one keeps the view as it was. */
type TallyMoment = { readonly moment: Moment; readonly view: View };

/** The position of a block in its view: blocks of parents come first, and a frame may add several. */
type ListPosition = { readonly addedSeq: Seq; readonly at: number };
type OrderedBlocks<T> = Map<BlockId, { readonly position: ListPosition; readonly value: T }>;

/** `run`: blocks that are in the recency zone only until their run ends. */
type ZoneSums = Record<Zone | "run", ZoneSum>;

type TallyState = {
  current: TallyMoment | null;
  readonly sums: ZoneSums;
  readonly pending: PendingSum;
  readonly primacy: OrderedBlocks<NamedBlock>;
  readonly selected: OrderedBlocks<SelectedBlock>;
  /** By the turn at which they expire. */
  readonly ending: Map<number, Map<BlockId, BlockExpiry>>;
  /** Tokens it takes to show each lowered block whole, largest first. */
  readonly gains: number[];
  /** Blocks that time alone may move: not sent yet, or in focus. */
  readonly passing: Set<BlockId>;
  ranges: readonly PrunedRange[];
};

/**
 * Keeps the manifest facts of one view up to date. It gives what `manifestFacts` gives, but keeps the sums: a
 * changed block is subtracted as it was and added as it is. The tables of the state share what did not
 * change, so they tell which blocks did. The cost follows what is new, however long the history is.
 */
export class FactsTally {
  #state: TallyState | null = null;

  facts(moment: Moment, view: View, input: FactsInput): ManifestFacts {
    const isPast = moment.seq !== moment.state.seq || moment.state.views.get(view.id) !== view;
    // Any turn may make any block stale, so candidates are always computed from all blocks.
    if (isPast || input.needsCandidates === true) return manifestFacts(moment, view, input);
    const current = { moment, view };
    const state = this.#state !== null && isLater(this.#state.current, current) ? this.#state : emptyTally();
    // A half-applied update would give wrong sums: if one fails, the next starts from nothing.
    this.#state = null;
    update(state, current);
    this.#state = state;
    return factsFromTally(viewTally(state, current), input);
  }
}

function emptyTally(): TallyState {
  return {
    current: null,
    sums: {
      primacy: emptySum(),
      middle: emptySum(),
      recency: emptySum(),
      cold: emptySum(),
      run: emptySum(),
    },
    pending: { blocks: 0, shown: 0, wanted: 0 },
    primacy: new Map(),
    selected: new Map(),
    ending: new Map(),
    gains: [],
    passing: new Set(),
    ranges: [],
  };
}

/** The same view at the same moment or later: runs, turns and sent units only grow. */
function isLater(last: TallyMoment | null, { moment, view }: TallyMoment): boolean {
  if (last === null || last.view.id !== view.id) return false;
  return last.moment.state.session === moment.state.session && last.moment.seq <= moment.seq;
}

function update(state: TallyState, current: TallyMoment): void {
  const last = state.current;
  const touched = last === null ? everyBlock(current) : touchedSince(last, current, state.passing);
  const before = last === null ? [] : placesAmong(last, touched);
  const after = placesAmong(current, touched);
  for (const place of before) takeOut(state, place);
  if (last !== null && runSeq(last) !== runSeq(current)) endRun(state.sums);
  for (const place of after) putIn(state, place);
  if (last === null || movesRanges(last, before, after))
    state.ranges = prunedRanges(current.moment, current.view);
  state.current = current;
}

function everyBlock({ moment, view }: TallyMoment): ReadonlySet<BlockId> {
  return new Set([...viewBlocks(moment, view)].map(({ id }) => id));
}

/**
 * Blocks inherited from parents stay as they were at the fork, so the tables of the view hold every change. A
 * pair is pinned and withheld together, so both members are touched together.
 */
function touchedSince(
  last: TallyMoment,
  current: TallyMoment,
  passing: ReadonlySet<BlockId>,
): ReadonlySet<BlockId> {
  const { state } = current.moment;
  const touched = new Set(passing);
  const tables = [
    state.blocks.changesSince(last.moment.state.blocks),
    current.view.facts.changesSince(last.view.facts),
    current.view.shown.changesSince(last.view.shown),
  ];
  for (const changes of tables) {
    for (const id of changes) {
      touched.add(id as BlockId);
      for (const member of pairedWith(state, id as BlockId)) touched.add(member);
    }
  }
  return touched;
}

function pairedWith(state: State, id: BlockId): readonly BlockId[] {
  const pair = state.blocks.get(id)?.block.pair ?? null;
  return pair === null ? [] : (state.pairs.get(pair) ?? []);
}

function placesAmong({ moment, view }: TallyMoment, ids: ReadonlySet<BlockId>): readonly BlockView[] {
  return [...ids].flatMap((id) => blockViewOf(moment, view, id) ?? []).filter(isShowable);
}

function runSeq({ moment, view }: TallyMoment): Seq {
  return runNow(moment, must(streamOf(moment, view.stream), "a view has a stream")).seq;
}

/** Every counted block is older than the next run, so none of them belongs to it. */
function endRun(sums: ZoneSums): void {
  sums.middle = added(sums.middle, sums.run);
  sums.run = emptySum();
}

function added(a: ZoneSum, b: ZoneSum): ZoneSum {
  const sum = { ...a };
  for (const field of Object.keys(b) as (keyof ZoneSum)[]) sum[field] += b[field];
  return sum;
}

function takeOut(state: TallyState, place: BlockView): void {
  const counted = countBlock(place);
  if (counted === null) return;
  const { id } = place.block;
  for (const list of [state.primacy, state.selected, state.passing]) list.delete(id);
  addToZone(state.sums[sumFor(counted)], counted, -1);
  if (counted.zone === "cold") return;
  addToPending(state.pending, counted, -1);
  const ending = expiryOf(counted);
  if (ending !== null) state.ending.get(ending.at)?.delete(id);
  const gain = gainOf(counted);
  if (gain !== null) state.gains.splice(gainIndex(state.gains, gain), 1);
}

function putIn(state: TallyState, place: BlockView): void {
  const counted = countBlock(place);
  if (counted === null) return;
  const { id } = place.block;
  if (isNew(place) || isFocused(place)) state.passing.add(id);
  if (counted.zone === "primacy") {
    state.primacy.set(id, { position: orderOf(place), value: namedBlock(counted) });
  }
  if (isSelected(counted))
    state.selected.set(id, { position: orderOf(place), value: selectedBlock(counted) });
  addToZone(state.sums[sumFor(counted)], counted, 1);
  if (counted.zone === "cold") return;
  addToPending(state.pending, counted, 1);
  const ending = expiryOf(counted);
  if (ending !== null) endingAt(state, ending.at).set(id, ending);
  const gain = gainOf(counted);
  if (gain !== null) state.gains.splice(gainIndex(state.gains, gain), 0, gain);
}

function endingAt({ ending }: TallyState, turn: number): Map<BlockId, BlockExpiry> {
  const there = ending.get(turn) ?? new Map<BlockId, BlockExpiry>();
  ending.set(turn, there);
  return there;
}

function sumFor(counted: CountedBlock): Zone | "run" {
  const { blockView: place, zone } = counted;
  if (zone !== "recency") return zone;
  return isPinned(place) || isFocused(place) || isSelected(counted) ? "recency" : "run";
}

/** The index at which a gain is inserted into the descending list. */
function gainIndex(gains: readonly number[], gain: number): number {
  return firstWhere(gains.length, (at) => must(gains[at], "within the list") <= gain);
}

function orderOf({ moment, block }: BlockView): ListPosition {
  const { blocks } = must(streamOf(moment, block.stream), "a block has a stream");
  const entryAt = (at: number) =>
    must(moment.state.blocks.get(must(blocks.get(at), "no gaps")), "it is known");
  let at = firstWhere(blocks.size, (index) => entryAt(index).block.addedSeq >= block.addedSeq);
  while (at < blocks.size && blocks.get(at) !== block.id) at += 1;
  return { addedSeq: block.addedSeq, at };
}

/** The first index for which the predicate holds; the size if there is none. */
function firstWhere(size: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, size];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * True if the pruned ranges may have changed. They are then computed from all blocks: pruning changes with a
 * rewrite and rarely in between.
 */
function movesRanges(
  { moment }: TallyMoment,
  before: readonly BlockView[],
  after: readonly BlockView[],
): boolean {
  const marks = new Map(before.map((place) => [place.block.id, rangeMark(place)]));
  for (const place of after) {
    const { id, addedSeq } = place.block;
    const isAppended = addedSeq > moment.seq && !marks.has(id);
    if (isAppended ? joinsPruned(place) : marks.get(id) !== rangeMark(place)) return true;
    marks.delete(id);
  }
  return marks.size > 0;
}

/** An appended block splits no range, unless it or its message is pruned. */
function joinsPruned({ moment, view, block }: BlockView): boolean {
  return messageBlocks(moment, view, block.message).some(isPruned);
}

/** Everything a range tells about a block, as a key. */
function rangeMark(place: BlockView): string {
  if (!isPruned(place)) return "";
  return JSON.stringify([factValue(place, "archive"), attributesOf(place.moment, place.block.id)?.purged]);
}

function viewTally(state: TallyState, current: TallyMoment): ViewTally {
  const { primacy, middle, recency, cold, run } = state.sums;
  const turn = turnNow(
    current.moment,
    must(streamOf(current.moment, current.view.stream), "a view has a stream"),
  );
  return {
    turn,
    zones: { primacy, middle, recency: added(recency, run), cold },
    pending: state.pending,
    primacy: inOrder(state.primacy),
    selected: inOrder(state.selected),
    expiries: soonTurns(turn).flatMap((at) => [...(state.ending.get(at)?.values() ?? [])]),
    unused: [],
    gains: state.gains,
    ranges: state.ranges,
  };
}

function inOrder<T>(listed: OrderedBlocks<T>): readonly T[] {
  return [...listed.values()]
    .sort(({ position: a }, { position: b }) => a.addedSeq - b.addedSeq || a.at - b.at)
    .map(({ value }) => value);
}

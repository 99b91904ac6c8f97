import { type BlockId, must, type Seq } from "../base/index.ts";
import {
  blocksOf,
  factValue,
  isFocused,
  isPinned,
  type Moment,
  messageBlocks,
  notesOf,
  type Place,
  placeOf,
  runNow,
  type State,
  streamOf,
  turnNow,
  type View,
  type Zone,
} from "../engine/index.ts";
import { type Counted, countedAt, isNew } from "./counted.ts";
import {
  addToPending,
  addToZone,
  type Ending,
  emptySum,
  endingOf,
  factsFrom,
  gainOf,
  isSelected,
  type ManifestAsked,
  type ManifestFacts,
  manifestFacts,
  type NamedBlock,
  namedBlock,
  type PendingSum,
  selectedBlock,
  soonTurns,
  type Tallied,
  type ZoneSum,
} from "./facts.ts";
import { isPruned, isShowable, type PrunedRange, prunedRanges } from "./range.ts";
import type { Selected } from "./selection.ts";

/** A view at the moment it was looked at. States never change, so keeping one keeps the view as it was. */
type Seen = { readonly moment: Moment; readonly view: View };

/** Where a block stands among those of its view: parents come first, and a frame may bring several. */
type Standing = { readonly addedSeq: Seq; readonly at: number };
type Listed<T> = Map<BlockId, { readonly standing: Standing; readonly told: T }>;

/** `run`: of the recency zone only because its run goes on. */
type Sums = Record<Zone | "run", ZoneSum>;

type Kept = {
  seen: Seen | null;
  readonly sums: Sums;
  readonly pending: PendingSum;
  readonly primacy: Listed<NamedBlock>;
  readonly selected: Listed<Selected>;
  /** By the turn in which they end. */
  readonly ending: Map<number, Map<BlockId, Ending>>;
  /** What it takes to show each lowered block as it was, largest first. */
  readonly gains: number[];
  /** Blocks that time alone may move: not sent yet, or in focus. */
  readonly passing: Set<BlockId>;
  ranges: readonly PrunedRange[];
};

/**
 * The facts of one view's manifest, asked for again and again. It says what `manifestFacts` says, but keeps
 * the sums: a block that changed is taken out as it was, and put in as it is. Which ones changed is seen from
 * the tables of the state, which share what did not. So the cost is what is new, however long the history.
 */
export class FactsTally {
  #kept: Kept | null = null;

  facts(moment: Moment, view: View, asked: ManifestAsked): ManifestFacts {
    const isPast = moment.seq !== moment.state.seq || moment.state.views.get(view.id) !== view;
    // Every turn that passes may make any block stale, so there is nothing to keep for that question.
    if (isPast || asked.asksUnused === true) return manifestFacts(moment, view, asked);
    const seen = { moment, view };
    const kept = this.#kept !== null && isLater(this.#kept.seen, seen) ? this.#kept : nothingKept();
    // Half of an update is worse than none: should it fail, the next one begins anew.
    this.#kept = null;
    update(kept, seen);
    this.#kept = kept;
    return factsFrom(talliedOf(kept, seen), asked);
  }
}

function nothingKept(): Kept {
  return {
    seen: null,
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

/** The same view, not before: runs, turns and what was sent only ever go on. */
function isLater(last: Seen | null, { moment, view }: Seen): boolean {
  if (last === null || last.view.id !== view.id) return false;
  return last.moment.state.session === moment.state.session && last.moment.seq <= moment.seq;
}

function update(kept: Kept, seen: Seen): void {
  const last = kept.seen;
  const touched = last === null ? everyBlock(seen) : touchedSince(last, seen, kept.passing);
  const before = last === null ? [] : placesAmong(last, touched);
  const after = placesAmong(seen, touched);
  for (const place of before) takeOut(kept, place);
  if (last !== null && runSeq(last) !== runSeq(seen)) endRun(kept.sums);
  for (const place of after) putIn(kept, place);
  if (last === null || movesRanges(last, before, after)) kept.ranges = prunedRanges(seen.moment, seen.view);
  kept.seen = seen;
}

function everyBlock({ moment, view }: Seen): ReadonlySet<BlockId> {
  return new Set([...blocksOf(moment, view)].map(({ id }) => id));
}

/**
 * What a view takes over from its parents is as it was at the fork, for good: its own tables say all that can
 * change. A pair is pinned and withheld as one, so it changes as one.
 */
function touchedSince(last: Seen, seen: Seen, passing: ReadonlySet<BlockId>): ReadonlySet<BlockId> {
  const { state } = seen.moment;
  const touched = new Set(passing);
  const tables = [
    state.blocks.changesSince(last.moment.state.blocks),
    seen.view.facts.changesSince(last.view.facts),
    seen.view.shown.changesSince(last.view.shown),
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

function placesAmong({ moment, view }: Seen, ids: ReadonlySet<BlockId>): readonly Place[] {
  return [...ids].flatMap((id) => placeOf(moment, view, id) ?? []).filter(isShowable);
}

function runSeq({ moment, view }: Seen): Seq {
  return runNow(moment, must(streamOf(moment, view.stream), "a view has a stream")).seq;
}

/** All that was counted came before the next run, so nothing of it is in that. */
function endRun(sums: Sums): void {
  sums.middle = added(sums.middle, sums.run);
  sums.run = emptySum();
}

function added(a: ZoneSum, b: ZoneSum): ZoneSum {
  const sum = { ...a };
  for (const field of Object.keys(b) as (keyof ZoneSum)[]) sum[field] += b[field];
  return sum;
}

function takeOut(kept: Kept, place: Place): void {
  const counted = countedAt(place);
  if (counted === null) return;
  const { id } = place.block;
  for (const list of [kept.primacy, kept.selected, kept.passing]) list.delete(id);
  addToZone(kept.sums[sumFor(counted)], counted, -1);
  if (counted.zone === "cold") return;
  addToPending(kept.pending, counted, -1);
  const ending = endingOf(counted);
  if (ending !== null) kept.ending.get(ending.at)?.delete(id);
  const gain = gainOf(counted);
  if (gain !== null) kept.gains.splice(standsAt(kept.gains, gain), 1);
}

function putIn(kept: Kept, place: Place): void {
  const counted = countedAt(place);
  if (counted === null) return;
  const { id } = place.block;
  if (isNew(place) || isFocused(place)) kept.passing.add(id);
  if (counted.zone === "primacy") {
    kept.primacy.set(id, { standing: standingOf(place), told: namedBlock(counted) });
  }
  if (isSelected(counted))
    kept.selected.set(id, { standing: standingOf(place), told: selectedBlock(counted) });
  addToZone(kept.sums[sumFor(counted)], counted, 1);
  if (counted.zone === "cold") return;
  addToPending(kept.pending, counted, 1);
  const ending = endingOf(counted);
  if (ending !== null) endingAt(kept, ending.at).set(id, ending);
  const gain = gainOf(counted);
  if (gain !== null) kept.gains.splice(standsAt(kept.gains, gain), 0, gain);
}

function endingAt({ ending }: Kept, turn: number): Map<BlockId, Ending> {
  const there = ending.get(turn) ?? new Map<BlockId, Ending>();
  ending.set(turn, there);
  return there;
}

function sumFor(counted: Counted): Zone | "run" {
  const { place, zone } = counted;
  if (zone !== "recency") return zone;
  return isPinned(place) || isFocused(place) || isSelected(counted) ? "recency" : "run";
}

/** The first place, in a list that runs down, with nothing larger from there on. */
function standsAt(gains: readonly number[], gain: number): number {
  return firstWhere(gains.length, (at) => must(gains[at], "within the list") <= gain);
}

function standingOf({ moment, block }: Place): Standing {
  const { blocks } = must(streamOf(moment, block.stream), "a block has a stream");
  const entryAt = (at: number) =>
    must(moment.state.blocks.get(must(blocks.get(at), "no gaps")), "it is known");
  let at = firstWhere(blocks.size, (index) => entryAt(index).block.addedSeq >= block.addedSeq);
  while (at < blocks.size && blocks.get(at) !== block.id) at += 1;
  return { addedSeq: block.addedSeq, at };
}

/** The first index from which on something holds; the size, if it never does. */
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
 * Whether the pruned ranges may not be what they were. They are then looked for among all blocks: what is
 * pruned changes with a rewrite, and hardly ever in between.
 */
function movesRanges({ moment }: Seen, before: readonly Place[], after: readonly Place[]): boolean {
  const marks = new Map(before.map((place) => [place.block.id, rangeMark(place)]));
  for (const place of after) {
    const { id, addedSeq } = place.block;
    const isAppended = addedSeq > moment.seq && !marks.has(id);
    if (isAppended ? joinsPruned(place) : marks.get(id) !== rangeMark(place)) return true;
    marks.delete(id);
  }
  return marks.size > 0;
}

/** What comes last parts no two others, unless it is pruned or belongs to a message that is. */
function joinsPruned({ moment, view, block }: Place): boolean {
  return messageBlocks(moment, view, block.message).some(isPruned);
}

/** All that a range says of a block. */
function rangeMark(place: Place): string {
  if (!isPruned(place)) return "";
  return JSON.stringify([factValue(place, "archive"), notesOf(place.moment, place.block.id)?.purged]);
}

function talliedOf(kept: Kept, seen: Seen): Tallied {
  const { primacy, middle, recency, cold, run } = kept.sums;
  const turn = turnNow(seen.moment, must(streamOf(seen.moment, seen.view.stream), "a view has a stream"));
  return {
    turn,
    zones: { primacy, middle, recency: added(recency, run), cold },
    pending: kept.pending,
    primacy: inOrder(kept.primacy),
    selected: inOrder(kept.selected),
    ending: soonTurns(turn).flatMap((at) => [...(kept.ending.get(at)?.values() ?? [])]),
    unused: [],
    gains: kept.gains,
    ranges: kept.ranges,
  };
}

function inOrder<T>(listed: Listed<T>): readonly T[] {
  return [...listed.values()]
    .sort(({ standing: a }, { standing: b }) => a.addedSeq - b.addedSeq || a.at - b.at)
    .map(({ told }) => told);
}

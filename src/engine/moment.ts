import {
  assert,
  type BlockId,
  fail,
  type MessageId,
  must,
  ok,
  type Result,
  type Seq,
  type StreamId,
  seqOf,
  type Turn,
  type UnitId,
  type ViewId,
} from "../base/index.ts";
import type { Approval, Decided, Mode, Permission, PermissionKey } from "./approval.ts";
import type { AddedBlock, BlockNotes, Shown } from "./block.ts";
import type { RecordedExchange } from "./exchange.ts";
import { type Fact, type FactName, type Facts, type FactValues, initialFact } from "./facts.ts";
import { lastUpTo } from "./paged.ts";
import type { Answer, FactLog, RecordedApproval, SentTurn, State, Stream, View } from "./state.ts";
import { type Versions, versionAt } from "./versions.ts";

/**
 * The state as of one seq: what every reader takes. Making one costs nothing, whichever seq it is, and it
 * never changes: later frames only append to what it reads from.
 */
export type Moment = { readonly state: State; readonly seq: Seq };

export function stateAt(state: State, seq: number): Result<Moment> {
  const inside = Number.isSafeInteger(seq) && seq >= 0 && seq <= state.seq;
  return inside ? ok({ state, seq: seqOf(seq) }) : fail("AP_SEQ_UNKNOWN", { seq, head: state.seq });
}

export function now(state: State): Moment {
  return { state, seq: state.seq };
}

/** The same state, seen no later than that seq: how a fork looks at its parent. */
export function asOf(moment: Moment, seq: Seq): Moment {
  return moment.seq <= seq ? moment : { state: moment.state, seq };
}

export function streamOf(moment: Moment, id: StreamId): Stream | null {
  const stream = moment.state.streams.get(id);
  return stream !== undefined && stream.openedSeq <= moment.seq ? stream : null;
}

export function viewOf(moment: Moment, id: ViewId): View | null {
  const view = moment.state.views.get(id);
  return view !== undefined && view.openedSeq <= moment.seq ? view : null;
}

export function turnNow(moment: Moment, stream: Stream): Turn {
  const index = lastUpTo(stream.turns, moment.seq);
  return stream.turns.get(index)?.turn ?? stream.baseTurn;
}

/** A run and the seq it began with. */
export type RunNow = { readonly run: number; readonly seq: Seq };

/** The run the stream is in. Before the first user message it is run 0; a fork goes on in its parent's. */
export function runNow(moment: Moment, stream: Stream): RunNow {
  const index = lastUpTo(stream.runs, moment.seq);
  const { run, seq } = runAtFork(moment, stream);
  return { run: run + index + 1, seq: stream.runs.get(index)?.seq ?? seq };
}

function runAtFork(moment: Moment, { parent, openedSeq }: Stream): RunNow {
  if (parent === null) return { run: 0, seq: openedSeq };
  const stream = must(streamOf(moment, parent.stream), "a fork has a parent");
  return runNow(asOf(moment, parent.seq), stream);
}

/** A block that is there at this moment, in whatever stream. */
export function blockOf(moment: Moment, id: BlockId): AddedBlock | null {
  const entry = moment.state.blocks.get(id);
  return entry !== undefined && versionAt(entry.notes, moment.seq)?.value.present ? entry.block : null;
}

export function notesOf(moment: Moment, id: BlockId): BlockNotes | null {
  return versionAt(moment.state.blocks.get(id)?.notes, moment.seq)?.value ?? null;
}

/** A block where a view sees it, with what the view and its parents hold true of it. */
export type Place = {
  readonly moment: Moment;
  readonly view: View;
  readonly block: AddedBlock;
  /** The view's own log first, then its parents', each as it was at the fork. */
  readonly logs: readonly LogThen[];
};
type LogThen = { readonly log: FactLog; readonly seq: Seq };

/**
 * A view reaches the blocks of its own stream, and those its parents had at each fork. Null: out of reach.
 */
export function placeOf(moment: Moment, view: View, id: BlockId): Place | null {
  const entry = moment.state.blocks.get(id);
  if (entry === undefined) return null;
  const { block, notes } = entry;
  let stream = must(streamOf(moment, view.stream), "a view has a stream");
  let then = moment;
  while (block.stream !== stream.id && stream.parent !== null) {
    then = asOf(then, stream.parent.seq);
    stream = must(streamOf(moment, stream.parent.stream), "a fork has a parent");
  }
  const reached =
    block.stream === stream.id && versionAt(notes, then.seq)?.value.present && !isOver(block, moment);
  return reached ? placeIn(moment, view, block) : null;
}

/** A fork sees what its parent had, but a frame that is over is over for it too. */
function isOver({ ephemeral, addedSeq }: AddedBlock, { seq }: Moment): boolean {
  return ephemeral === true && addedSeq !== seq;
}

/** Contract: the view reaches the block. */
export function placeIn(moment: Moment, view: View, block: AddedBlock): Place {
  const logs: LogThen[] = [];
  let [then, seen] = [moment, view];
  for (;;) {
    const log = seen.facts.get(block.id);
    if (log !== undefined) logs.push({ log, seq: then.seq });
    if (seen.parent === null) return { moment, view, block, logs };
    then = asOf(then, seen.parent.seq);
    seen = must(viewOf(then, seen.parent.view), "a forked view has a parent");
  }
}

/** The blocks of a view in the order they came, the parents' first. */
export function* blocksOf(moment: Moment, view: View): Generator<AddedBlock> {
  for (const block of streamBlocks(moment, view.stream)) if (!isOver(block, moment)) yield block;
}

function* streamBlocks(moment: Moment, id: StreamId): Generator<AddedBlock> {
  const stream = must(streamOf(moment, id), "a view has a stream");
  if (stream.parent !== null) yield* streamBlocks(asOf(moment, stream.parent.seq), stream.parent.stream);
  for (const [, blockId] of stream.blocks.entries()) {
    const block = must(moment.state.blocks.get(blockId), "streams list known blocks").block;
    // Blocks stand in the order they came: the rest of the list was not there yet.
    if (block.addedSeq > moment.seq) return;
    if (blockOf(moment, blockId) !== null) yield block;
  }
}

/** Whether one stream is the other, or was forked from it, however far back. */
export function descendsFrom(moment: Moment, id: StreamId, ancestor: StreamId): boolean {
  let stream = streamOf(moment, id);
  while (stream !== null && stream.id !== ancestor) {
    stream = stream.parent === null ? null : streamOf(moment, stream.parent.stream);
  }
  return stream !== null;
}

/** A fact as the view has it: its own, else its parent's at the fork, else the block's first. */
export function factOf<F extends FactName>(place: Place, fact: F): Fact<F> {
  return (factVersion(place, fact)?.value ?? initialFact(place.block, fact)) as Fact<F>;
}

/** The version behind a fact: it names the frame that set it. Null where nobody has. */
export function factVersion<F extends FactName>(place: Place, fact: F): Versions<Fact<F>> | null {
  for (const { log, seq } of place.logs) {
    const version = versionAt(log[fact] as Versions<Fact<F>> | undefined, seq);
    if (version !== null) return version;
  }
  return null;
}

export function factValue<F extends FactName>(place: Place, fact: F): FactValues[F] {
  return factOf(place, fact).value as FactValues[F];
}

export function factsOf(place: Place): Facts {
  return {
    level: factOf(place, "level"),
    pin: factOf(place, "pin"),
    ttl: factOf(place, "ttl"),
    focus: factOf(place, "focus"),
    selection: factOf(place, "selection"),
    archive: factOf(place, "archive"),
    withhold: factOf(place, "withhold"),
    reference: factOf(place, "reference"),
    supersession: factOf(place, "supersession"),
  };
}

/** What the view's ledger really shows of a block. Not yet sent is absent. */
export function shownOf(moment: Moment, view: View, id: BlockId): Shown {
  return versionAt(view.shown.get(id), moment.seq)?.value ?? "absent";
}

export function wasEverShown(moment: Moment, view: View, id: BlockId): boolean {
  return versionAt(view.shown.get(id), moment.seq) !== null;
}

export function lastSent(moment: Moment, view: View): SentTurn | null {
  return view.sent.get(lastUpTo(view.sent, moment.seq)) ?? null;
}

export function lastAnswer(moment: Moment, view: View): Answer | null {
  return view.answers.get(lastUpTo(view.answers, moment.seq)) ?? null;
}

/**
 * Whether a turn sent at that seq or later was answered, here or in a parent before the fork. A turn that
 * failed was not, and a late answer to an earlier turn takes nothing back.
 */
export function wasAnsweredSince(moment: Moment, view: View, seq: Seq): boolean {
  for (let index = lastUpTo(view.answers, moment.seq); index >= 0; index -= 1) {
    const answer = must(view.answers.get(index), "answers have no gaps");
    if (answer.seq <= seq) break;
    if (answer.sentSeq >= seq && answer.outcome !== "failed") return true;
  }
  if (view.parent === null) return false;
  const then = asOf(moment, view.parent.seq);
  return wasAnsweredSince(then, must(viewOf(then, view.parent.view), "a forked view has a parent"), seq);
}

/** How many rewrites the view has had: the number of its epoch. */
export function epochNow(moment: Moment, view: View): number {
  return lastUpTo(view.epochs, moment.seq) + 1;
}

/** The units of the last request, first to last. */
export function pathOf(moment: Moment, view: View): readonly UnitId[] {
  const path: UnitId[] = [];
  for (let id = lastSent(moment, view)?.leaf ?? null; id !== null; ) {
    path.push(id);
    id = must(moment.state.units.get(id), "a sent path is made of sent units").parent;
  }
  return path.reverse();
}

/** Every exchange there was, as it stood: one that ended later is still open. */
export function exchangesOf(moment: Moment): readonly RecordedExchange[] {
  const { exchanges } = moment.state;
  const opened = [...exchanges.entries()].map(([, exchange]) => exchange);
  return opened
    .filter(({ openedSeq }) => openedSeq <= moment.seq)
    .map((exchange) => endedBy(exchange, moment));
}

export function exchangeOf(moment: Moment, id: number): RecordedExchange | null {
  const exchange = moment.state.exchanges.get(id - 1);
  return exchange !== undefined && exchange.openedSeq <= moment.seq ? endedBy(exchange, moment) : null;
}

function endedBy(exchange: RecordedExchange, moment: Moment): RecordedExchange {
  const { end } = exchange;
  return end !== null && end.seq > moment.seq ? { ...exchange, end: null } : exchange;
}

export function messageBlocks(moment: Moment, view: View, id: MessageId): readonly Place[] {
  return placesOf(moment, view, moment.state.messages.get(id) ?? []);
}

/** A block and all that lives and changes with it. */
export function pairOf(place: Place): readonly Place[] {
  if (place.block.pair === null) return [place];
  const pair = placesOf(place.moment, place.view, place.moment.state.pairs.get(place.block.pair) ?? []);
  assert(pair.length > 0, "a block with a pair is in it");
  return pair;
}

function placesOf(moment: Moment, view: View, ids: readonly BlockId[]): readonly Place[] {
  return ids.flatMap((id) => placeOf(moment, view, id) ?? []);
}

/** An approval as it stood; `seq` is the frame that brought it there. */
export type ApprovalNow = Approval & Decided & { readonly seq: Seq };

/** Everything that was asked in a view, in its order. A fork does not take over what waits in its parent. */
export function approvalsOf(moment: Moment, view: View): readonly ApprovalNow[] {
  const all = [...moment.state.approvals.entries()].map(([, entry]) => entry);
  return all.flatMap((entry) => (entry.approval.view === view.id ? stoodAt(moment, entry) : []));
}

export function approvalOf(moment: Moment, id: number): ApprovalNow | null {
  const entry = moment.state.approvals.get(id - 1);
  return entry === undefined ? null : (stoodAt(moment, entry)[0] ?? null);
}

function stoodAt(moment: Moment, { approval, log }: RecordedApproval): readonly ApprovalNow[] {
  const version = versionAt(log, moment.seq);
  return version === null ? [] : [{ ...approval, ...version.value, seq: version.seq }];
}

/** A permission with what it is about. */
export type PermissionNow = PermissionKey & Permission;

/** The permissions that hold in a view: its own, and what its parent had at the fork. */
export function permissionsOf(moment: Moment, view: View): readonly PermissionNow[] {
  const turn = turnNow(moment, must(streamOf(moment, view.stream), "a view has a stream"));
  return permissionKeys(view, moment).flatMap((key) => {
    const permission = permissionOf(moment, view, key);
    const holds = permission !== null && (permission.until === null || turn <= permission.until);
    return holds ? [{ ...key, ...permission }] : [];
  });
}

/** What was last said about a verb, whether or not its turn has passed. */
export function permissionOf(moment: Moment, view: View, key: PermissionKey): Permission | null {
  return permissionVersion(moment, view, key)?.value ?? null;
}

export function permissionVersion(
  moment: Moment,
  view: View,
  { actor, verb }: PermissionKey,
): Versions<Permission | null> | null {
  for (const [, entry] of view.permissions.entries()) {
    const version = entry.actor === actor && entry.verb === verb ? versionAt(entry.log, moment.seq) : null;
    if (version !== null) return version;
  }
  if (view.parent === null) return null;
  const then = asOf(moment, view.parent.seq);
  const parent = must(viewOf(then, view.parent.view), "a forked view has a parent");
  return permissionVersion(then, parent, { actor, verb });
}

/** Each once, in an order that does not depend on who said it first. */
function permissionKeys(view: View, moment: Moment): readonly PermissionKey[] {
  const keys = new Map<string, PermissionKey>();
  for (let seen: View | null = view; seen !== null; ) {
    for (const [, { actor, verb }] of seen.permissions.entries())
      keys.set(`${verb} ${actor}`, { actor, verb });
    seen = seen.parent === null ? null : viewOf(moment, seen.parent.view);
  }
  return [...keys].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
}

/** What the user calls this session; null: by what it is about. */
export function nameOf(moment: Moment): string | null {
  return versionAt(moment.state.name, moment.seq)?.value ?? null;
}

/** What the user said for this session; null: as it is configured. */
export function modeOf(moment: Moment): Mode | null {
  return versionAt(moment.state.mode, moment.seq)?.value ?? null;
}

import {
  assert,
  type BlockId,
  fail,
  lastIndexUpTo,
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
} from "../../base/index.ts";
import type { Approval, ApprovalDecision, Mode, Permission, PermissionKey } from "../frames/approval.ts";
import type { AddedBlock, BlockAttributes, Shown } from "../frames/block.ts";
import type { RecordedExchange } from "../frames/exchange.ts";
import { type Fact, type FactName, type FactValues, initialFact } from "../frames/facts.ts";
import type { FactLog, RecordedApproval, SentTurn, State, Stream, TurnAnswer, View } from "../state.ts";
import { type Versions, versionAt } from "../versions.ts";

/**
 * The state as of one seq; every reader takes one. Making one costs nothing, whichever seq it is, and it
 * never changes: later frames only append to the histories it reads.
 */
export type Moment = { readonly state: State; readonly seq: Seq };

export function momentAt(state: State, seq: number): Result<Moment> {
  const isKnown = Number.isSafeInteger(seq) && seq >= 0 && seq <= state.seq;
  return isKnown ? ok({ state, seq: seqOf(seq) }) : fail("AP_SEQ_UNKNOWN", { seq, head: state.seq });
}

export function now(state: State): Moment {
  return { state, seq: state.seq };
}

/** The same state, read no later than that seq: this is how a fork reads its parent. */
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
  const index = lastIndexUpTo(stream.turns, moment.seq);
  return stream.turns.get(index)?.turn ?? stream.baseTurn;
}

/** A run and the seq it began with. */
export type CurrentRun = { readonly run: number; readonly seq: Seq };

/** The run the stream is in. Before the first user message it is run 0; a fork continues its parent's run. */
export function runNow(moment: Moment, stream: Stream): CurrentRun {
  const index = lastIndexUpTo(stream.runs, moment.seq);
  const { run, seq } = runAtFork(moment, stream);
  return { run: run + index + 1, seq: stream.runs.get(index)?.seq ?? seq };
}

function runAtFork(moment: Moment, { parent, openedSeq }: Stream): CurrentRun {
  if (parent === null) return { run: 0, seq: openedSeq };
  const stream = must(streamOf(moment, parent.stream), "a fork has a parent");
  return runNow(asOf(moment, parent.seq), stream);
}

/** A block of any stream, if it is present at this moment. */
export function blockOf(moment: Moment, id: BlockId): AddedBlock | null {
  const entry = moment.state.blocks.get(id);
  return entry !== undefined && versionAt(entry.attributes, moment.seq)?.value.present ? entry.block : null;
}

export function attributesOf(moment: Moment, id: BlockId): BlockAttributes | null {
  return versionAt(moment.state.blocks.get(id)?.attributes, moment.seq)?.value ?? null;
}

/** A block as a view sees it, with the facts that the view and its parents keep about it. */
export type BlockView = {
  readonly moment: Moment;
  readonly view: View;
  readonly block: AddedBlock;
  /** The view's own log first, then its parents' logs, each as of the fork. */
  readonly logs: readonly FactLogAt[];
};
type FactLogAt = { readonly log: FactLog; readonly seq: Seq };

/**
 * A view reaches the blocks of its own stream, and those its parents had at each fork. Null if the block is
 * out of reach.
 */
export function blockViewOf(moment: Moment, view: View, id: BlockId): BlockView | null {
  const entry = moment.state.blocks.get(id);
  if (entry === undefined) return null;
  const { block, attributes } = entry;
  let stream = must(streamOf(moment, view.stream), "a view has a stream");
  let atFork = moment;
  while (block.stream !== stream.id && stream.parent !== null) {
    atFork = asOf(atFork, stream.parent.seq);
    stream = must(streamOf(moment, stream.parent.stream), "a fork has a parent");
  }
  const isReached =
    block.stream === stream.id && versionAt(attributes, atFork.seq)?.value.present && !isOver(block, moment);
  return isReached ? blockViewIn(moment, view, block) : null;
}

/**
 * True for an ephemeral block whose frame has passed. It is gone for a fork too, although its parent had it.
 */
function isOver({ ephemeral, addedSeq }: AddedBlock, { seq }: Moment): boolean {
  return ephemeral === true && addedSeq !== seq;
}

/** Contract: the view reaches the block. */
export function blockViewIn(moment: Moment, view: View, block: AddedBlock): BlockView {
  const logs: FactLogAt[] = [];
  let [atFork, ancestor] = [moment, view];
  for (;;) {
    const log = ancestor.facts.get(block.id);
    if (log !== undefined) logs.push({ log, seq: atFork.seq });
    if (ancestor.parent === null) return { moment, view, block, logs };
    atFork = asOf(atFork, ancestor.parent.seq);
    ancestor = must(viewOf(atFork, ancestor.parent.view), "a forked view has a parent");
  }
}

/** The blocks of a view in the order they were added, the parents' blocks first. */
export function* viewBlocks(moment: Moment, view: View): Generator<AddedBlock> {
  for (const block of streamBlocks(moment, view.stream)) if (!isOver(block, moment)) yield block;
}

function* streamBlocks(moment: Moment, id: StreamId): Generator<AddedBlock> {
  const stream = must(streamOf(moment, id), "a view has a stream");
  if (stream.parent !== null) yield* streamBlocks(asOf(moment, stream.parent.seq), stream.parent.stream);
  for (const [, blockId] of stream.blocks.entries()) {
    const block = must(moment.state.blocks.get(blockId), "streams list known blocks").block;
    // The list is in the order blocks were added, so the rest of it was added later.
    if (block.addedSeq > moment.seq) return;
    if (blockOf(moment, blockId) !== null) yield block;
  }
}

/** True if one stream is the other or was forked from it, directly or through other forks. */
export function descendsFrom(moment: Moment, id: StreamId, ancestor: StreamId): boolean {
  let stream = streamOf(moment, id);
  while (stream !== null && stream.id !== ancestor) {
    stream = stream.parent === null ? null : streamOf(moment, stream.parent.stream);
  }
  return stream !== null;
}

/** A fact as the view has it: its own, else its parent's at the fork, else the block's initial one. */
export function factOf<F extends FactName>(blockView: BlockView, fact: F): Fact<F> {
  return (factVersion(blockView, fact)?.value ?? initialFact(blockView.block, fact)) as Fact<F>;
}

/** The version behind a fact, which names the frame that set it. Null if it was never set. */
export function factVersion<F extends FactName>(blockView: BlockView, fact: F): Versions<Fact<F>> | null {
  for (const { log, seq } of blockView.logs) {
    const version = versionAt(log[fact] as Versions<Fact<F>> | undefined, seq);
    if (version !== null) return version;
  }
  return null;
}

export function factValue<F extends FactName>(blockView: BlockView, fact: F): FactValues[F] {
  return factOf(blockView, fact).value as FactValues[F];
}

/** The form in which the view's ledger really shows a block. A block that was not sent yet is absent. */
export function shownOf(moment: Moment, view: View, id: BlockId): Shown {
  return versionAt(view.shown.get(id), moment.seq)?.value ?? "absent";
}

export function wasEverShown(moment: Moment, view: View, id: BlockId): boolean {
  return versionAt(view.shown.get(id), moment.seq) !== null;
}

export function lastSentTurn(moment: Moment, view: View): SentTurn | null {
  return view.sent.get(lastIndexUpTo(view.sent, moment.seq)) ?? null;
}

export function lastTurnAnswer(moment: Moment, view: View): TurnAnswer | null {
  return view.answers.get(lastIndexUpTo(view.answers, moment.seq)) ?? null;
}

/**
 * True if a turn sent at that seq or later was answered, here or in a parent before the fork. A failed turn
 * counts as not answered, and a late answer to an earlier turn changes nothing.
 */
export function wasAnsweredSince(moment: Moment, view: View, seq: Seq): boolean {
  for (let index = lastIndexUpTo(view.answers, moment.seq); index >= 0; index -= 1) {
    const answer = must(view.answers.get(index), "answers have no gaps");
    if (answer.seq <= seq) break;
    if (answer.sentSeq >= seq && answer.outcome !== "failed") return true;
  }
  if (view.parent === null) return false;
  const atFork = asOf(moment, view.parent.seq);
  return wasAnsweredSince(atFork, must(viewOf(atFork, view.parent.view), "a forked view has a parent"), seq);
}

/** The number of the view's epoch, which is the number of its rewrites so far. */
export function epochNow(moment: Moment, view: View): number {
  return lastIndexUpTo(view.epochs, moment.seq) + 1;
}

/** The units of the last request, first to last. */
export function sentPath(moment: Moment, view: View): readonly UnitId[] {
  const path: UnitId[] = [];
  for (let id = lastSentTurn(moment, view)?.leaf ?? null; id !== null; ) {
    path.push(id);
    id = must(moment.state.units.get(id), "a sent path is made of sent units").parent;
  }
  return path.reverse();
}

/** Every exchange so far. One that ended after this moment is still open. */
export function exchangesOf(moment: Moment): readonly RecordedExchange[] {
  const { exchanges } = moment.state;
  const opened = [...exchanges.entries()].map(([, exchange]) => exchange);
  return opened
    .filter(({ openedSeq }) => openedSeq <= moment.seq)
    .map((exchange) => exchangeAt(exchange, moment));
}

export function exchangeOf(moment: Moment, id: number): RecordedExchange | null {
  const exchange = moment.state.exchanges.get(id - 1);
  return exchange !== undefined && exchange.openedSeq <= moment.seq ? exchangeAt(exchange, moment) : null;
}

function exchangeAt(exchange: RecordedExchange, moment: Moment): RecordedExchange {
  const { end } = exchange;
  return end !== null && end.seq > moment.seq ? { ...exchange, end: null } : exchange;
}

export function messageBlocks(moment: Moment, view: View, id: MessageId): readonly BlockView[] {
  return blockViewsOf(moment, view, moment.state.messages.get(id) ?? []);
}

/** A block and the other blocks of its pair, which change together with it. */
export function pairOf(blockView: BlockView): readonly BlockView[] {
  if (blockView.block.pair === null) return [blockView];
  const pair = blockViewsOf(
    blockView.moment,
    blockView.view,
    blockView.moment.state.pairs.get(blockView.block.pair) ?? [],
  );
  assert(pair.length > 0, "a block with a pair is in it");
  return pair;
}

/**
 * The first value of a fact that passes the test: the block's own, else that of another block of its pair.
 * Most facts of a pair were never set, so their blocks are not looked at.
 */
export function findInPair<F extends FactName>(
  blockView: BlockView,
  fact: F,
  passes: (value: FactValues[F]) => boolean,
): FactValues[F] | null {
  const { moment, view, block } = blockView;
  const own = factValue(blockView, fact);
  if (passes(own)) return own;
  for (const id of block.pair === null ? [] : (moment.state.pairs.get(block.pair) ?? [])) {
    if (id === block.id || !wasEverSet(moment, view, { id, fact })) continue;
    const member = blockViewOf(moment, view, id);
    const value = member === null ? null : factValue(member, fact);
    if (value !== null && passes(value)) return value;
  }
  return null;
}

/** True if the view or one of its parents has a record of the fact, at whatever time. */
function wasEverSet(
  { state }: Moment,
  view: View,
  { id, fact }: { readonly id: BlockId; readonly fact: FactName },
): boolean {
  let ancestor: View | undefined = view;
  while (ancestor !== undefined && ancestor.facts.get(id)?.[fact] === undefined)
    ancestor = ancestor.parent === null ? undefined : state.views.get(ancestor.parent.view);
  return ancestor !== undefined;
}

function blockViewsOf(moment: Moment, view: View, ids: readonly BlockId[]): readonly BlockView[] {
  return ids.flatMap((id) => blockViewOf(moment, view, id) ?? []);
}

/** An approval with its status at a moment; `seq` is the frame that set the status. */
export type ApprovalState = Approval & ApprovalDecision & { readonly seq: Seq };

/** The approvals of a view, in order. A fork does not take over those of its parent. */
export function approvalsOf(moment: Moment, view: View): readonly ApprovalState[] {
  const all = [...moment.state.approvals.entries()].map(([, entry]) => entry);
  return all.flatMap((entry) => (entry.approval.view === view.id ? approvalAt(moment, entry) : []));
}

export function approvalOf(moment: Moment, id: number): ApprovalState | null {
  const entry = moment.state.approvals.get(id - 1);
  return entry === undefined ? null : (approvalAt(moment, entry)[0] ?? null);
}

function approvalAt(moment: Moment, { approval, log }: RecordedApproval): readonly ApprovalState[] {
  const version = versionAt(log, moment.seq);
  return version === null ? [] : [{ ...approval, ...version.value, seq: version.seq }];
}

/** A permission with the actor and verb it is about. */
export type PermissionEntry = PermissionKey & Permission;

/** The permissions that hold in a view: its own, and those its parent had at the fork. */
export function permissionsOf(moment: Moment, view: View): readonly PermissionEntry[] {
  const turn = turnNow(moment, must(streamOf(moment, view.stream), "a view has a stream"));
  return permissionKeys(view, moment).flatMap((key) => {
    const permission = permissionOf(moment, view, key);
    const isValid = permission !== null && (permission.until === null || turn <= permission.until);
    return isValid ? [{ ...key, ...permission }] : [];
  });
}

/** The last permission set for a verb, whether or not its turn has passed. */
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
  const atFork = asOf(moment, view.parent.seq);
  const parent = must(viewOf(atFork, view.parent.view), "a forked view has a parent");
  return permissionVersion(atFork, parent, { actor, verb });
}

/** Each key once, in an order that does not depend on which was set first. */
function permissionKeys(view: View, moment: Moment): readonly PermissionKey[] {
  const keys = new Map<string, PermissionKey>();
  for (let ancestor: View | null = view; ancestor !== null; ) {
    for (const [, { actor, verb }] of ancestor.permissions.entries())
      keys.set(`${verb} ${actor}`, { actor, verb });
    ancestor = ancestor.parent === null ? null : viewOf(moment, ancestor.parent.view);
  }
  return [...keys].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
}

/** The name the user gave this session. Null if it is named after its content. */
export function nameOf(moment: Moment): string | null {
  return versionAt(moment.state.name, moment.seq)?.value ?? null;
}

/** The mode the user set for this session. Null if the configured mode applies. */
export function modeOf(moment: Moment): Mode | null {
  return versionAt(moment.state.mode, moment.seq)?.value ?? null;
}

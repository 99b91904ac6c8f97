import { must } from "../base/index.ts";
import type { NumberedBlock, Purpose } from "../exchange/index.ts";
import { TokenCounter } from "../tokens/index.ts";
import { addNotes, missingMemories, type NotesInput, type NotesResult } from "./add-notes.ts";
import {
  aliasedUnits,
  clientIndexes,
  freshUnits,
  isFullyMatched,
  matchedNodes,
  type RequestAlignment,
  repeatedUnits,
} from "./align-request.ts";
import { alignInStream, headFor, type OpenedHead } from "./align-stream.ts";
import type { AllWishes } from "./all-wishes.ts";
import type { AppendList } from "./append-list.ts";
import { type ArrivalResult, shortenArrivals } from "./arrivals.ts";
import { type HeaderInput, unannouncedBlocks } from "./block-headers.ts";
import { NumberDraft, type StreamNumbers } from "./block-numbers.ts";
import { keepBranch } from "./branches.ts";
import { choiceFactsFor } from "./choice-facts.ts";
import { chooseRewrite, isRunStart } from "./choose-rewrite.ts";
import { addResults, openCalls } from "./command-calls.ts";
import { addLineResults, lineResults } from "./command-lines.ts";
import { type LedgerStream, type NotesState, withHead } from "./ledger-stream.ts";
import { nodeAt, parentOf, TreeDraft } from "./ledger-tree.ts";
import { leafBelow } from "./match-path.ts";
import { type LedgerNode, type NodeIndex, sentPosition } from "./node.ts";
import { numberUnits } from "./numbering.ts";
import { type PathBefore, sizedHead, sizedUnits } from "./path-blocks.ts";
import type { LedgerRequest, Plan, PlanContext } from "./plan-request.ts";
import { type PlannedUnit, writeUnits } from "./planned-units.ts";
import { type PlanDraft, previewPlan, renderPlan } from "./render-body.ts";
import { withFields } from "./request-head.ts";
import {
  answerAfterCut,
  dropReasoning,
  epochOf,
  lastAnswerStart,
  type PathRewrite,
  type RewriteChoice,
  rewriteFor,
} from "./rewrite-path.ts";
import { addFreed, addUnlogged } from "./unlogged-blocks.ts";
import { withholdUnit } from "./withheld.ts";
import type { TailInput } from "./write-tail.ts";

/** The stream after a request, and what is sent for it. */
export type PlanResult = { readonly stream: LedgerStream; readonly plan: Plan };

/** Plans a request: the same stream, request and wishes always give the same bytes. */
export function plan(stream: LedgerStream, request: LedgerRequest, wishes: AllWishes): PlanResult {
  const scope = openScope(stream, request, wishes);
  const units = draftUnits(scope);
  const choice = chooseFor(scope, units);
  const rewrite = rewriteOf(scope, units, choice);
  if (units.leaf !== null && rewrite === null) return sendAgain(scope, units.leaf);
  const arrived = shortenFresh(scope, units, rewrite);
  const noted = addNotesTo(scope, { ...units, fresh: arrived.units }, rewrite);
  const draft = draftPlan(scope, { ...units, fresh: noted.units }, { rewrite, noted });
  if (request.purpose !== "turn") return { stream: streamAfterPreview(scope), plan: previewPlan(draft) };
  const { notes } = scope.stream;
  const isConsidered = mayChoose(scope, units) && isRunStart(units);
  const { version, latest } = wishes;
  const hasHeader = draft.units.some(({ isHeader }) => isHeader);
  return sendPlan(scope.stream, draft, {
    rewrite,
    numbers: scope.numbers.done(),
    notes: {
      ...notes,
      consideredVersion: isConsidered ? version : notes.consideredVersion,
      appliedVersion: choice === null ? notes.appliedVersion : version,
      namesSeq: hasHeader ? (latest?.seq ?? 0) : notes.namesSeq,
      tail: noted.tailState,
    },
    shown: arrived.shown,
  });
}

/** One request on its way to a plan. */
type PlanScope = OpenedHead & {
  /** The stream as it was before. */
  readonly before: LedgerStream;
  readonly request: LedgerRequest;
  readonly wishes: AllWishes;
  readonly alignment: RequestAlignment;
  readonly numbers: NumberDraft;
  readonly counter: TokenCounter;
};

function openScope(before: LedgerStream, request: LedgerRequest, wishes: AllWishes): PlanScope {
  const { wire, context } = request;
  const { withheld, latest } = wishes;
  const tokenRate = latest?.tokenRate ?? 1;
  const counter = new TokenCounter(wire.model, tokenRate);
  const numbers = new NumberDraft(before.numbers, before.turn + 1);
  const rated = { ...before, tokenRate };
  const opened = headFor(rated, request, { draft: numbers, counter, withheld });
  const head = withFields(opened.head, wire);
  const alignment = alignInStream(opened.stream, head, { wire, style: context.style, withheld });
  const stream = { ...opened.stream, tree: alignment.tree };
  return { ...opened, stream, head, before: rated, request, wishes, alignment, numbers, counter };
}

/** The units of a request after those that were sent before. */
type DraftedUnits = {
  /** The leaf at which the same request ended before. Null if the client does not send it again. */
  readonly leaf: LedgerNode | null;
  /** The last node that was sent before. */
  readonly lastSent: LedgerNode;
  /** The units of the answer that the client repeats for the first time. */
  readonly repeated: readonly PlannedUnit[];
  readonly fresh: readonly PlannedUnit[];
};

function draftUnits({ stream, request, head, alignment, numbers, counter }: PlanScope): DraftedUnits {
  const { tree, nonce } = stream;
  const { end, rules } = alignment;
  const { results } = request.context;
  const isRepeated = isFullyMatched(alignment) && request.purpose === "turn";
  const repeated = repeatedUnits(alignment);
  const withResults = addResults(freshUnits(alignment), openCalls(tree, end, results));
  const lineText = lineResults(end, { tree, head, nonce, results });
  const fresh = numberUnits(addLineResults(withResults, lineText), { draft: numbers, tree, end, counter });
  const leaf = isRepeated ? leafBelow(end, rules) : null;
  return { leaf, lastSent: lastSentOf(stream, repeated) ?? end, repeated, fresh };
}

/** The last sent node before the units of an answer. */
export function lastSentOf({ tree }: LedgerStream, repeated: readonly PlannedUnit[]): LedgerNode | null {
  const first = repeated[0]?.answerNode ?? null;
  return first === null ? null : parentOf(tree, first);
}

/** Only a turn that the client does not send again may change what is shown. */
function mayChoose({ request: { purpose, context } }: PlanScope, { leaf }: DraftedUnits): boolean {
  return purpose === "turn" && context.style === "managed" && leaf === null;
}

function chooseFor(scope: PlanScope, units: DraftedUnits): RewriteChoice | null {
  if (!mayChoose(scope, units)) return null;
  const { stream, head, request, wishes } = scope;
  const { repeated, fresh, lastSent: lastNode } = units;
  const { tree, anchor } = stream;
  const facts = choiceFactsFor(stream, request, wishes);
  return chooseRewrite(facts, { tree, head, lastNode, anchor, repeated, fresh });
}

/** Withheld content goes with any request, other changes only if they were chosen. */
function rewriteOf(
  { stream, request, wishes, alignment }: PlanScope,
  { repeated, fresh }: DraftedUnits,
  choice: RewriteChoice | null,
): PathRewrite | null {
  const { tree, nonce, current } = stream;
  return rewriteFor(alignment.end, {
    tree,
    withheld: wishes.withheld,
    choice,
    units: [...repeated, ...fresh],
    mayEdit: request.context.mayEdit,
    lapseReason: current?.request.model === request.wire.model ? "fork" : "model",
    nonce,
  });
}

function shortenFresh(
  { stream, request, wishes, counter }: PlanScope,
  { lastSent: end, fresh }: DraftedUnits,
  rewrite: PathRewrite | null,
): ArrivalResult {
  const { tree, nonce, seen } = stream;
  const { style, arrival } = request.context;
  if (style === "plain") return { units: fresh, shown: [] };
  const { levels } = wishes;
  return shortenArrivals(fresh, { arrival, levels, seen, nonce, counter, tree, end, rewrite });
}

/** The new units with our notes among them. */
function addNotesTo(scope: PlanScope, units: DraftedUnits, rewrite: PathRewrite | null): NotesResult {
  const { stream, request, head, alignment } = scope;
  const { wire, purpose, context } = request;
  const { protocol } = stream;
  return addNotes({
    protocol,
    units: units.fresh,
    lastNode: alignment.end,
    header: headerInput(scope, units, rewrite),
    tail: tailInput(scope, units, rewrite),
    traits: protocol.traits.model(wire.model),
    mayClear: context.mayClear,
    keepsTail: context.keepsTail === true,
    needsInstructions:
      context.awareness.commands !== "client" && head.instructions === null && !alignment.end.hasOwn,
    notes: notesFor(context.style, purpose),
  });
}

/** A turn gets all notes, a count those that stay, any other request none. */
function notesFor(style: PlanContext["style"], purpose: Purpose): NotesInput["notes"] {
  if (style === "plain") return "none";
  return purpose === "turn" ? "all" : purpose === "count" ? "lasting" : "none";
}

function headerInput(
  { stream, request, wishes, head }: PlanScope,
  { lastSent, repeated }: DraftedUnits,
  rewrite: PathRewrite | null,
): HeaderInput {
  const { tree, nonce, protocol, turn, turnMs, notes } = stream;
  const { timeMs, awareness } = request.context;
  const { headers, zoneMinutes } = awareness;
  const { seq = 0, headerNames = [], memories = [] } = wishes.latest ?? {};
  const units = [...(rewrite?.units ?? []), ...repeated];
  const before: PathBefore = { tree, head, end: rewrite?.cut ?? lastSent, units };
  return {
    protocol,
    headers,
    timeMs,
    zoneMinutes,
    names: seq > notes.namesSeq ? headerNames : [],
    nonce,
    turn: turn + 1,
    lastTurnMs: turnMs,
    earlierBlocks: [...unannouncedBlocks(tree, lastSent), ...numberedBlocks(repeated)],
    memoryLines: missingMemories(memories, before, nonce),
  };
}

function tailInput(
  { stream, request, wishes, head }: PlanScope,
  { lastSent, repeated, fresh }: DraftedUnits,
  rewrite: PathRewrite | null,
): TailInput {
  const { tree, nonce, turn, unlogged, notes, numbers, lastLeaf } = stream;
  const { awareness, window, prices } = request.context;
  const { latest, levels, withheld } = wishes;
  const losesReasoning = losesReasoningBy(stream, request, rewrite);
  const units = [...(rewrite?.units ?? []), ...repeated];
  const kept = losesReasoning ? units.filter(({ facts }) => facts.kind !== "reasoning") : units;
  return {
    nonce,
    awareness,
    window,
    readPrice: prices.read,
    latest,
    levels,
    unlogged,
    isNumbered: numbers.session !== null,
    changesSeq: notes.changesSeq,
    state: notes.tail,
    turn: turn + 1,
    isEpochStart: rewrite !== null || lastLeaf === null,
    isNext: lastSent.index === lastLeaf && rewrite === null,
    freshBlocks: [...(head.isReported ? [] : sizedHead(head)), ...sizedUnits(fresh)],
    before: { tree, head, end: rewrite?.cut ?? lastSent, units: kept },
    reshow: { rewrite, losesReasoning, withheld },
  };
}

/** Reasoning bound to the old prefix is left out by a rewrite that changes bytes before it. */
function losesReasoningBy(
  { protocol }: LedgerStream,
  { wire }: LedgerRequest,
  rewrite: PathRewrite | null,
): boolean {
  return rewrite?.means === "own" && protocol.traits.model(wire.model).isBound;
}

function draftPlan(
  { stream, request, wishes, head, alignment }: PlanScope,
  { lastSent, repeated, fresh }: DraftedUnits,
  { rewrite, noted }: { readonly rewrite: PathRewrite | null; readonly noted: NotesResult },
): PlanDraft {
  const all = [...(rewrite?.units ?? []), ...answerAfterCut(repeated, rewrite), ...fresh];
  // Under pressure old reasoning goes even if it could stay, except that of the work in progress.
  const isPressure = rewrite?.means === "own" && rewrite.reason === "pressure";
  const kept = losesReasoningBy(stream, request, rewrite)
    ? dropReasoning(all)
    : isPressure
      ? dropReasoning(all, lastAnswerStart(all))
      : all;
  return {
    request,
    nonce: stream.nonce,
    head,
    alignment,
    from: rewrite?.cut ?? lastSent,
    units: kept.map((unit) => withholdUnit(unit, wishes.withheld)),
    droppedTail: noted.droppedTail,
  };
}

/** A preview gives no numbers and sends nothing, but it may tell other forms of known units. */
function streamAfterPreview({ before, stream, head, isKept }: PlanScope): LedgerStream {
  return isKept ? withHead(stream, head) : before;
}

/** A sent plan changes these in its stream, and the tree. */
export type SentChanges = Pick<ArrivalResult, "shown"> & {
  readonly rewrite: PathRewrite | null;
  readonly numbers: StreamNumbers;
  readonly notes: NotesState;
};

/** Writes the units of a plan into the tree. From now on their bytes are final. */
export function sendPlan(
  stream: LedgerStream,
  draft: PlanDraft,
  { rewrite, numbers, notes, shown }: SentChanges,
): PlanResult {
  const { request, head, alignment, from, units } = draft;
  const { wire, context } = request;
  const tree = new TreeDraft(stream.tree);
  const written = writeUnits(tree, from, { units, model: wire.model });
  const end = written.nodes.at(-1) ?? from;
  tree.set({ ...tree.at(end.index), isLeaf: true, droppedTail: draft.droppedTail });
  const roots = stream.heads.map(({ root }) => root);
  const branches = keepBranch(tree, stream.branches, { leaf: tree.at(end.index), roots });
  const nodes = nodesAfter(alignment, units, written.nodes);
  const indexes = clientIndexes(alignment, units);
  const fresh = written.sentUnits.map((unit, at) => ({ ...unit, clientIndex: indexes[at] ?? null }));
  const aliases = aliasedUnits(alignment);
  const sent = {
    ...stream,
    tree: tree.done(),
    branches,
    isNew: false,
    turn: stream.turn + 1,
    turnMs: context.timeMs,
    lastLeaf: end.index,
    current: { request: wire, root: head.root, style: context.style, nodes },
    numbers: { ...numbers, known: numbers.known.with(aliases.map(aliasBlock)) },
    seen: stream.seen.add(shown),
    notes,
  };
  const leaf = nodeAt(sent.tree, end.index);
  const anchor = stream.anchor === null ? null : (sent.tree.nodes.get(stream.anchor) ?? null);
  const epoch = rewrite === null ? null : epochOf(rewrite);
  const result = renderPlan(draft, { tree: sent.tree, leaf, nodes, fresh, epoch, aliases }, anchor);
  const isAnchored = anchor?.sent?.buffer === sentPosition(leaf).buffer;
  const numbered = result.report.fresh.map((unit) => unit.numbered);
  const anchorNode = context.keepsTail === true ? end.index : nodes.last;
  const freed = addFreed(stream.unlogged, sent.turn, rewrite?.freedTokens ?? 0);
  const done: LedgerStream = {
    ...withHead(sent, { ...head, isReported: true }),
    // The anchor moves last: the request with the rewrite still needs the mark before its cut.
    anchor: rewrite !== null || !isAnchored ? (anchorNode ?? null) : stream.anchor,
    unlogged: addUnlogged(freed, numbered),
  };
  return { stream: done, plan: result };
}

/** Sends the same bytes for a request that the client sends again. */
function sendAgain({ stream, request, head, alignment }: PlanScope, leaf: LedgerNode): PlanResult {
  const { tree, nonce, numbers } = stream;
  const nodes = nodesAfter(alignment, [], []);
  const { droppedTail } = leaf;
  const draft: PlanDraft = { request, nonce, head, alignment, from: leaf, units: [], droppedTail };
  const aliases = aliasedUnits(alignment);
  const anchor = stream.anchor === null ? null : (tree.nodes.get(stream.anchor) ?? null);
  const result = renderPlan(draft, { tree, leaf, nodes, fresh: [], epoch: null, aliases }, anchor);
  const { style } = request.context;
  const numbered = result.report.fresh.map((unit) => unit.numbered);
  const done: LedgerStream = {
    ...withHead(stream, { ...head, isReported: true }),
    current: { request: request.wire, root: head.root, style, nodes },
    numbers: { ...numbers, known: numbers.known.with(aliases.map(aliasBlock)) },
    unlogged: addUnlogged(stream.unlogged, numbered),
  };
  return { stream: done, plan: result };
}

type Alias = ReturnType<typeof aliasedUnits>[number];

function aliasBlock({ key, numbered: { block, message, turn } }: Alias) {
  return { key, block, message, turn };
}

/** The present node of each unit of the client's messages. A unit that is left out has the node before it. */
export function nodesAfter(
  alignment: RequestAlignment,
  planned: readonly PlannedUnit[],
  written: readonly LedgerNode[],
): AppendList<NodeIndex> {
  const { units, steps, end } = alignment;
  const moved = new Map<NodeIndex, NodeIndex>();
  const byIndex = new Map<number, NodeIndex>();
  for (const [at, { alignedIndex, answerNode, rewriteOf }] of planned.entries()) {
    const { index } = must(written[at], "every unit has a node");
    const before = (rewriteOf ?? answerNode)?.index;
    if (before !== undefined && before !== index) moved.set(before, index);
    if (alignedIndex !== null) byIndex.set(alignedIndex, index);
  }
  const matched = matchedNodes(alignment, moved);
  const last = { node: matched.last ?? written[0]?.index ?? end.index };
  const more: NodeIndex[] = [];
  for (let at = steps.length; at < units.length; at += 1) {
    last.node = byIndex.get(at) ?? last.node;
    more.push(last.node);
  }
  return matched.append(more);
}

function numberedBlocks(units: readonly PlannedUnit[]): readonly NumberedBlock[] {
  return units.flatMap(({ numbered }) => (numbered === null ? [] : [numbered]));
}

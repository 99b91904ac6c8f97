import { must } from "../base/index.ts";
import type { SentEpoch, SentRequestUnit } from "../exchange/index.ts";
import { type ContextEdit, type PlacedMark, protocolOf, type WireRequest } from "../protocols/index.ts";
import { type aliasedUnits, clientIndexByNode, type RequestAlignment } from "./align-request.ts";
import type { AppendBuffer } from "./append-buffer.ts";
import type { AppendList } from "./append-list.ts";
import { unitCount, unitCountFrom } from "./client-units.ts";
import { commandOfferOf } from "./command-lines.ts";
import { type LedgerTree, nodeAt, parentOf } from "./ledger-tree.ts";
import { isOwn, type LedgerNode, type NodeIndex, sentPosition } from "./node.ts";
import type { LedgerRequest, Plan } from "./plan-request.ts";
import { type PlannedUnit, previewUnits, sentUnitsOf } from "./planned-units.ts";
import { contextEditAfter } from "./provider-clearing.ts";
import type { RequestHead } from "./request-head.ts";

/** A plan before it is written. */
export type PlanDraft = {
  readonly request: LedgerRequest;
  /** The nonce of our notes. */
  readonly nonce: string;
  readonly head: RequestHead;
  readonly alignment: RequestAlignment;
  /** The last node that was sent before. */
  readonly from: LedgerNode;
  /** The units to be sent after it. */
  readonly units: readonly PlannedUnit[];
  readonly droppedTail: string | null;
};

/** A plan after it was written. */
export type WrittenPlan = {
  readonly tree: LedgerTree;
  readonly leaf: LedgerNode;
  readonly nodes: AppendList<NodeIndex>;
  readonly fresh: readonly SentRequestUnit[];
  readonly epoch: SentEpoch | null;
  readonly aliases: ReturnType<typeof aliasedUnits>;
};

/**
 * Places the client's cache marks on the units of its messages. Marks are not part of a unit, so every
 * request places them again.
 */
function clientMarks(
  { wire: request, context: { style } }: LedgerRequest,
  unitTotal: number,
  endOf: (unit: number) => number | null,
): readonly PlacedMark[] {
  const marks = new Map<number, string>();
  const put = (unit: number, mark: string): void => {
    const end = endOf(unit);
    if (end !== null) marks.set(end, mark);
  };
  for (const message of request.markedMessages) {
    const at = unitTotal - unitCountFrom(request, message);
    const { units } = must(request.messages[message], "a marked message is there");
    for (const [index, { mark }] of units.entries()) if (mark !== null) put(at + index, mark);
  }
  const automatic = style === "managed" ? request.automaticMark : null;
  if (automatic !== null) put(lastMarkable(request, unitTotal), automatic);
  return [...marks].map(([end, mark]) => ({ end, mark }));
}

type AnchorInput = {
  readonly request: LedgerRequest;
  /** The buffer with the bytes of the path. */
  readonly buffer: AppendBuffer;
  readonly anchor: LedgerNode | null;
};

/** Adds a mark at the anchor if there is room: a prefix that every request marks again stays in the cache. */
function addAnchorMark(
  marks: readonly PlacedMark[],
  { request: { wire: request, context }, buffer, anchor }: AnchorInput,
): readonly PlacedMark[] {
  const [first] = marks;
  const sent = anchor?.sent ?? null;
  if (first === undefined || sent === null || sent.buffer !== buffer || isUnmarkable(anchor)) return marks;
  // A plain request contains nothing of ours.
  if (context.style === "plain") return marks;
  const headUnits = [request.tools, request.system].flatMap(({ units }) => units);
  const count = marks.length + headUnits.filter(({ mark }) => mark !== null).length;
  // It must precede all other marks of the messages: a longer lifetime may not follow a shorter one.
  if (count >= protocolOf(request).traits.marksMax || sent.end >= first.end) return marks;
  return [{ end: sent.end, mark: first.mark }, ...marks];
}

function isUnmarkable(node: LedgerNode | null): boolean {
  if (node === null || node.facts.kind === "reasoning" || node.facts.part === "empty") return true;
  return node.wrapping.isSelfClearing === true;
}

/** The last unit that can be marked: reasoning and messages without content cannot. */
function lastMarkable({ messages }: WireRequest, unitTotal: number): number {
  let at = unitTotal;
  for (const group of [...messages].reverse()) {
    at -= unitCount(group);
    const index = group.units.findLastIndex(({ kind }) => kind !== "reasoning");
    if (index !== -1) return at + index;
  }
  return 0;
}

/** The end of the messages: the dropped tail, then the closing brackets. */
function closeMessages(request: WireRequest, droppedTail: string | null, tail: string): Buffer {
  const { text } = protocolOf(request).write;
  const last = droppedTail === null ? [] : [Buffer.from(","), text(droppedTail)];
  return Buffer.concat([...last, Buffer.from(`${tail}]`)]);
}

type BodyInput = {
  readonly messages: readonly Uint8Array[];
  /** The edit the provider is asked for. Null if none. */
  readonly edit: ContextEdit | null;
};

/** Writes the whole body, with the ledger's head and messages in place of the client's. */
function writeBody(
  { request: { wire, context }, head }: PlanDraft,
  { messages, edit }: BodyInput,
): Pick<Plan, "pieces" | "length"> {
  const pieces = protocolOf(wire).write.body(wire, {
    tools: head.toolsField?.pieces,
    system: head.systemField?.pieces,
    messages,
    answerTokensMax: context.answerTokensMax,
    dropsAutomaticMark: context.style === "managed",
    edit,
  });
  return { pieces, length: pieces.reduce((sum, { length }) => sum + length, 0) };
}

/** Renders a plan whose units were written, from the bytes in the ledger. */
export function renderPlan(plan: PlanDraft, written: WrittenPlan, anchor: LedgerNode | null): Plan {
  const { request, head, droppedTail, nonce } = plan;
  const { wire, context } = request;
  const { tree, leaf, nodes, fresh, epoch, aliases } = written;
  const { id, buffer, end } = sentPosition(leaf);
  const endOf = (unit: number): number | null => {
    const node = nodes.at(unit);
    if (node === undefined) return null;
    const marked = context.keepsTail === true ? tailAfter(written, unit) : null;
    return (marked ?? nodeAt(tree, node)).sent?.end ?? null;
  };
  const marks = addAnchorMark(clientMarks(request, nodes.length, endOf), { request, buffer, anchor });
  const messages = [
    ...protocolOf(wire).write.marked(buffer.slice(0, end), marks),
    closeMessages(wire, droppedTail, leaf.wrapping.tail),
  ];
  const { isFullReport } = context;
  const sentUnits = isFullReport ? sentUnitsOf(tree, leaf, clientIndexByNode(wire, nodes)) : fresh;
  const reported = isFullReport || !head.isReported ? [...head.units, ...sentUnits] : sentUnits;
  const edit = contextEditAfter(tree, leaf, []);
  return {
    ...writeBody(plan, { messages, edit }),
    hasSelfClearing: leaf.hasSelfClearing,
    clearedResults: edit?.cleared ?? null,
    report: { leaf: id, fresh: reported, aliases, isTurn: true, epoch },
    leaf: leaf.index,
    path: { root: head.root, nodes },
    commandOffer: commandOfferOf(head, nonce),
  };
}

/** The last of our notes after a unit: if they stay, they are cached with it. Null without one. */
function tailAfter({ tree, leaf, nodes }: WrittenPlan, unit: number): LedgerNode | null {
  const next = nodes.at(unit + 1);
  const last = next === undefined ? leaf : parentOf(tree, nodeAt(tree, next));
  return last !== null && isOwn(last) && !isUnmarkable(last) ? last : null;
}

/** Renders a plan that is not added to the ledger. */
export function previewPlan(plan: PlanDraft): Plan {
  const { request, head, alignment, from, units, droppedTail, nonce } = plan;
  const { tree, keptNodes, steps } = alignment;
  const { id, buffer, end } = sentPosition(from);
  const preview = previewUnits({ end, tail: from.wrapping.tail }, units);
  const endByIndex = new Map<number, number>();
  const endByNode = new Map<NodeIndex | undefined, number | undefined>();
  for (const [at, { alignedIndex, rewriteOf, answerNode }] of units.entries()) {
    if (alignedIndex !== null) endByIndex.set(alignedIndex, preview.ends[at] ?? 0);
    endByNode.set((rewriteOf ?? answerNode)?.index, preview.ends[at]);
  }
  const endOf = (unit: number): number | null => {
    const index = unit - keptNodes.length;
    const node = index < 0 ? keptNodes.at(unit) : steps[index]?.node;
    const sentEnd = node === undefined ? null : (nodeAt(tree, node).sent?.end ?? null);
    return endByIndex.get(index) ?? (node === undefined ? undefined : endByNode.get(node)) ?? sentEnd;
  };
  const marks = clientMarks(request, keptNodes.length + alignment.units.length, endOf);
  const sentMarks = marks.filter((mark) => mark.end <= end);
  const newMarks = marks.filter((mark) => mark.end > end).map((mark) => ({ ...mark, end: mark.end - end }));
  const { write } = protocolOf(request.wire);
  const messages = [
    ...write.marked(buffer.slice(0, end), sentMarks),
    ...write.marked(preview.bytes, newMarks),
    closeMessages(request.wire, droppedTail, preview.tail),
  ];
  const edit = contextEditAfter(tree, from, units);
  return {
    ...writeBody(plan, { messages, edit }),
    hasSelfClearing:
      from.hasSelfClearing ||
      units.some(({ wrapping, opensMessage }) => opensMessage && wrapping.isSelfClearing === true),
    clearedResults: edit?.cleared ?? null,
    report: { leaf: id, fresh: [], aliases: [], isTurn: false, epoch: null },
    leaf: from.index,
    path: { root: head.root, nodes: keptNodes.first(0) },
    commandOffer: commandOfferOf(head, nonce),
  };
}

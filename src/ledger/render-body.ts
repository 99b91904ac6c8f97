import { must } from "../base/index.ts";
import { type ContextEdit, type PlacedMark, protocolOf, type WireRequest } from "../protocols/index.ts";
import { clientIndexByNode } from "./align-request.ts";
import type { AppendBuffer } from "./append-buffer.ts";
import { unitCount, unitCountFrom } from "./client-units.ts";
import { type LedgerNode, sentPosition } from "./node.ts";
import { previewUnits, sentUnitsOf } from "./planned-units.ts";
import { contextEditAfter } from "./provider-clearing.ts";
import { emitSystem, emitTools, type RequestHead } from "./request-head.ts";
import type { RenderInput, RenderResult, RequestPlan, SentPlan } from "./request-plan.ts";

/**
 * Places the client's cache marks on the units of its messages. Marks are not part of a unit, so every
 * request places them again.
 */
function clientMarks(
  { request, style }: RenderInput,
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
  readonly input: RenderInput;
  /** The buffer with the bytes of the path. */
  readonly buffer: AppendBuffer;
  readonly anchor: LedgerNode | null;
};

/** Adds a mark at the anchor if there is room: a prefix that every request marks again stays in the cache. */
function addAnchorMark(
  marks: readonly PlacedMark[],
  { input, buffer, anchor }: AnchorInput,
): readonly PlacedMark[] {
  const { request, style } = input;
  const [first] = marks;
  const sent = anchor?.sent ?? null;
  if (first === undefined || sent === null || sent.buffer !== buffer || isUnmarkable(anchor)) return marks;
  // A plain request contains nothing of ours.
  if (style === "plain") return marks;
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
  readonly input: RenderInput;
  readonly head: RequestHead;
  /** The edit the provider is asked for. Null if none. */
  readonly edit: ContextEdit | null;
};

/** Writes the whole body, with the ledger's head and messages in place of the client's. */
function emitRequest(
  { input, head, edit }: BodyInput,
  messages: readonly Uint8Array[],
): Pick<RenderResult, "pieces" | "length"> {
  const { request, style, answerTokensMax } = input;
  const pieces = protocolOf(request).write.body(request, {
    tools: emitTools(head, request),
    system: emitSystem(head, request),
    messages,
    answerTokensMax,
    dropsAutomaticMark: style === "managed",
    edit,
  });
  return { pieces, length: pieces.reduce((sum, { length }) => sum + length, 0) };
}

/** Renders a plan whose units were written, from the bytes in the ledger. */
export function renderSentPlan(plan: RequestPlan, sent: SentPlan, anchor: LedgerNode | null): RenderResult {
  const { input, head, droppedTail } = plan;
  const { leaf, nodes, fresh, epoch, aliases } = sent;
  const { id, buffer, end } = sentPosition(leaf);
  const unanchored = clientMarks(input, nodes.length, (unit) => nodes[unit]?.sent?.end ?? null);
  const marks = addAnchorMark(unanchored, { input, buffer, anchor });
  const messages = [
    ...protocolOf(input.request).write.marked(buffer.slice(0, end), marks),
    closeMessages(input.request, droppedTail, leaf.wrapping.tail),
  ];
  const needsHead = input.isFullReport || !head.isReported;
  const sentUnits = input.isFullReport ? sentUnitsOf(leaf, clientIndexByNode(input.request, nodes)) : fresh;
  const reported = needsHead ? [...head.units, ...sentUnits] : sentUnits;
  head.isReported = true;
  const edit = contextEditAfter(leaf, []);
  return {
    ...emitRequest({ input, head, edit }, messages),
    hasSelfClearing: leaf.hasSelfClearing,
    clearedResults: edit?.cleared ?? null,
    report: { leaf: id, fresh: reported, aliases, isTurn: true, epoch },
    leaf,
    path: { head, nodes },
    hasHeader: plan.units.some(({ isHeader }) => isHeader),
    freedTokens: 0,
  };
}

/** Renders a plan without changing the ledger. */
export function previewPlan({ input, head, alignment, from, units, droppedTail }: RequestPlan): RenderResult {
  const { id, buffer, end } = sentPosition(from);
  const preview = previewUnits({ end, tail: from.wrapping.tail }, units);
  const endByIndex = new Map<number, number>();
  const endByNode = new Map<LedgerNode | null, number | undefined>();
  for (const [at, { alignedIndex, rewriteOf, answerNode }] of units.entries()) {
    if (alignedIndex !== null) endByIndex.set(alignedIndex, preview.ends[at] ?? 0);
    endByNode.set(rewriteOf ?? answerNode, preview.ends[at]);
  }
  const { keptNodes, match } = alignment;
  const endOf = (unit: number): number | null => {
    const index = unit - keptNodes.length;
    const node = index < 0 ? keptNodes[unit] : match.steps[index]?.node;
    return endByIndex.get(index) ?? (node && endByNode.get(node)) ?? node?.sent?.end ?? null;
  };
  const marks = clientMarks(input, keptNodes.length + alignment.units.length, endOf);
  const sentMarks = marks.filter((mark) => mark.end <= end);
  const newMarks = marks.filter((mark) => mark.end > end).map((mark) => ({ ...mark, end: mark.end - end }));
  const { write } = protocolOf(input.request);
  const messages = [
    ...write.marked(buffer.slice(0, end), sentMarks),
    ...write.marked(preview.bytes, newMarks),
    closeMessages(input.request, droppedTail, preview.tail),
  ];
  const edit = contextEditAfter(from, units);
  return {
    ...emitRequest({ input, head, edit }, messages),
    hasSelfClearing:
      from.hasSelfClearing ||
      units.some(({ wrapping, opensMessage }) => opensMessage && wrapping.isSelfClearing === true),
    clearedResults: edit?.cleared ?? null,
    report: { leaf: id, fresh: [], aliases: [], isTurn: false, epoch: null },
    leaf: from,
    path: { head, nodes: [] },
    hasHeader: false,
    freedTokens: 0,
  };
}

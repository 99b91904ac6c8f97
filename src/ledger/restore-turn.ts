import { type ContentHash, must } from "../base/index.ts";
import { nodeId, nodeKey, type TurnRecord, type UnitRecord } from "../exchange/index.ts";
import { protocolOf, unitBytes, type WireRequest, type WireUnit } from "../protocols/index.ts";
import { addAnswer } from "./add-answer.ts";
import { borrowedBlocks } from "./arrivals.ts";
import { keepBranch } from "./branches.ts";
import { type ClientUnit, clientUnits, wrapperOf } from "./client-units.ts";
import { answerFacts, type CommandOffer, commandOfferOf } from "./command-lines.ts";
import { type LedgerStream, withHead } from "./ledger-stream.ts";
import { addRoot, nodeAt, TreeDraft } from "./ledger-tree.ts";
import {
  type LedgerNode,
  type ShownForm,
  sentPosition,
  shownCleared,
  shownWhole,
  textOfUnit,
} from "./node.ts";
import { recordedBlock } from "./numbering.ts";
import { type PlannedUnit, plannedDefaults, writeUnits } from "./planned-units.ts";
import { buildHead, type HeadDraft, type HeadUnit, headIdOf, type RequestHead } from "./request-head.ts";

/** A turn that an earlier process sent, with its parsed body. */
export type TurnToRestore = TurnRecord & { readonly request: WireRequest };

/**
 * Restores the recorded turns of a stream. A turn that cannot be read, or whose body and path do not fit
 * together, counts as never sent.
 */
export function restoreTurns(stream: LedgerStream, turns: readonly TurnRecord[]): LedgerStream {
  const parsed = turns.flatMap((turn) => {
    const request = stream.protocol.read.request(turn.body, null);
    return request === null ? [] : [{ ...turn, request }];
  });
  const originals = originalsFor(parsed);
  return parsed.reduce((restored, turn) => restoreTurn(restored, turn, originals), stream);
}

/** Originals of rewritten units by their hash, as copies: the bodies are not kept. */
type Originals = ReadonlyMap<string, Uint8Array>;

/** Finds the originals that the records miss in the bodies of other turns. */
function originalsFor(turns: readonly TurnToRestore[]): Originals {
  const originals = turns.flatMap(({ path }) => path.flatMap(({ original }) => original ?? []));
  const missing = new Set(originals.filter(({ bytes }) => bytes === undefined).map(({ content }) => content));
  const found = new Map<string, Uint8Array>();
  if (missing.size === 0) return found;
  for (const { request } of turns) {
    for (const { unit, group } of clientUnits(request, 0)) {
      if (missing.has(unit.hash))
        found.set(unit.hash, Uint8Array.from(unitBytes(request.bytes, group.range.start, unit)));
    }
  }
  return found;
}

/** Restores a turn that an earlier process sent, and its answer. */
function restoreTurn(stream: LedgerStream, turn: TurnToRestore, originals: Originals): LedgerStream {
  const path = findPath(turn);
  if (path === null) return stream;
  const opened = restoreHead(stream, path, turn.request);
  const tree = new TreeDraft(opened.stream.tree);
  const commandOffer = commandOfferOf(opened.head, stream.nonce);
  const end = restorePath(tree, path, { ...turn, head: opened.head, originals, commandOffer });
  const leaf = { ...tree.at(end.index), isLeaf: true, droppedTail: path.droppedTail };
  tree.set(leaf);
  const roots = opened.stream.heads.map(({ root }) => root);
  const restored: LedgerStream = {
    ...opened.stream,
    branches: keepBranch(tree, opened.stream.branches, { leaf, roots }),
    tree: tree.done(),
    lastLeaf: leaf.index,
    turn: Math.max(stream.turn, turn.turn),
  };
  if (turn.answer === null) return restored;
  const { units, usage } = stream.protocol.answer.read(turn.answer.body, turn.answer.contentType);
  return addAnswer(restored, leaf.index, { units, usage, changesSeq: 0 }).stream;
}

/** A unit of a body with the log's record of it. */
type RecordedPathUnit<U> = { readonly record: UnitRecord; readonly wire: U };

/** A recorded path with the units of the body it was sent with. */
export type RestorablePath = {
  readonly head: readonly RecordedPathUnit<HeadUnit>[];
  readonly messages: readonly RecordedPathUnit<ClientUnit>[];
  /** The text that followed the path in that request only. */
  readonly droppedTail: string | null;
};

/**
 * Finds the units of a path in the body it was sent with. The body may hold more: deferred tools and a
 * dropped tail. Null if a unit of the path is missing.
 */
export function findPath({ request, path }: Pick<TurnToRestore, "request" | "path">): RestorablePath | null {
  const left = [...path].reverse();
  const take = (hash: string): UnitRecord | null =>
    left.at(-1)?.bytesHash === hash ? (left.pop() ?? null) : null;
  const headUnits = [request.tools, request.system].flatMap(({ units, range }) =>
    units.map((unit) => ({ unit, bytes: unitBytes(request.bytes, range.start, unit), numbered: null })),
  );
  const withRecord = <U>(wire: U, hash: string): readonly RecordedPathUnit<U>[] => {
    const record = take(hash);
    return record === null ? [] : [{ record, wire }];
  };
  const head = headUnits.flatMap((wire) => withRecord(wire, wire.unit.hash));
  const units = clientUnits(request, 0);
  const messages = units.flatMap((wire) => withRecord(wire, wire.unit.hash));
  const last = units.at(-1);
  const isDropped = last !== undefined && messages.at(-1)?.wire !== last;
  const droppedTail = isDropped
    ? textOfUnit(last.unit, unitBytes(request.bytes, last.group.range.start, last.unit))
    : null;
  return left.length === 0 ? { head, messages, droppedTail } : null;
}

/** The node id of the last unit of the head. */
function pathHeadId({ head }: RestorablePath): string {
  let id: string | null = null;
  for (const { record } of head) id = recordId(id, record);
  return id ?? "";
}

function recordId(parent: string | null, { key, bytesHash, cleared }: UnitRecord): string {
  return nodeId(parent, nodeKey(key, cleared === true), bytesHash as ContentHash); // the log's hash
}

/** Finds the head of a path, or makes it again. */
function restoreHead(
  stream: LedgerStream,
  path: RestorablePath,
  request: WireRequest,
): { readonly stream: LedgerStream; readonly head: RequestHead } {
  const id = pathHeadId(path);
  const known = stream.heads.find(({ root }) => sentPosition(nodeAt(stream.tree, root)).id === id);
  if (known !== undefined) return { stream, head: known };
  const drafted = draftHead(path, request);
  const { tree, root } = addRoot(stream.tree, headIdOf(drafted));
  const head = { ...drafted, root: root.index };
  return { stream: withHead({ ...stream, tree }, head), head };
}

function draftHead({ head }: RestorablePath, request: WireRequest): HeadDraft {
  const own = head.filter(({ record }) => record.origin === "aperture").map(({ wire }) => wire);
  const tools = own.filter(({ unit }) => unit.section === "tools").map(({ bytes }) => bytes);
  const instructions = own.find(({ unit }) => unit.section === "system")?.bytes ?? null;
  const client = head.filter(({ record }) => record.origin !== "aperture").map(({ wire }) => wire);
  const deferred = request.tools.units
    .filter(({ isDeferred }) => isDeferred)
    .map((unit) => {
      const bytes = unitBytes(request.bytes, request.tools.range.start, unit);
      return { unit, bytes, numbered: null };
    });
  return {
    ...buildHead(protocolOf(request), [...client, ...deferred], { instructions, tools }),
    isReported: true,
  };
}

type RestoreInput = TurnToRestore & {
  readonly head: RequestHead;
  readonly originals: Originals;
  /** The ways to command that its head offered. */
  readonly commandOffer: CommandOffer;
};

/** Writes a path below its head, or finds it there. Returns its last node, below which its answer belongs. */
function restorePath(tree: TreeDraft, { messages }: RestorablePath, turn: RestoreInput): LedgerNode {
  const { model } = turn.request;
  const { isBound } = protocolOf(turn.request).traits.model(model);
  let node = tree.at(turn.head.root);
  let known = 0;
  for (const { record } of messages) {
    const id = recordId(sentPosition(node).id || null, record);
    const child = tree.childrenOf(node).find(({ sent }) => sent?.id === id);
    if (child === undefined) break;
    node = isBound && child.isForeignReasoning ? { ...child, isForeignReasoning: false } : child;
    if (node !== child) tree.set(node);
    known += 1;
  }
  const units = messages
    .slice(known)
    .map((unit, at) => restoreUnit(unit, opensClientMessage(messages, known + at), turn));
  const { nodes } = writeUnits(tree, node, { units: withAnswerNodes(tree, node, units), model });
  // A client may also repeat a unit in the form that was sent.
  for (const [at, written] of nodes.entries()) {
    const { record, wire } = must(messages[known + at], "every unit is written");
    if (isReworded(record, wire.unit))
      tree.set({ ...written, knownHashes: [...written.knownHashes, wire.unit.hash] });
  }
  return nodes.at(-1) ?? node;
}

/** Gives units of an earlier answer the nodes that the answer has. */
function withAnswerNodes(
  tree: TreeDraft,
  from: LedgerNode,
  units: readonly PlannedUnit[],
): readonly PlannedUnit[] {
  let parent: LedgerNode | null = from;
  return units.map((unit) => {
    const below: readonly LedgerNode[] = parent === null ? [] : tree.childrenOf(parent);
    const answerNode = below.find(({ sent, facts }) => sent === null && facts.key === unit.facts.key) ?? null;
    parent = answerNode;
    return answerNode === null ? unit : { ...unit, answerNode };
  });
}

/** Whether a unit is the first of its message that is not ours. */
function opensClientMessage(messages: RestorablePath["messages"], at: number): boolean {
  const { wire } = must(messages[at], "there is one");
  return !messages
    .slice(0, at)
    .some(({ wire: { group }, record }) => group === wire.group && record.origin !== "aperture");
}

function restoreUnit(
  { record, wire }: RecordedPathUnit<ClientUnit>,
  opensClient: boolean,
  { request: { bytes, model }, originals, commandOffer }: RestoreInput,
): PlannedUnit {
  const { unit, group, isFirst } = wire;
  const { origin, key, original, block, cleared } = record;
  const { protocol, kind, part, wireType, callId, hash } = unit;
  const isOwn = origin === "aperture";
  const sent = unitBytes(bytes, group.range.start, unit);
  const isOther = isReworded(record, unit);
  const ownHash = isOther ? (original?.content ?? hash) : hash;
  const facts = { protocol, key, kind, part, wireType, callId, hash: ownHash };
  return {
    ...plannedDefaults,
    facts: group.role === "assistant" ? answerFacts(facts, sent, commandOffer) : facts,
    origin,
    wrapping: wrapperOf(group),
    opensMessage: isFirst,
    extra: opensClient && !isOwn ? group.extra : null,
    bytes: sent,
    hash,
    numbered: block === undefined ? null : recordedBlock(block, kind, sent.length),
    alignedIndex: null,
    isRewritten: !isOwn && (isOther || unit.key !== key || cleared === true),
    original: isOther
      ? (original?.bytes ?? originals.get(original?.content ?? "") ?? null)
      : cleared === true
        ? sent
        : null,
    shown: shownFormOf(record, unit, sent),
    // A model that does not bind its reasoning accepts reasoning that another model may refuse.
    isForeignReasoning: kind === "reasoning" && !protocolOf(unit).traits.model(model).isBound,
  };
}

function shownFormOf(record: UnitRecord, unit: WireUnit, sent: Uint8Array): ShownForm {
  const { original, cleared } = record;
  if (cleared === true) return shownCleared;
  if (!isReworded(record, unit) || original === undefined) return shownWhole;
  return { as: original.as, tokens: null, borrows: borrowedBlocks(unit, sent) };
}

/** Whether our bytes replaced the client's. A whole unit is only rewritten if it is a result. */
function isReworded({ original }: UnitRecord, { part }: WireUnit): boolean {
  return original !== undefined && (original.as !== "original" || part === "result");
}

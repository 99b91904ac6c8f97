import { type ContentHash, hashContent } from "../base/index.ts";
import type { UnitOrigin } from "../engine/frames/index.ts";
import { type NumberedBlock, nodeId, nodeKey, type SentRequestUnit } from "../exchange/index.ts";
import type { Protocol, UnitWrapper } from "../protocols/index.ts";
import { AppendBuffer } from "./append-buffer.ts";
import { type LedgerTree, parentOf, pathTo, type TreeDraft } from "./ledger-tree.ts";
import {
  type LedgerNode,
  type NodeIndex,
  nodeBytes,
  ownKey,
  type SentPosition,
  type ShownBytes,
  type ShownForm,
  sentPosition,
  shownWhole,
  type UnitFacts,
} from "./node.ts";

/** A unit that the next request sends for the first time at its position. */
export type PlannedUnit = {
  readonly facts: UnitFacts;
  readonly origin: UnitOrigin;
  readonly wrapping: UnitWrapper;
  readonly opensMessage: boolean;
  readonly extra: string | null;
  readonly bytes: Uint8Array;
  readonly hash: ContentHash;
  /** Its index among the aligned units of the client's messages. Null if it is none of them. */
  readonly alignedIndex: number | null;
  /** The node the model's answer gave it. Null if it is new. */
  readonly answerNode: LedgerNode | null;
  /** Whether its bytes differ from the client's. */
  readonly isRewritten: boolean;
  /** Whether it is reasoning that was produced after another prefix. */
  readonly isForeignReasoning: boolean;
  /** The client's bytes, if the unit is rewritten and they are known. */
  readonly original: Uint8Array | null;
  readonly firstForm: ShownBytes | null;
  /** The node that this unit replaces in a rewrite. */
  readonly rewriteOf: LedgerNode | null;
  readonly numbered: NumberedBlock | null;
  readonly shown: ShownForm;
  /** Whether it is a header of ours, or holds one. */
  readonly isHeader: boolean;
  /** The number of units with its key on the path to it, itself included. Null if they were not counted. */
  readonly keyCount: number | null;
};

/** The values most units have: new at their position, with their own bytes. */
export const plannedDefaults = {
  answerNode: null,
  isRewritten: false,
  isForeignReasoning: false,
  original: null,
  firstForm: null,
  rewriteOf: null,
  numbered: null,
  shown: shownWhole,
  isHeader: false,
  keyCount: null,
} as const;

/** A text of ours, inside a message or as a message of its own. */
export function ownTextUnit(
  { name: protocol, write }: Protocol,
  text: string,
  { wrapping, opensMessage }: Pick<PlannedUnit, "wrapping" | "opensMessage">,
): PlannedUnit {
  const bytes = write.text(text);
  const hash = hashContent(bytes);
  const type = { kind: "ambient", part: "text", wireType: "text", callId: null } as const;
  const facts: UnitFacts = { protocol, key: ownKey(hash), ...type, hash };
  const own = { origin: "aperture", extra: null, alignedIndex: null, ...plannedDefaults } as const;
  return { facts, wrapping, opensMessage, bytes, hash, ...own };
}

/** Gives a unit other bytes, and keeps the client's. */
export function rewordUnit(unit: PlannedUnit, { bytes, shown }: ShownBytes): PlannedUnit {
  const original = unit.original ?? Uint8Array.from(unit.bytes);
  return { ...unit, bytes, shown, hash: hashContent(bytes), isRewritten: true, original };
}

/** The offset at which the bytes of a path end, and the bytes that close its last message. */
export type PathEnd = { readonly end: number; readonly tail: string };

/** The bytes between the end of a path and the unit that follows it. */
function lead({ end, tail }: PathEnd, { opensMessage, wrapping }: PlannedUnit): string {
  if (!opensMessage) return ",";
  return end === 0 ? wrapping.head : `${tail},${wrapping.head}`;
}

/** The nodes of the written units, and the units for the log. Their client indexes are still aligned ones. */
export type UnitWriteResult = {
  readonly nodes: readonly LedgerNode[];
  readonly sentUnits: readonly SentRequestUnit[];
};

/**
 * Writes units below a node. From now on their bytes are final. They go behind the end of the path's buffer;
 * if another path has continued there, they go into a fork of it. So no bytes that a tree knows ever change.
 */
export function writeUnits(
  draft: TreeDraft,
  from: LedgerNode,
  { units, model }: { readonly units: readonly PlannedUnit[]; readonly model: string | null },
): UnitWriteResult {
  const nodes: LedgerNode[] = [];
  const sentUnits: SentRequestUnit[] = [];
  let parent = from;
  const { buffer: before, end } = sentPosition(from);
  const buffer = before.length === end ? before : AppendBuffer.fork(before, end);
  buffer.reserve(units.reduce((sum, { bytes }) => sum + bytes.length, 0));
  const hasHeader = units.some(({ isHeader, rewriteOf }) => isHeader && rewriteOf === null);
  for (const unit of units) {
    const { id: parentId, end: parentEnd } = sentPosition(parent);
    buffer.append(Buffer.from(lead({ end: parentEnd, tail: parent.wrapping.tail }, unit)));
    const start = buffer.length;
    buffer.append(unit.bytes);
    const isCleared = unit.shown.isCleared === true;
    const id = nodeId(parentId === "" ? null : parentId, nodeKey(unit.facts.key, isCleared), unit.hash);
    const sent = { id, buffer, start, end: buffer.length };
    const node = writeNode(draft, parent, { unit, sent, model, hasHeader });
    sentUnits.push({
      id,
      parent: parentId === "" ? null : parentId,
      origin: unit.origin,
      key: unit.facts.key,
      clientIndex: unit.alignedIndex,
      numbered: unit.numbered,
      as: unit.shown.as,
      bytes: buffer.slice(start, buffer.length),
      ...(isCleared ? { cleared: true } : {}),
    });
    nodes.push(node);
    parent = node;
  }
  return { nodes, sentUnits };
}

type WrittenUnit = {
  readonly unit: PlannedUnit;
  readonly sent: SentPosition;
  readonly model: string | null;
  /** A new header announces all units sent with it. */
  readonly hasHeader: boolean;
};

/** A unit of an answer keeps the node it has; any other unit gets a new one. */
function writeNode(
  draft: TreeDraft,
  parent: LedgerNode,
  { unit, sent, model, hasHeader }: WrittenUnit,
): LedgerNode {
  const { facts, opensMessage, extra, answerNode, numbered, rewriteOf } = unit;
  // The last unit of a message closes it the way its first unit opened it.
  const wrapping = opensMessage ? unit.wrapping : parent.wrapping;
  if (answerNode !== null && answerNode.parent === parent.index) {
    const known = draft.at(answerNode.index);
    const node: LedgerNode = {
      ...known,
      // A client that has written it its own way may still come back to the model's form.
      knownHashes: [...known.knownHashes, known.facts.hash],
      facts,
      wrapping,
      extra,
      numbered,
      keyCount: known.facts.key === facts.key ? known.keyCount : null,
      isAnnounced: known.isAnnounced || hasHeader,
      sent,
      model,
      answerBytes: null,
    };
    draft.set(node);
    return node;
  }
  const isMoved = answerNode !== null && facts.kind === "reasoning";
  // A rewritten unit is announced if its old node was.
  const isAnnounced = hasHeader || rewriteOf?.isAnnounced === true;
  const knownHashes = rewriteOf?.knownHashes ?? [];
  const isForeignReasoning = unit.isForeignReasoning || isMoved;
  const fresh = draft.nodeBelow(parent, { ...unit, wrapping, isForeignReasoning });
  const node: LedgerNode = { ...fresh, knownHashes, isAnnounced, sent, model };
  draft.add(node);
  return node;
}

/** All units on the path to a leaf, for a log that may not have them. */
export function sentUnitsOf(
  tree: LedgerTree,
  leaf: LedgerNode,
  clientIndexes: ReadonlyMap<NodeIndex, number>,
): readonly SentRequestUnit[] {
  return pathTo(tree, leaf).map((node) => {
    const parent = parentOf(tree, node);
    const parentId = parent === null ? "" : sentPosition(parent).id;
    const { origin, facts, numbered, shown } = node;
    return {
      id: sentPosition(node).id,
      parent: parentId === "" ? null : parentId,
      origin,
      key: facts.key,
      clientIndex: origin === "aperture" ? null : (clientIndexes.get(node.index) ?? null),
      numbered,
      as: shown.as,
      ...(shown.isCleared === true ? { cleared: true as const } : {}),
      bytes: nodeBytes(node),
    };
  });
}

/** Lays out the same bytes as `writeUnits` without changing the ledger. */
export function previewUnits(from: PathEnd, units: readonly PlannedUnit[]): UnitPreview {
  const pieces: Uint8Array[] = [];
  const ends: number[] = [];
  let at = from;
  for (const unit of units) {
    const leading = Buffer.from(lead(at, unit));
    pieces.push(leading, unit.bytes);
    const tail = unit.opensMessage ? unit.wrapping.tail : at.tail;
    at = { end: at.end + leading.length + unit.bytes.length, tail };
    ends.push(at.end);
  }
  return { bytes: Buffer.concat(pieces), ends, tail: at.tail };
}
export type UnitPreview = {
  readonly bytes: Buffer;
  /** The end of each unit. */
  readonly ends: readonly number[];
  /** The bytes that close the last message. */
  readonly tail: string;
};

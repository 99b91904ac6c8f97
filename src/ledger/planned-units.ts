import { type ContentHash, hashContent } from "../base/index.ts";
import type { UnitOrigin } from "../engine/frames/index.ts";
import { type NumberedBlock, nodeId, nodeKey, type SentRequestUnit } from "../exchange/index.ts";
import type { Protocol, UnitWrapper } from "../protocols/index.ts";
import { AppendBuffer } from "./append-buffer.ts";
import {
  type LedgerNode,
  newNode,
  nodeBytes,
  ownKey,
  pathTo,
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

/** Writes units below a node. From now on their bytes are final. */
export function writeUnits(
  from: LedgerNode,
  units: readonly PlannedUnit[],
  model: string | null,
): UnitWriteResult {
  const nodes: LedgerNode[] = [];
  const sentUnits: SentRequestUnit[] = [];
  let parent = from;
  const { buffer: before, end } = sentPosition(from);
  const buffer = before.length === end ? before : AppendBuffer.fork(before, end);
  buffer.reserve(units.reduce((sum, { bytes }) => sum + bytes.length, 0));
  for (const unit of units) {
    const at = { end: sentPosition(parent).end, tail: parent.wrapping.tail };
    buffer.append(Buffer.from(lead(at, unit)));
    const start = buffer.length;
    buffer.append(unit.bytes);
    const { id: parentId } = sentPosition(parent);
    const isCleared = unit.shown.isCleared === true;
    const id = nodeId(parentId === "" ? null : parentId, nodeKey(unit.facts.key, isCleared), unit.hash);
    const node = nodeFor(parent, unit);
    node.sent = { id, buffer, start, end: buffer.length };
    node.answerBytes = null;
    node.model = model;
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

/** A unit of an answer keeps the node it has; any other unit gets a new one. */
function nodeFor(parent: LedgerNode, unit: PlannedUnit): LedgerNode {
  const { facts, origin, opensMessage, extra, isRewritten, original, answerNode } = unit;
  const { firstForm, numbered, shown, isHeader } = unit;
  // The last unit of a message closes it the way its first unit opened it.
  const wrapping = opensMessage ? unit.wrapping : parent.wrapping;
  if (answerNode !== null && answerNode.parent === parent) {
    // A client that has written it its own way may still come back to the model's form.
    answerNode.knownHashes.push(answerNode.facts.hash);
    answerNode.facts = facts;
    answerNode.wrapping = wrapping;
    answerNode.extra = extra;
    answerNode.numbered = numbered;
    answerNode.keyCount = null;
    return answerNode;
  }
  const isMoved = answerNode !== null && facts.kind === "reasoning";
  const node = newNode(parent, {
    facts,
    origin,
    wrapping,
    opensMessage,
    extra,
    isRewritten,
    isForeignReasoning: unit.isForeignReasoning || isMoved,
    original,
    firstForm,
    numbered,
    shown,
    isHeader,
  });
  node.knownHashes.push(...(unit.rewriteOf?.knownHashes ?? []));
  parent.children.push(node);
  return node;
}

/** All units on the path to a leaf, for a log that may not have them. */
export function sentUnitsOf(
  leaf: LedgerNode,
  clientIndexes: ReadonlyMap<LedgerNode, number>,
): readonly SentRequestUnit[] {
  return pathTo(leaf).map((node) => {
    const parentId = node.parent === null ? "" : sentPosition(node.parent).id;
    const { origin, facts, numbered, shown } = node;
    return {
      id: sentPosition(node).id,
      parent: parentId === "" ? null : parentId,
      origin,
      key: facts.key,
      clientIndex: origin === "aperture" ? null : (clientIndexes.get(node) ?? null),
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

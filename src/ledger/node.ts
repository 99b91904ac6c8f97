import { must } from "../base/index.ts";
import type { Shown, UnitOrigin } from "../engine/frames/index.ts";
import type { NumberedBlock } from "../exchange/index.ts";
import { protocolOf, type UnitWrapper, type WireUnit } from "../protocols/index.ts";
import { AppendBuffer } from "./append-buffer.ts";

/** The facts about a unit that do not depend on its position. */
export type UnitFacts = Pick<WireUnit, "protocol" | "key" | "kind" | "part" | "wireType" | "callId"> & {
  /** The hash of the client's copy of this unit. */
  readonly hash: string;
  /** True for calls of our own tools and texts of nothing but commands; the client never sees them. */
  readonly isHidden?: true;
  /** True for a text with command lines: the client's copy lacks those lines. */
  readonly hasCommands?: true;
};

/** The form in which a unit shows its block. */
export type ShownForm = {
  readonly as: Shown;
  /** The estimated size. Null if it equals the size of the block. */
  readonly tokens: number | null;
  /** Blocks whose lines this unit refers to instead of repeating them: it is complete only beside them. */
  readonly borrows: readonly number[];
  /** True if the unit is sent whole and the provider is asked to leave it out. */
  readonly isCleared?: true;
};

/** The bytes a unit is sent with, and how much of its block they show. */
export type ShownBytes = { readonly bytes: Uint8Array; readonly shown: ShownForm };

export const shownWhole: ShownForm = { as: "original", tokens: null, borrows: [] };

/** The estimated size of the text a provider puts in place of a result it leaves out. */
export const clearedTokens = 16;
export const shownCleared: ShownForm = {
  as: "placeholder",
  tokens: clearedTokens,
  borrows: [],
  isCleared: true,
};

/**
 * One unit at one position of the tree: below everything that is sent before it. A unit of an answer becomes
 * a node as soon as the answer is read, and is sent when the client repeats it.
 */
export type LedgerNode = {
  readonly parent: LedgerNode | null;
  /** The root of its path. Null if it is the root. */
  readonly root: LedgerNode | null;
  readonly origin: UnitOrigin;
  /** Whether it is the first unit of a wire message. */
  readonly opensMessage: boolean;
  facts: UnitFacts;
  wrapping: UnitWrapper;
  /** The fields of the client's message besides role and content. Null if it does not open such a message. */
  extra: string | null;
  /** Whether its bytes differ from the client's. */
  readonly isRewritten: boolean;
  /** Reasoning produced after another prefix: a model that binds its reasoning would refuse it here. */
  isForeignReasoning: boolean;
  /** The client's bytes, if the node is rewritten and they are known. */
  original: Uint8Array | null;
  /** The form it was first sent in, if that was the whole block in fewer lines. */
  readonly firstForm: ShownBytes | null;
  /** Whether a unit of ours lies on the path to it, the head not counted. */
  readonly hasOwn: boolean;
  /** Whether a self-clearing message lies on the path to it: such a request needs an extra HTTP header. */
  readonly hasSelfClearing: boolean;
  /** Whether a result that the provider is asked to leave out lies on the path to it. */
  readonly hasClearedResults: boolean;
  readonly children: LedgerNode[];
  /** Hashes of other forms in which clients have sent it. */
  readonly knownHashes: string[];
  /** The model it was first sent to, or that produced it. */
  model: string | null;
  /** Null until it is sent. */
  sent: SentPosition | null;
  /** The bytes as the model produced them, until they are sent. */
  answerBytes: Uint8Array | null;
  /** Whether a request ended here. */
  isLeaf: boolean;
  /** The block it belongs to. Null for units of ours and for blocks without a number yet. */
  numbered: NumberedBlock | null;
  readonly shown: ShownForm;
  /** Whether it is a header of ours, or holds one beside the client's text. */
  readonly isHeader: boolean;
  /** Whether the model knows its number: a header came with it or after it. */
  isAnnounced: boolean;
  /** The text that followed it in the request that ended here, and in no later one. */
  droppedTail: string | null;
  /** The number of nodes with its key on the path to it, itself included. Null if not counted yet. */
  keyCount: { readonly key: string; readonly count: number } | null;
};
export type SentPosition = {
  readonly id: string;
  /** Holds the bytes of the whole path; this unit from `start` to `end`. */
  readonly buffer: AppendBuffer;
  readonly start: number;
  readonly end: number;
};

const rootFacts: UnitFacts = {
  protocol: "anthropic",
  key: "",
  kind: "system",
  part: "empty",
  wireType: "",
  callId: null,
  hash: "",
};

/** The node below which the messages of a head hang. */
export function rootNode(id: string): LedgerNode {
  return {
    parent: null,
    root: null,
    origin: "client",
    opensMessage: false,
    facts: rootFacts,
    wrapping: { role: "", head: "", tail: "" },
    extra: null,
    isRewritten: false,
    isForeignReasoning: false,
    original: null,
    firstForm: null,
    hasOwn: false,
    hasSelfClearing: false,
    hasClearedResults: false,
    children: [],
    knownHashes: [],
    model: null,
    sent: { id, buffer: new AppendBuffer(), start: 0, end: 0 },
    answerBytes: null,
    isLeaf: false,
    numbered: null,
    shown: shownWhole,
    isHeader: false,
    isAnnounced: true,
    droppedTail: null,
    keyCount: null,
  };
}

/** Whether the client does not have it: our units, and hidden units of the model. */
export function isOwn({ origin, facts }: Pick<LedgerNode, "origin" | "facts">): boolean {
  return origin === "aperture" || facts.isHidden === true;
}

/** Whether it belongs to a block: everything except our notes. Results of our tools are blocks. */
export function isBlock({ origin, facts }: Pick<LedgerNode, "origin" | "facts">): boolean {
  return origin !== "aperture" || facts.kind === "tool-result";
}

export function isReasoning({ facts }: LedgerNode): boolean {
  return facts.kind === "reasoning";
}

export function nodeBytes(node: LedgerNode): Uint8Array {
  const { sent, answerBytes } = node;
  if (sent !== null) return sent.buffer.slice(sent.start, sent.end);
  return must(answerBytes, "a node was sent or comes from an answer");
}

/** The text of a unit with these bytes. Null if it is no text. */
export function textOfUnit(unit: Pick<UnitFacts, "protocol">, bytes: Uint8Array): string | null {
  return protocolOf(unit).read.text(bytes);
}

export function sentPosition(node: LedgerNode): SentPosition {
  return must(node.sent, "the node was sent");
}

/** The nodes from below the root to the given node, itself included. */
export function pathTo(node: LedgerNode): readonly LedgerNode[] {
  const path: LedgerNode[] = [];
  for (let at = node; at.parent !== null; at = at.parent) path.push(at);
  return path.reverse();
}

export function rootOf(node: LedgerNode): LedgerNode {
  return node.root ?? node;
}

/** Counts the nodes with a key on the path to a node. The nearest of them remembers the count. */
export function countKeyOnPath(node: LedgerNode, key: string): number {
  let [count, nearest]: [number, LedgerNode | null] = [0, null];
  for (let at: LedgerNode | null = node; at !== null; at = at.parent) {
    if (at.facts.key !== key) continue;
    nearest ??= at;
    const known = at.keyCount?.key === key ? at.keyCount.count : null;
    count += known ?? 1;
    if (known !== null) break;
  }
  if (nearest !== null) nearest.keyCount = { key, count };
  return count;
}

/** Points a path to a forked buffer, which holds the same bytes at the same offsets. */
function moveToBuffer(buffer: AppendBuffer, leaf: LedgerNode): void {
  for (let at: LedgerNode | null = leaf; at !== null; at = at.parent) {
    if (at.sent !== null) at.sent = { ...at.sent, buffer };
  }
}

/** Forgets the nodes whose bytes are in this buffer only. */
function dropBranch(root: LedgerNode, buffer: AppendBuffer): void {
  const left = [root];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    const kept = node.children.filter(({ sent }) => sent?.buffer !== buffer);
    node.children.splice(0, node.children.length, ...kept);
    left.push(...kept);
  }
}

/** Keeps only the newest answers below a node that were never sent. */
export function forgetOldAnswers({ children }: LedgerNode, count: number): void {
  const unsent = children.filter(({ sent }) => sent === null);
  for (const old of unsent.slice(0, Math.max(0, unsent.length - count)))
    children.splice(children.indexOf(old), 1);
}

type NodeInput = Pick<
  LedgerNode,
  | "facts"
  | "origin"
  | "wrapping"
  | "opensMessage"
  | "extra"
  | "original"
  | "firstForm"
  | "isRewritten"
  | "isForeignReasoning"
  | "numbered"
  | "shown"
  | "isHeader"
>;

/** Copies field by field: nodes are made by the thousand, and spreading would take most of the time. */
export function newNode(parent: LedgerNode, input: NodeInput): LedgerNode {
  const { facts, origin, wrapping, opensMessage, extra, isRewritten, isForeignReasoning, original } = input;
  const { firstForm, numbered, shown, isHeader } = input;
  return {
    parent,
    root: rootOf(parent),
    origin,
    opensMessage,
    facts,
    wrapping,
    extra,
    isRewritten,
    isForeignReasoning,
    original,
    firstForm,
    hasOwn: parent.hasOwn || origin === "aperture",
    hasSelfClearing: parent.hasSelfClearing || (opensMessage && wrapping.isSelfClearing === true),
    hasClearedResults: parent.hasClearedResults || shown.isCleared === true,
    children: [],
    knownHashes: [],
    model: parent.model,
    sent: null,
    answerBytes: null,
    isLeaf: false,
    numbered,
    shown,
    isHeader,
    isAnnounced: false,
    droppedTail: null,
    keyCount: null,
  };
}

/** The key of a unit of ours. */
export function ownKey(hash: string): string {
  return `own:${hash.slice(0, 32)}`;
}

const branchesMax = 256;
const branchBytesMax = 32 * 1024 * 1024;

/** The branches of a ledger, each in a buffer of its own, the last used one at the end. */
export class Branches {
  /** Each buffer with the leaf of its branch. */
  readonly #leaves = new Map<AppendBuffer, LedgerNode>();

  memoryBytes(): number {
    return [...this.#leaves.keys()].reduce((sum, { capacity }) => sum + capacity, 0);
  }

  /** Puts the whole path of a branch in use into one buffer, and drops branches long unused. */
  keep(leaf: LedgerNode, heads: readonly { readonly root: LedgerNode }[]): void {
    const { buffer } = sentPosition(leaf);
    if (!this.#leaves.delete(buffer)) moveToBuffer(buffer, leaf);
    this.#leaves.set(buffer, leaf);
    for (const old of this.#leaves.keys()) {
      if (old === buffer || (this.#leaves.size <= branchesMax && this.memoryBytes() <= branchBytesMax))
        return;
      this.#leaves.delete(old);
      // Other branches may share a part of their path with the one that is dropped.
      for (const [kept, end] of this.#leaves) moveToBuffer(kept, end);
      for (const { root } of heads) dropBranch(root, old);
    }
  }
}

import { must } from "../base/index.ts";
import type { Shown, UnitOrigin } from "../engine/frames/index.ts";
import type { NumberedBlock } from "../exchange/index.ts";
import { protocolOf, type UnitWrapper, type WireUnit } from "../protocols/index.ts";
import type { AppendBuffer } from "./append-buffer.ts";

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

/** The index of a node in the tables of its tree. */
export type NodeIndex = number;

/**
 * One unit at one position of the tree: below everything that is sent before it. A unit of an answer becomes
 * a node as soon as the answer is read, and is sent when the client repeats it. A node never changes: a tree
 * with another value at its index is another tree.
 */
export type LedgerNode = {
  readonly index: NodeIndex;
  readonly parent: NodeIndex | null;
  /** The root of its path. Its own index if it is the root. */
  readonly root: NodeIndex;
  readonly origin: UnitOrigin;
  /** Whether it is the first unit of a wire message. */
  readonly opensMessage: boolean;
  readonly facts: UnitFacts;
  readonly wrapping: UnitWrapper;
  /** The fields of the client's message besides role and content. Null if it does not open such a message. */
  readonly extra: string | null;
  /** Whether its bytes differ from the client's. */
  readonly isRewritten: boolean;
  /** Reasoning produced after another prefix: a model that binds its reasoning would refuse it here. */
  readonly isForeignReasoning: boolean;
  /** The client's bytes, if the node is rewritten and they are known. */
  readonly original: Uint8Array | null;
  /** The form it was first sent in, if that was the whole block in fewer lines. */
  readonly firstForm: ShownBytes | null;
  /** Whether a unit of ours lies on the path to it, the head not counted. */
  readonly hasOwn: boolean;
  /** Whether a self-clearing message lies on the path to it: such a request needs an extra HTTP header. */
  readonly hasSelfClearing: boolean;
  /** Whether a result that the provider is asked to leave out lies on the path to it. */
  readonly hasClearedResults: boolean;
  /** Hashes of other forms in which clients have sent it. */
  readonly knownHashes: readonly string[];
  /** The model it was first sent to, or that produced it. */
  readonly model: string | null;
  /** Null until it is sent. */
  readonly sent: SentPosition | null;
  /** The bytes as the model produced them, until they are sent. */
  readonly answerBytes: Uint8Array | null;
  /** Whether a request ended here. */
  readonly isLeaf: boolean;
  /** The block it belongs to. Null for units of ours and for blocks without a number yet. */
  readonly numbered: NumberedBlock | null;
  readonly shown: ShownForm;
  /** Whether it is a header of ours, or holds one beside the client's text. */
  readonly isHeader: boolean;
  /** Whether the model knows its number: a header came with it or after it. */
  readonly isAnnounced: boolean;
  /** The text that followed it in the request that ended here, and in no later one. */
  readonly droppedTail: string | null;
  /** The number of nodes with its key on the path to it, itself included. Null if they were not counted. */
  readonly keyCount: number | null;
};

/** The fields that a node takes over from its unit. */
export type NodeInput = Pick<
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
  | "keyCount"
>;

export type SentPosition = {
  readonly id: string;
  /** Holds the bytes of the whole path; this unit from `start` to `end`. */
  readonly buffer: AppendBuffer;
  readonly start: number;
  readonly end: number;
};

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

/** The key of a unit of ours. */
export function ownKey(hash: string): string {
  return `own:${hash.slice(0, 32)}`;
}

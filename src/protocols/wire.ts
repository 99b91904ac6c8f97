import type { ContentHash } from "../base/index.ts";
import type { PartType } from "../content/index.ts";
import type { BlockKind, ProtocolName, Usage } from "../engine/frames/index.ts";
import type { ByteRange, JsonMember } from "./json-scan.ts";

/**
 * The smallest thing a request is made of: a tool, an instruction, a content block of a message. Its bytes
 * are normalised in two ways only, so that a unit stays the same if a client writes it differently this time:
 * the cache mark is left out, and a bare string is written as the text block it stands for.
 */
export type WireUnit = {
  readonly protocol: ProtocolName;
  readonly section: "tools" | "system" | "messages";
  /** The role on the wire: user, assistant, system; tools and system texts are `system`. */
  readonly role: string;
  readonly kind: BlockKind;
  /** The neutral type of its content. A message without content is one unit, `empty`. */
  readonly part: PartType | "empty";
  /** The name of its type on the wire: two units of different types are never the same unit. */
  readonly wireType: string;
  /**
   * Recognises the unit when it is sent again: by tool id, by signature, else by a hash of its text. Equal
   * keys may stand for different copies, which their order tells apart.
   */
  readonly key: string;
  /** The id of the tool call, for a call and for its result. */
  readonly callId: string | null;
  readonly hash: ContentHash;
  /** Length of its bytes. */
  readonly length: number;
  /**
   * Maps bytes of the body to bytes of the unit, relative to the start of its message or section. The bytes
   * themselves are not kept: a unit lives as long as its session, a body only until the next one.
   */
  readonly slices: readonly UnitSlice[];
  /** The text that was put around the slices, if the client wrote the unit as a bare string. */
  readonly around: UnitAround | null;
  /** The cache mark the client put on it or inside it, as JSON; null without one. */
  readonly mark: string | null;
  /** A tool with deferred loading: the model does not see it until it is named. */
  readonly isDeferred: boolean;
};
/** `length` bytes at `at` in the group are those at `from` in the unit. */
export type UnitSlice = { readonly at: number; readonly from: number; readonly length: number };
export type UnitAround = { readonly head: string; readonly tail: string };

/** The bytes of a unit, from the body it was read in and the start of its message or section there. */
export function unitBytes(bytes: Buffer, base: number, { slices, around }: WireUnit): Uint8Array {
  const parts: Uint8Array[] = slices.map(({ at, length }) => bytes.subarray(base + at, base + at + length));
  if (around !== null) return Buffer.concat([Buffer.from(around.head), ...parts, Buffer.from(around.tail)]);
  const [only] = parts;
  return only !== undefined && parts.length === 1 ? only : Buffer.concat(parts);
}

/** The text that opens a message and the text that closes it. */
export type UnitWrapper = {
  readonly role: string;
  readonly head: string;
  readonly tail: string;
  /** The model sees the message for one turn only. */
  readonly isSelfClearing?: true;
};

/** A message and its range in the body, or a whole section before the messages. */
export type WireGroup = UnitWrapper & {
  readonly range: ByteRange;
  readonly units: readonly WireUnit[];
  /** The fields of a message besides role and content, in canonical form; empty for most. */
  readonly extra: string;
  /** One of its units has a cache mark. */
  readonly isMarked: boolean;
};

/** A request, read only as far as recording and recognising it need. */
export type WireRequest = {
  readonly protocol: ProtocolName;
  readonly bytes: Buffer;
  /** The number of leading bytes that equal those of the previous request. */
  readonly sharedBytes: number;
  /** The number of trailing bytes that equal those of the previous request; the two never overlap. */
  readonly sharedEndBytes: number;
  readonly model: string | null;
  readonly tools: WireGroup;
  readonly system: WireGroup;
  readonly messages: readonly WireGroup[];
  /** The keys of all units in the messages. */
  readonly messageKeys: readonly string[];
  /** The session id that the client names inside the body. */
  readonly sessionHint: string | null;
  readonly isStreamed: boolean;
  /** The indexes of the messages with a cache mark. */
  readonly markedMessages: readonly number[];
  /** The mark that the client wants on the last unit, wherever that is; null without one. */
  readonly automaticMark: string | null;
  /** How long the provider caches the prefix that the request marks. */
  readonly cacheLifetimeMs: number;
  /** The tokens the client allows for the answer; 0 if it does not say. */
  readonly answerTokensMax: number;
  /** The tokens of the answer that are reserved for reasoning. */
  readonly reasoningTokens: number;
  /** The provider is to keep the conversation, or keeps it already: the body is not the whole of it. */
  readonly isStoredAtProvider: boolean;
  /** The client edits the context at the provider, or asks for something that excludes such an edit. */
  readonly hasOwnEdits: boolean;
  /** The fields of the body in their order, with their ranges. */
  readonly members: readonly JsonMember[];
};

/** The number of leading messages that two requests share, as the same objects. */
export function sharedMessageCount(
  request: Pick<WireRequest, "messages">,
  previous: Pick<WireRequest, "messages"> | null,
): number {
  return previous === null ? 0 : sharedGroups(request.messages, previous.messages);
}

/** Reused messages are always the first ones, so the point where two lists differ is found by halves. */
export function sharedGroups(a: readonly WireGroup[], b: readonly WireGroup[]): number {
  return countWhile(Math.min(a.length, b.length), (index) => a[index] === b[index]);
}

/**
 * Counts the indexes below `count` before the first for which `holds` is false. Contract: it stays false
 * after.
 */
export function countWhile(count: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A block of an answer. No body holds it in one piece, so its bytes come with it. */
export type AnswerUnit = { readonly unit: WireUnit; readonly bytes: Uint8Array };

/** An answer, read from a copy of its bytes. */
export type WireAnswer = {
  readonly units: readonly AnswerUnit[];
  readonly usage: Usage | null;
  readonly model: string | null;
  readonly stop: string | null;
  /** The number of tool results the provider reports as left out; null if it reports nothing. */
  readonly cleared: number | null;
  /** The answer is complete: its last event came, or its JSON is whole. */
  readonly isWhole: boolean;
  /** The provider's own error, or the part that could not be read; null for an answer in order. */
  readonly problem: string | null;
};

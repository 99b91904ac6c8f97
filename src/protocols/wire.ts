import type { ContentHash } from "../base/index.ts";
import type { BlockKind, Usage } from "../engine/frames/index.ts";
import type { ByteRange, JsonMember } from "./json-scan.ts";

/**
 * The smallest thing a request is made of: a tool, a system text, a content block of a message. Its bytes are
 * normalised in two ways only, so that a unit stays the same if a client writes it differently this time: the
 * cache mark is left out, and a bare string is written as the text block it stands for.
 */
export type WireUnit = {
  readonly section: "tools" | "system" | "messages";
  /** The role on the wire: user, assistant, system; tools and system texts are `system`. */
  readonly role: string;
  readonly kind: BlockKind;
  /** The `type` field of the wire. */
  readonly type: string;
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
  /** The client wrote it as a bare string. */
  readonly isBare: boolean;
  /** The cache mark the client put on it or inside it, as JSON; null without one. */
  readonly mark: string | null;
  /** A tool with deferred loading: the model does not see it until it is named. */
  readonly isDeferred: boolean;
};
/** `length` bytes at `at` in the group are those at `from` in the unit. */
export type UnitSlice = { readonly at: number; readonly from: number; readonly length: number };

/** A message and its range in the body, or a whole section before the messages. */
export type WireGroup = {
  readonly role: string;
  readonly range: ByteRange;
  readonly units: readonly WireUnit[];
  /** The text before the first unit of a message and behind its last, written as a list of blocks. */
  readonly head: string;
  readonly tail: string;
  /** The fields of a message besides role and content, in canonical form; empty for most. */
  readonly extra: string;
  /** One of its units has a cache mark. */
  readonly isMarked: boolean;
};

/** A request, read only as far as recording and recognising it need. */
export type WireRequest = {
  readonly bytes: Buffer;
  /** The number of leading bytes that equal those of the previous request. */
  readonly sharedBytes: number;
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
  /** The fields of the body in their order, with their ranges. */
  readonly members: readonly JsonMember[];
};

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

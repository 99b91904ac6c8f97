import type { ContentHash } from "../base/index.ts";
import type { BlockKind, Usage } from "../engine/index.ts";
import type { Member, Range } from "./json-scan.ts";

/**
 * The smallest thing a request is made of: a tool, a system text, a content block of a message. Its bytes are
 * normalised in two ways only, so that the same thing is the same however a client writes it this time: the
 * cache mark is left out, and a bare string is written as the text block it stands for.
 */
export type WireUnit = {
  readonly section: "tools" | "system" | "messages";
  /** Who says it, in the words of the wire: user, assistant, system; tools and system texts are `system`. */
  readonly role: string;
  readonly kind: BlockKind;
  /** The `type` field of the wire. */
  readonly type: string;
  /**
   * Recognises the unit when it is sent again: by tool id, by signature, else by a hash of its text. Equal
   * keys may stand for different copies, which their order tells apart.
   */
  readonly key: string;
  /** The call a tool call makes or a tool result answers. */
  readonly callId: string | null;
  readonly hash: ContentHash;
  /** Of its bytes. */
  readonly length: number;
  /**
   * Which bytes of the body are which bytes of the unit, relative to where its message or section starts. The
   * bytes themselves are not kept: a unit lives as long as its session, a body only until the next one.
   */
  readonly places: readonly UnitPlace[];
  /** Whether it was a bare string. */
  readonly bare: boolean;
  /** The cache mark the client put on it or inside it, as JSON; null without one. */
  readonly mark: string | null;
  /** A tool the model does not see until somebody names it. */
  readonly isDeferred: boolean;
};
export type UnitPlace = { readonly at: number; readonly from: number; readonly length: number };

/** A message with where it lies, or a whole section before the messages. */
export type WireGroup = {
  readonly role: string;
  readonly range: Range;
  readonly units: readonly WireUnit[];
  /** What stands before the first unit of a message and behind its last, written as a list of blocks. */
  readonly head: string;
  readonly tail: string;
  /** What a message says besides its role and its content, in canonical form; empty for most. */
  readonly extra: string;
  /** Whether any of its units bears a cache mark. */
  readonly isMarked: boolean;
};

/** A request, looked into as far as recording and recognising it need. */
export type WireRequest = {
  readonly bytes: Buffer;
  /** How many bytes from its start are those of the request it was read after. */
  readonly shared: number;
  readonly model: string | null;
  readonly tools: WireGroup;
  readonly system: WireGroup;
  readonly messages: readonly WireGroup[];
  /** The keys of all that is said in the messages. */
  readonly talk: readonly string[];
  /** What the client says about its session inside the body. */
  readonly sessionHint: string | null;
  readonly isStreamed: boolean;
  /** Which messages bear a cache mark. */
  readonly marked: readonly number[];
  /** The fields of the body in their order, with where they lie. */
  readonly members: readonly Member[];
};

/** A block of an answer: it lies in no body in one piece, so its bytes come with it. */
export type AnswerUnit = { readonly unit: WireUnit; readonly bytes: Uint8Array };

/** An answer, read from a copy of its bytes. */
export type WireAnswer = {
  readonly units: readonly AnswerUnit[];
  readonly usage: Usage | null;
  readonly model: string | null;
  readonly stop: string | null;
  /** How many tool results the provider says it has left out; null where it says nothing of it. */
  readonly cleared: number | null;
  /** Whether the protocol says that this was all: its last event came, or its JSON is whole. */
  readonly isWhole: boolean;
  /** The provider's own error, or what could not be read; null for an answer in order. */
  readonly problem: string | null;
};

import type { BlockId, ContentHash, MessageId, Seq, StreamId, Turn } from "../../base/index.ts";
import type { ContentForm } from "./exchange.ts";

export const blockKinds = [
  "system",
  "user",
  "assistant",
  "reasoning",
  "tool-call",
  "tool-result",
  "media",
  "memory",
  "ambient",
  "notice",
  /** An agent that is to answer or a tool that is to run. The block is present while that goes on. */
  "activation",
] as const;
export type BlockKind = (typeof blockKinds)[number];

/**
 * A level says how much of a block is wanted. Its text is always made from the original, never from another
 * level.
 */
export const levels = ["original", "trimmed", "summarized", "minimal"] as const;
export type Level = (typeof levels)[number];

/**
 * The form a ledger really sends of a block: a level, a placeholder (the block is pruned), or nothing at all.
 */
export const shownForms = [...levels, "placeholder", "absent"] as const;
export type Shown = (typeof shownForms)[number];

export const taints = ["user", "model", "untrusted"] as const;
export type Taint = (typeof taints)[number];

export const scopes = ["session", "project"] as const;
export type Scope = (typeof scopes)[number];

/** A count is frozen when it is first made: a block that was shown once is never counted anew. */
export type Tokens = { readonly count: number; readonly exact: boolean };

/**
 * The turn at which a block is lowered by one level, and the span that is added when it is renewed. The turn
 * is absolute, so it never moves back.
 */
export type Ttl = { readonly at: Turn; readonly spanTurns: number };

/**
 * The part of a block that never changes. Everything that may change lives in the facts of a view or in the
 * block's attributes.
 */
export type Block = {
  readonly id: BlockId;
  readonly kind: BlockKind;
  readonly stream: StreamId;
  readonly message: MessageId;
  readonly turn: Turn;
  readonly speaker: string;
  readonly content: ContentHash;
  /** The form of the content. Absent in frames written before there was a choice: the Messages API. */
  readonly form?: ContentForm;
  /**
   * Recognises the block when a client sends it again: a tool id, an item id, a signature, or a text hash.
   */
  readonly anchor: string;
  /** Blocks with one pair id live and change together: a call, its results, the reasoning that led to it. */
  readonly pair: MessageId | null;
  readonly taint: Taint;
  /** The block this one replaced when it was created. */
  readonly supersedes: BlockId | null;
  readonly ttl: Ttl | null;
  /** Set for a block that is present only in the frame that added it. */
  readonly ephemeral?: true;
  /** Shown only while the scope of that name is open. */
  readonly during?: string;
};

/**
 * The stored text of a block at one level. Writing it and setting the level are two deltas, so that a
 * rendition can be prepared early.
 */
export type Rendition = { readonly content: ContentHash; readonly tokens: Tokens };

/** Attributes of a block that change rarely and are the same for every view. */
export type BlockAttributes = {
  readonly present: boolean;
  readonly purged: boolean;
  readonly tokens: Tokens | null;
  readonly topics: readonly string[];
  readonly scope: Scope;
  readonly renditions: Readonly<Partial<Record<Level, Rendition>>>;
};

export type AddedBlock = Block & { readonly addedSeq: Seq };

/** The next free number of a block and of a message. */
export type NextIds = { readonly block: number; readonly message: number };

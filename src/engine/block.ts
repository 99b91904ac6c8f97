import type { BlockId, ContentHash, MessageId, Seq, StreamId, Turn } from "../base/index.ts";

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
  /** Somebody is asked to act: an agent to answer, a tool to run. There as long as that goes on. */
  "activation",
] as const;
export type BlockKind = (typeof blockKinds)[number];

/** How much of a block is wanted. Always made from the pristine original, never from another level. */
export const levels = ["original", "trimmed", "summarized", "minimal"] as const;
export type Level = (typeof levels)[number];

/** What the ledger really shows: a level, a placeholder (the block is pruned), or nothing at all. */
export const shownForms = [...levels, "placeholder", "absent"] as const;
export type Shown = (typeof shownForms)[number];

export const taints = ["user", "model", "untrusted"] as const;
export type Taint = (typeof taints)[number];

export const scopes = ["session", "project"] as const;
export type Scope = (typeof scopes)[number];

/** A count is frozen when it is first made: what was shown once is never counted anew. */
export type Tokens = { readonly count: number; readonly exact: boolean };

/**
 * Turns until a block is lowered by one level, and the turn at which that happens. Absolute, so it never
 * moves back.
 */
export type Ttl = { readonly at: Turn; readonly spanTurns: number };

/**
 * What a block is, for good. Everything that may change lives in the facts of a view or in a log of its own.
 */
export type Block = {
  readonly id: BlockId;
  readonly kind: BlockKind;
  readonly stream: StreamId;
  readonly message: MessageId;
  readonly turn: Turn;
  readonly speaker: string;
  readonly content: ContentHash;
  /**
   * What recognises the block when a client sends it again: a tool id, an item id, a signature, or a text
   * hash.
   */
  readonly anchor: string;
  /** Blocks with one pair id live and change together: a call, its results, the reasoning that led to it. */
  readonly pair: MessageId | null;
  readonly taint: Taint;
  /** The block this one was made to replace, at its creation. */
  readonly supersedes: BlockId | null;
  readonly ttl: Ttl | null;
  /** It is there in the frame that brought it, and gone with the next. */
  readonly ephemeral?: true;
  /** Shown only while the scope of that name is open. */
  readonly during?: string;
};

/**
 * The stored text of a block at one level. Writing it and wanting it are two deltas: it may be prepared
 * early.
 */
export type Rendition = { readonly content: ContentHash; readonly tokens: Tokens };

/** Things a block has that change rarely and are the same for every view. */
export type BlockNotes = {
  readonly present: boolean;
  readonly purged: boolean;
  readonly tokens: Tokens | null;
  readonly topics: readonly string[];
  readonly scope: Scope;
  readonly renditions: Readonly<Partial<Record<Level, Rendition>>>;
};

export type AddedBlock = Block & { readonly addedSeq: Seq };

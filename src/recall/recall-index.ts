import type { BlockId, Turn } from "../base/index.ts";
import type { BlockKind } from "../engine/frames/index.ts";

/** A block in the index: it is found by its text and its speaker. */
export type RecallSource = {
  readonly block: BlockId;
  readonly kind: BlockKind;
  readonly turn: Turn;
  readonly speaker: string;
  readonly text: string;
};

export type RecallOptions = {
  /** Maximum number of hits; `limits.recallHitsMax` also applies. */
  readonly max: number;
  /** The present turn: of two blocks with the same match, the later one comes first. */
  readonly now: Turn;
  /** Maximum characters of each excerpt. Absent: some hundred. */
  readonly excerptChars?: number;
};

/** Whole lines around a match, or a piece of a line that is very long. */
export type RecallExcerpt = {
  readonly text: string;
  /** The offset in the text of the block, in characters from 0. */
  readonly from: number;
  /** The first line, from 1. */
  readonly line: number;
  /** True if the excerpt is the whole text. */
  readonly isWhole: boolean;
};

export type RecallHit = { readonly block: BlockId; readonly score: number; readonly excerpt: RecallExcerpt };

/** Finds blocks of one stream by words. The caller decides which hits may be shown. */
export type RecallIndex = {
  /** Adds a block, or replaces it. */
  readonly add: (source: RecallSource) => void;
  /** Removes a block that was purged or withheld. An unknown block is ignored. */
  readonly remove: (block: BlockId) => void;
  /** Best first. */
  readonly find: (query: string, options: RecallOptions) => readonly RecallHit[];
  /** The blocks that contain every word: a command that names a topic means these. Best first. */
  readonly findTopic: (words: string) => readonly BlockId[];
};

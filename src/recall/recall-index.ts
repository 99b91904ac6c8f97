import type { BlockId, Turn } from "../base/index.ts";
import type { BlockKind } from "../engine/index.ts";

/** A block as it is found again: by what it says, and by who said it. */
export type RecallSource = {
  readonly block: BlockId;
  readonly kind: BlockKind;
  readonly turn: Turn;
  readonly speaker: string;
  readonly text: string;
};

export type RecallAsked = {
  /** Hits wanted at most; never more than there may be in one answer. */
  readonly max: number;
  /** The turn in which it is asked: of two that fit alike, the later one comes first. */
  readonly now: Turn;
  /** Characters of each excerpt; some hundred unless told. */
  readonly excerptChars?: number;
};

/** Whole lines around what was asked for, or a piece of one that is very long. */
export type Excerpt = {
  readonly text: string;
  /** Where it begins in the text of the block, in characters from 0. */
  readonly from: number;
  /** The line it begins in, from 1. */
  readonly line: number;
  /** Whether it is all there is. */
  readonly isWhole: boolean;
};

export type RecallHit = { readonly block: BlockId; readonly score: number; readonly excerpt: Excerpt };

/** Finds blocks of one stream by words. It decides nothing: what may be shown, its caller knows. */
export type RecallIndex = {
  /** A block that is there already is taken anew. */
  readonly add: (source: RecallSource) => void;
  /** What was purged or withheld. A block that is not there is no mistake. */
  readonly forget: (block: BlockId) => void;
  /** Best first. */
  readonly find: (query: string, asked: RecallAsked) => readonly RecallHit[];
  /** The blocks in which every one of the words stands: what a command means by a topic. Best first. */
  readonly topic: (words: string) => readonly BlockId[];
};

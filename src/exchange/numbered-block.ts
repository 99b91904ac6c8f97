import type { BlockKind, Ttl } from "../engine/frames/index.ts";

/** The numbers of a block and its message, and the turn in which the block was first sent. */
export type KnownBlock = { readonly block: number; readonly message: number; readonly turn: number };

/** A block with the number that the planner gave it when it was first sent. The log keeps that number. */
export type NumberedBlock = KnownBlock & {
  readonly kind: BlockKind;
  /** An estimate that is made once. */
  readonly tokens: number;
  readonly ttl: Ttl | null;
};

/** The blocks of an answer in order, null for units without a number. Null if the answer was not read. */
export type BlockNumbers = readonly (NumberedBlock | null)[] | null;

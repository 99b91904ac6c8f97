import type { NumberedBlock, Wishes } from "../exchange/index.ts";
import type { BlockCount, BlockSum, SizedBlock } from "./path-blocks.ts";

/** The blocks that were sent or answered since the log last reported the stream. */
export type UnloggedBlocks = {
  /** Whether the stream began in this planner, so that every block that was sent is noted. */
  readonly isComplete: boolean;
  /** The last turn that the log has reported. */
  readonly loggedTurn: number;
  readonly blocks: readonly NumberedBlock[];
  /** The totals of those blocks. */
  readonly totals: BlockSum;
  /** Tokens freed by rewrites that the log has not reported, and the turn of the last one. */
  readonly freed: { readonly turn: number; readonly tokens: number };
};

/** A log that is this far behind will not catch up. */
const blocksMax = 2_000;
const repeatedMax = 256;

export const noBlocks: BlockSum = { front: { blocks: 0, tokens: 0 }, rest: { blocks: 0, tokens: 0 } };
const nothingFreed = { turn: 0, tokens: 0 } as const;

export function noUnlogged(isComplete: boolean): UnloggedBlocks {
  return { isComplete, loggedTurn: 0, blocks: [], totals: noBlocks, freed: nothingFreed };
}

/** Whether every block since the log's report is there. */
export function hasAllBlocks({ blocks }: UnloggedBlocks): boolean {
  return blocks.length < blocksMax;
}

/** Adds blocks that were sent or answered. */
export function addUnlogged(
  unlogged: UnloggedBlocks,
  sent: readonly (NumberedBlock | null)[],
): UnloggedBlocks {
  const { loggedTurn } = unlogged;
  // A block that is sent again was last sent with the turn before.
  const known = new Set(unlogged.blocks.slice(-repeatedMax).map(({ block }) => block));
  // The client repeats every answer; that does not make it new.
  const isNew = ({ block, turn }: NumberedBlock): boolean => turn > loggedTurn && !known.has(block);
  const fresh = sent.filter((one): one is NumberedBlock => one !== null && isNew(one));
  if (fresh.length === 0) return unlogged;
  const blocks = [...unlogged.blocks, ...fresh].slice(-blocksMax);
  const isBounded = blocks.length === blocksMax;
  const totals = isBounded ? addBlocks(noBlocks, blocks) : addBlocks(unlogged.totals, fresh);
  return { ...unlogged, blocks, totals };
}

/** A rewrite was sent: until the log reports that turn, its facts count these tokens too many. */
export function addFreed(unlogged: UnloggedBlocks, turn: number, tokens: number): UnloggedBlocks {
  return tokens > 0 ? { ...unlogged, freed: { turn, tokens: unlogged.freed.tokens + tokens } } : unlogged;
}

/** Drops what the log reports now. */
export function dropLogged(unlogged: UnloggedBlocks, loggedTurn: number): UnloggedBlocks {
  const blocks = unlogged.blocks.filter(({ turn }) => turn > loggedTurn);
  const freed = loggedTurn >= unlogged.freed.turn ? nothingFreed : unlogged.freed;
  return { ...unlogged, loggedTurn, blocks, totals: addBlocks(noBlocks, blocks), freed };
}

/** Tokens of the next prompt without its new content. Null if neither log nor ledger knows all of it. */
export function usedTokens(unlogged: UnloggedBlocks, latest: Wishes | null): number | null {
  if (latest === null && (!unlogged.isComplete || !hasAllBlocks(unlogged))) return null;
  const { front, rest } = unlogged.totals;
  const logged = latest === null ? 0 : Math.max(0, latest.facts.used - unlogged.freed.tokens);
  return logged + front.tokens + rest.tokens;
}

export function addBlocks(sum: BlockSum, blocks: readonly SizedBlock[]): BlockSum {
  const [front, rest] = splitFront(blocks);
  return { front: addToCount(sum.front, front), rest: addToCount(sum.rest, rest) };
}

/** The blocks of the head, and all others. */
export function splitFront(
  blocks: readonly SizedBlock[],
): readonly [readonly SizedBlock[], readonly SizedBlock[]] {
  const isFront = ({ kind }: SizedBlock): boolean => kind === "system";
  return [blocks.filter(isFront), blocks.filter((block) => !isFront(block))];
}

function addToCount({ blocks, tokens }: BlockCount, more: readonly SizedBlock[]): BlockCount {
  return { blocks: blocks + more.length, tokens: tokens + blockTokens(more) };
}

export function blockTokens(blocks: readonly SizedBlock[]): number {
  return blocks.reduce((sum, { tokens }) => sum + tokens, 0);
}

import type { BlockRow, SegmentRow, Zone } from "../api/contract.ts";

/** A block on the strip. `start` and `end` are shares of the width. */
export type PlacedBlock = {
  readonly n: number;
  readonly index: number;
  readonly start: number;
  readonly end: number;
  readonly row: BlockRow;
};

/** One drawn rectangle: a block, or a run of tiny blocks of one zone. */
export type Piece = {
  readonly start: number;
  readonly end: number;
  readonly zone: Zone;
  /** The first and the last block. */
  readonly from: number;
  readonly to: number;
  readonly isRun: boolean;
  readonly isLowered: boolean;
  readonly isPending: boolean;
  readonly isOurs: boolean;
  /** The last turn that used one of the blocks. */
  readonly usedTurn: number;
};

export type Scale = {
  /** Tokens of the whole width. */
  readonly size: number;
  /** Tokens before the first block: the client's tools and framing. */
  readonly before: number;
};

/** The position of each block of the window, in request order. */
export function placeBlocks(blocks: readonly BlockRow[], { size, before }: Scale): readonly PlacedBlock[] {
  const placed: PlacedBlock[] = [];
  let tokens = before;
  for (const [index, row] of blocks.entries()) {
    if (!row.counted) continue;
    const after = tokens + (row.tokens ?? 0);
    placed.push({ n: row.n, index, start: tokens / size, end: after / size, row });
    tokens = after;
  }
  return placed;
}

/** Merges blocks that are narrower than `least`, a share of the width. */
export function piecesOf(placed: readonly PlacedBlock[], least: number): readonly Piece[] {
  const pieces: Piece[] = [];
  for (const block of placed) {
    const before = pieces.at(-1);
    const isSmall = block.end - block.start < least;
    const joins = before !== undefined && isSmall && mayJoin(before, block, least);
    if (joins) pieces[pieces.length - 1] = joinPieces(before, block);
    else pieces.push(pieceOf(block));
  }
  return pieces;
}

/** One piece per zone, until all blocks are read. */
export function zonePieces(strip: readonly SegmentRow[], { size, before }: Scale): readonly Piece[] {
  let tokens = before;
  return strip.map(({ zone, from, to, blocks, tokens: own }) => {
    const start = tokens / size;
    tokens += own;
    const plain = { isLowered: false, isPending: false, isOurs: false, usedTurn: 0 };
    return { start, end: tokens / size, zone, from, to, isRun: blocks > 1, ...plain };
  });
}

/** A run ends with its zone, or once it is wide enough to be visible. */
function mayJoin(piece: Piece, block: PlacedBlock, least: number): boolean {
  return piece.zone === block.row.zone && piece.end - piece.start < least * 2;
}

function pieceOf(block: PlacedBlock): Piece {
  const { row, start, end } = block;
  return {
    start,
    end,
    zone: row.zone,
    from: block.n,
    to: block.n,
    isRun: false,
    isLowered: row.shown !== "original",
    isPending: row.pending,
    isOurs: row.origin === "aperture",
    usedTurn: row.lastUsedTurn,
  };
}

function joinPieces(piece: Piece, block: PlacedBlock): Piece {
  return {
    ...piece,
    end: block.end,
    to: block.n,
    isRun: true,
    isLowered: piece.isLowered || block.row.shown !== "original",
    isPending: piece.isPending || block.row.pending,
    isOurs: piece.isOurs && block.row.origin === "aperture",
    usedTurn: Math.max(piece.usedTurn, block.row.lastUsedTurn),
  };
}

/** The block at a share of the width, if there is one. */
export function blockAt(placed: readonly PlacedBlock[], share: number): PlacedBlock | null {
  let [low, high] = [0, placed.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const block = placed[middle];
    if (block === undefined) return null;
    if (share < block.start) high = middle - 1;
    else if (share >= block.end) low = middle + 1;
    else return block;
  }
  return null;
}

/** The blocks between the two ends of a drag. */
export function blocksBetween(
  placed: readonly PlacedBlock[],
  one: number,
  other: number,
): readonly PlacedBlock[] {
  const [from, to] = one < other ? [one, other] : [other, one];
  return placed.filter(({ start, end }) => end > from && start <= to && end > start);
}

export type Span = { readonly start: number; readonly end: number };

/** Joins chosen neighbours into one outline. */
export function chosenSpans(placed: readonly PlacedBlock[], chosen: ReadonlySet<number>): readonly Span[] {
  const spans: { start: number; end: number }[] = [];
  let wasChosen = false;
  for (const { n, start, end } of placed) {
    const isChosen = chosen.has(n);
    const last = spans.at(-1);
    if (isChosen && wasChosen && last !== undefined) last.end = end;
    else if (isChosen) spans.push({ start, end });
    wasChosen = isChosen;
  }
  return spans;
}

/** How recently a piece was used: 4 in the last two turns, 0 more than 12 turns ago. */
export function heatOf({ usedTurn }: Pick<Piece, "usedTurn">, turn: number): 0 | 1 | 2 | 3 | 4 {
  const age = turn - usedTurn;
  if (age <= 1) return 4;
  if (age <= 3) return 3;
  if (age <= 6) return 2;
  return age <= 12 ? 1 : 0;
}

import type { BlockRow, SegmentRow, Zone } from "../api/contract.ts";

/** A block on the strip, as shares of the whole width. */
export type Place = {
  readonly n: number;
  readonly index: number;
  readonly start: number;
  readonly end: number;
  readonly row: BlockRow;
};

/** What is drawn as one: a block, or a run of blocks of one zone too small to be seen apart. */
export type Piece = {
  readonly start: number;
  readonly end: number;
  readonly zone: Zone;
  /** The first block of it, and the last. */
  readonly from: number;
  readonly to: number;
  readonly isRun: boolean;
  readonly isLowered: boolean;
  readonly isPending: boolean;
  readonly isOurs: boolean;
  /** The turn in which any of it was used last. */
  readonly usedTurn: number;
};

export type Scale = {
  /** Tokens of the whole width. */
  readonly size: number;
  /** Tokens before the first block: tools and framing of the client. */
  readonly before: number;
};

/** Where the blocks of the window stand, in the order of the request. */
export function placesOf(blocks: readonly BlockRow[], { size, before }: Scale): readonly Place[] {
  const places: Place[] = [];
  let tokens = before;
  for (const [index, row] of blocks.entries()) {
    if (!row.counted) continue;
    const after = tokens + (row.tokens ?? 0);
    places.push({ n: row.n, index, start: tokens / size, end: after / size, row });
    tokens = after;
  }
  return places;
}

/** `least`: the width below which a block is not drawn alone, as a share. */
export function piecesOf(places: readonly Place[], least: number): readonly Piece[] {
  const pieces: Piece[] = [];
  for (const place of places) {
    const before = pieces.at(-1);
    const isSmall = place.end - place.start < least;
    const joins = before !== undefined && isSmall && fits(before, place, least);
    if (joins) pieces[pieces.length - 1] = joined(before, place);
    else pieces.push(pieceOf(place));
  }
  return pieces;
}

/** As long as not all blocks were read: each zone as one run, where its blocks will stand. */
export function zonePieces(strip: readonly SegmentRow[], { size, before }: Scale): readonly Piece[] {
  let tokens = before;
  return strip.map(({ zone, from, to, blocks, tokens: own }) => {
    const start = tokens / size;
    tokens += own;
    const plain = { isLowered: false, isPending: false, isOurs: false, usedTurn: 0 };
    return { start, end: tokens / size, zone, from, to, isRun: blocks > 1, ...plain };
  });
}

/** A run ends where the zone does, or where it has become wide enough to be seen. */
function fits(piece: Piece, place: Place, least: number): boolean {
  return piece.zone === place.row.zone && piece.end - piece.start < least * 2;
}

function pieceOf(place: Place): Piece {
  const { row, start, end } = place;
  return {
    start,
    end,
    zone: row.zone,
    from: place.n,
    to: place.n,
    isRun: false,
    isLowered: row.shown !== "original",
    isPending: row.pending,
    isOurs: row.origin === "aperture",
    usedTurn: row.lastUsedTurn,
  };
}

function joined(piece: Piece, place: Place): Piece {
  return {
    ...piece,
    end: place.end,
    to: place.n,
    isRun: true,
    isLowered: piece.isLowered || place.row.shown !== "original",
    isPending: piece.isPending || place.row.pending,
    isOurs: piece.isOurs && place.row.origin === "aperture",
    usedTurn: Math.max(piece.usedTurn, place.row.lastUsedTurn),
  };
}

/** The block under a share of the width; null: there is none. */
export function placeAt(places: readonly Place[], share: number): Place | null {
  let [low, high] = [0, places.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const place = places[middle];
    if (place === undefined) return null;
    if (share < place.start) high = middle - 1;
    else if (share >= place.end) low = middle + 1;
    else return place;
  }
  return null;
}

/** The blocks a drag has touched. */
export function placesBetween(places: readonly Place[], one: number, other: number): readonly Place[] {
  const [from, to] = one < other ? [one, other] : [other, one];
  return places.filter(({ start, end }) => end > from && start <= to && end > start);
}

export type Span = { readonly start: number; readonly end: number };

/** Neighbours that are chosen become one outline. */
export function spansOf(places: readonly Place[], chosen: ReadonlySet<number>): readonly Span[] {
  const spans: { start: number; end: number }[] = [];
  let wasChosen = false;
  for (const { n, start, end } of places) {
    const isChosen = chosen.has(n);
    const last = spans.at(-1);
    if (isChosen && wasChosen && last !== undefined) last.end = end;
    else if (isChosen) spans.push({ start, end });
    wasChosen = isChosen;
  }
  return spans;
}

/** How recently something was used, from 4 (this turn or the last) to 0 (not for a long time). */
export function heatOf({ usedTurn }: Pick<Piece, "usedTurn">, turn: number): 0 | 1 | 2 | 3 | 4 {
  const age = turn - usedTurn;
  if (age <= 1) return 4;
  if (age <= 3) return 3;
  if (age <= 6) return 2;
  return age <= 12 ? 1 : 0;
}

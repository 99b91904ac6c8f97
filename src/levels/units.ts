import { costOf } from "./cost.ts";

/** What is kept or left out as a whole: a line, or a piece of a line that is too long for that. */
export type Unit = {
  readonly line: number;
  readonly text: string;
  readonly cost: number;
  /** Whether the line goes on with the next unit. */
  readonly goesOn: boolean;
};

const lineCharsMax = 400;
const pieceCharsMax = 200;

export function unitsOf(text: string): readonly Unit[] {
  const units: Unit[] = [];
  for (const [line, whole] of text.split("\n").entries()) {
    const pieces = whole.length > lineCharsMax ? piecesOf(whole) : [whole];
    for (const [at, piece] of pieces.entries())
      units.push({ line, text: piece, cost: costOf(piece), goesOn: at < pieces.length - 1 });
  }
  return units;
}

/** Where a long line may be cut, best first: between sentences or items, between words. */
const cuts = [/[.;!?]\s+|[,}\]>](?=["{[<])/g, /[\s,;]+/g];

/** Pieces that together are the line, cut where a reader would. */
export function piecesOf(line: string): readonly string[] {
  const pieces: string[] = [];
  let start = 0;
  while (line.length - start > pieceCharsMax) {
    const end = start + cutIn(line.slice(start, start + pieceCharsMax));
    pieces.push(line.slice(start, end));
    start = end;
  }
  pieces.push(line.slice(start));
  return pieces;
}

function cutIn(window: string): number {
  for (const cut of cuts) {
    let end = 0;
    for (const match of window.matchAll(cut)) end = match.index + match[0].length;
    if (end > window.length / 4) return end;
  }
  const last = window.charCodeAt(window.length - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return splitsPair ? window.length - 1 : window.length;
}

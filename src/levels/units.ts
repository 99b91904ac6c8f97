import { costOf } from "./cost.ts";

/** What is kept or left out as a whole: a line, or a piece of a line that is too long for that. */
export type Unit = {
  readonly text: string;
  readonly cost: number;
  /** Whether the line goes on with the next unit. */
  readonly goesOn: boolean;
};

const lineCharsMax = 160;
const pieceCharsMax = 80;
const wholeCharsMax = 400;
/** A piece goes on as far as this if there is no place to cut it. */
const unbrokenCharsMax = 480;

/** Lines that `staysWhole` names are not cut, unless they are very long. */
export function unitsOf(text: string, staysWhole: (line: string) => boolean): readonly Unit[] {
  const units: Unit[] = [];
  for (const line of text.split("\n")) {
    if (line === "") {
      units.push(emptyLine);
      continue;
    }
    if (line.length <= lineCharsMax || (line.length <= wholeCharsMax && staysWhole(line))) {
      units.push({ text: line, cost: costOf(line), goesOn: false });
      continue;
    }
    const pieces = piecesOf(line);
    const last = pieces.length - 1;
    for (const [at, piece] of pieces.entries())
      units.push({ text: piece, cost: costOf(piece), goesOn: at < last });
  }
  return units;
}

const emptyLine: Unit = { text: "", cost: costOf(""), goesOn: false };

/** Where a reader would cut a long line: behind a sentence, an item, a tag; else behind a word. */
const endOfItem = /[.;!?]\s+|[,}\]>](?=["'{[<\s])|[;}](?=[\w.#])|\\n/g;
const endOfWord = /[\s,;|]+/g;

/** Pieces that together are the line. */
export function piecesOf(line: string): readonly string[] {
  const pieces: string[] = [];
  let start = 0;
  while (line.length - start > pieceCharsMax) {
    const end = start + cutIn(line.slice(start, start + unbrokenCharsMax));
    pieces.push(line.slice(start, end));
    start = end;
  }
  if (start < line.length) pieces.push(line.slice(start));
  return pieces;
}

function cutIn(window: string): number {
  const near = window.slice(0, pieceCharsMax);
  for (const cut of [endOfItem, endOfWord]) {
    const end = lastEnd(near, cut);
    if (end > pieceCharsMax / 4) return end;
  }
  const next = new RegExp(endOfWord).exec(window);
  if (next !== null) return next.index + next[0].length;
  return window.length < unbrokenCharsMax ? window.length : wholeCharacters(window);
}

function lastEnd(text: string, cut: RegExp): number {
  let end = 0;
  for (const match of text.matchAll(cut)) end = match.index + match[0].length;
  return end;
}

/** Signs that belong to what stands before them. */
const joinedSign = /[\p{M}\u200d]/u;
const lookBackMax = 16;

/** The window without its last character, which may go on behind it. */
function wholeCharacters(window: string): number {
  for (let end = window.length - 1; end > window.length - lookBackMax; end -= 1) {
    const isJoined = joinedSign.test(window.charAt(end)) || window.charAt(end - 1) === "\u200d";
    if (!isJoined && !isSecondHalf(window, end)) return end;
  }
  return isSecondHalf(window, window.length - 1) ? window.length - 2 : window.length - 1;
}

function isSecondHalf(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}

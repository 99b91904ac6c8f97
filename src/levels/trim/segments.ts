import { costOf } from "../cost.ts";

/** The smallest part of a text that is kept or left out: a line, or a piece of a long line. */
export type Segment = {
  readonly text: string;
  readonly cost: number;
  /** Whether the next segment belongs to the same line. */
  readonly isContinued: boolean;
};

const lineCharsMax = 160;
const pieceCharsMax = 80;
const wholeCharsMax = 400;
/** The length of a piece that has no good place to cut. */
const unbrokenCharsMax = 480;

/** Splits a text into segments. Lines that pass `staysWhole` are not cut, unless they are very long. */
export function splitSegments(text: string, staysWhole: (line: string) => boolean): readonly Segment[] {
  const segments: Segment[] = [];
  for (const line of text.split("\n")) {
    if (line === "") {
      segments.push(emptyLine);
      continue;
    }
    if (line.length <= lineCharsMax || (line.length <= wholeCharsMax && staysWhole(line))) {
      segments.push({ text: line, cost: costOf(line), isContinued: false });
      continue;
    }
    const pieces = splitLine(line);
    const last = pieces.length - 1;
    for (const [at, piece] of pieces.entries())
      segments.push({ text: piece, cost: costOf(piece), isContinued: at < last });
  }
  return segments;
}

const emptyLine: Segment = { text: "", cost: costOf(""), isContinued: false };

/** A long line is cut after a sentence, an item or a tag; if there is none, after a word. */
const endOfItem = /[.;!?]\s+|[,}\]>](?=["'{[<\s])|[;}](?=[\w.#])|\\n/g;
const endOfWord = /[\s,;|]+/g;

/** Cuts a line into pieces; joined, they are the line again. */
export function splitLine(line: string): readonly string[] {
  const pieces: string[] = [];
  let start = 0;
  while (line.length - start > pieceCharsMax) {
    const end = start + cutPosition(line.slice(start, start + unbrokenCharsMax));
    pieces.push(line.slice(start, end));
    start = end;
  }
  if (start < line.length) pieces.push(line.slice(start));
  return pieces;
}

function cutPosition(window: string): number {
  const near = window.slice(0, pieceCharsMax);
  for (const cut of [endOfItem, endOfWord]) {
    const end = lastEnd(near, cut);
    if (end > pieceCharsMax / 4) return end;
  }
  const next = new RegExp(endOfWord).exec(window);
  if (next !== null) return next.index + next[0].length;
  return window.length < unbrokenCharsMax ? window.length : cutBetweenCharacters(window);
}

function lastEnd(text: string, cut: RegExp): number {
  let end = 0;
  for (const match of text.matchAll(cut)) end = match.index + match[0].length;
  return end;
}

/** Combining marks and joiners belong to the character before them. */
const combiningMark = /[\p{M}\u200d]/u;
const lookBackMax = 16;

/** The last position in the window that does not split a character of several code units. */
function cutBetweenCharacters(window: string): number {
  for (let end = window.length - 1; end > window.length - lookBackMax; end -= 1) {
    const isJoined = combiningMark.test(window.charAt(end)) || window.charAt(end - 1) === "\u200d";
    if (!isJoined && !isLowSurrogate(window, end)) return end;
  }
  return isLowSurrogate(window, window.length - 1) ? window.length - 2 : window.length - 1;
}

function isLowSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}

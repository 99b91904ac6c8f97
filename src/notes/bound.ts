import { commonWords } from "./common-words.ts";

/**
 * An upper bound of the o200k tokens of a text, without the vocabulary. The tokenizer cuts a text into words,
 * numbers of up to three digits and runs of punctuation before it looks anything up. A piece never has more
 * tokens than bytes, and almost every pair of small letters is a token.
 */
export function boundedTokens(text: string): number {
  return plainBound(text) ?? boundedPieces(text).reduce((sum, { bound }) => sum + bound, 0);
}

/** The bound of an ASCII text, computed character by character for speed. Null if it is not ASCII. */
function plainBound(text: string): number | null {
  let sum = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code > 126) return null;
    const end = isLetter(code)
      ? wordEnd(text, at)
      : isDigit(code)
        ? digitsEnd(text, at)
        : blanksEnd(text, at);
    if (isLetter(code)) sum += wordBound(text.slice(at, end));
    else if (isDigit(code)) sum += 1;
    else if (end === at) sum += 1;
    else sum += end - at === 1 && code === space && takesBlank(text.charCodeAt(end)) ? 0 : end - at;
    at = Math.max(end, at + 1);
  }
  return sum;
}

const space = 32;

function isUpper(code: number): boolean {
  return code >= 65 && code <= 90;
}

function isLower(code: number): boolean {
  return code >= 97 && code <= 122;
}

function isLetter(code: number): boolean {
  return isUpper(code) || isLower(code);
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isBlank(code: number): boolean {
  return code === space || (code >= 9 && code <= 13);
}

/** The tokenizer adds one blank to the word or punctuation after it, but not to a number. */
function takesBlank(next: number): boolean {
  return next > space && next < 127 && !isDigit(next);
}

/** Capitals and then small letters; a capital alone ends before the next one only if small letters follow. */
function wordEnd(text: string, start: number): number {
  let at = start;
  while (isUpper(text.charCodeAt(at))) at += 1;
  while (isLower(text.charCodeAt(at))) at += 1;
  return at;
}

function digitsEnd(text: string, start: number): number {
  let at = start;
  while (at < start + 3 && isDigit(text.charCodeAt(at))) at += 1;
  return at;
}

/** The position after a run of blanks; the same position if there is none. */
function blanksEnd(text: string, start: number): number {
  let at = start;
  while (isBlank(text.charCodeAt(at))) at += 1;
  return at;
}

/** The longest beginning that surely fits, cut between code points. */
export function boundedStart(text: string, tokensMax: number): string {
  let [start, room] = ["", tokensMax];
  for (const { piece, bound } of boundedPieces(text)) {
    // A blank at the very end would be a token of its own.
    if (bound > room) return `${start}${startOfPiece(piece, room)}`.trimEnd();
    start += piece;
    room -= bound;
  }
  return start;
}

/** The beginning of a common word is not a common word itself, so it is counted letter by letter. */
function startOfPiece(piece: string, room: number): string {
  let start = "";
  for (const character of piece) {
    if (utf8Length(`${start}${character}`) > room) break;
    start += character;
  }
  return start;
}

export type BoundedPiece = { readonly piece: string; readonly bound: number };

export function boundedPieces(text: string): readonly BoundedPiece[] {
  const pieces: BoundedPiece[] = [];
  for (const { 0: piece, index } of text.matchAll(/[\p{L}\p{M}]+|\d{1,3}|\s+|[^\p{L}\p{M}\d\s]/gu)) {
    if (!/^[A-Za-z]+$/.test(piece)) {
      pieces.push({ piece, bound: signBound(piece, text.charCodeAt(index + piece.length)) });
    } else {
      for (const [word] of piece.matchAll(/[A-Z]{2,}[a-z]*|[A-Z]?[a-z]+|[A-Z]/g))
        pieces.push({ piece: word, bound: wordBound(word) });
    }
  }
  return pieces;
}

function signBound(piece: string, next: number): number {
  if (/^\d/.test(piece)) return 1;
  return piece === " " && takesBlank(next) ? 0 : utf8Length(piece);
}

/** Words of our notes that take more than one token. */
export const ownWords: Readonly<Record<string, number>> = {
  BUDGET: 3,
  CANDIDATES: 4,
  COLD: 2,
  CONTEXT: 2,
  EXPIRING: 3,
  LAST: 1,
  MANIFEST: 2,
  MIDDLE: 2,
  PRIMACY: 3,
  PRUNED: 3,
  RECENCY: 2,
  SINCE: 2,
  TURN: 1,
  aperture: 3,
  archived: 2,
  deselected: 3,
  highlighted: 3,
  pinned: 2,
  preserved: 2,
  pruned: 2,
  recall: 2,
  restored: 2,
  signatures: 2,
  summarized: 3,
  superseded: 3,
  topics: 2,
  trimmed: 2,
  turns: 2,
  unpinned: 3,
  withheld: 2,
};

function wordBound(word: string): number {
  if (commonWords.has(word)) return 1;
  return Object.hasOwn(ownWords, word) ? (ownWords[word] ?? word.length) : letterBound(word);
}

/**
 * The tokenizer joins neighbouring small letters, so three letters are at most two tokens. Pairs that are not
 * in the vocabulary contain a rare letter; rare letters and capitals are counted alone.
 */
function letterBound(letters: string): number {
  let [sum, run] = [0, 0];
  for (const letter of letters) {
    const isRare = letter < "a" || rareLetters.includes(letter);
    sum += isRare ? 1 + runBound(run) : 0;
    run = isRare ? 0 : run + 1;
  }
  return sum + runBound(run);
}

const rareLetters = "jkqxz";

function runBound(letters: number): number {
  return Math.ceil((2 * letters) / 3);
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

/**
 * Counts of what a text is made of, taken in one pass. Tokenizers split words, numbers, punctuation and
 * scripts each in their own way, so these counts tell far more about the number of tokens than the length
 * does.
 */
export type TextShape = {
  /** Runs of ASCII letters, split where a capital follows a small letter. */
  readonly words: number;
  /** Letters after the fifth of their word: a long word is more likely to be split. */
  readonly longLetters: number;
  /** Groups of up to three digits. */
  readonly digitGroups: number;
  readonly digits: number;
  /** Runs of ASCII punctuation; `moreSigns` counts the signs after the first of each run. */
  readonly signRuns: number;
  readonly moreSigns: number;
  /** White space with a line break; `blankRuns` counts runs of two and more blanks. */
  readonly breaks: number;
  readonly blankRuns: number;
  /** Characters of runs without words: base64, hashes, keys. */
  readonly noise: number;
  /** Chinese, Japanese and Korean characters. */
  readonly cjk: number;
  /** Letters of other scripts, and Latin ones with accents. */
  readonly foreign: number;
  /** Box drawings, arrows, emoji; a run of the same symbol counts as little more than one. */
  readonly symbols: number;
};

export type Feature = keyof TextShape;

type MutableShape = { -readonly [Name in Feature]: number };

const noCounts: TextShape = {
  words: 0,
  longLetters: 0,
  digitGroups: 0,
  digits: 0,
  signRuns: 0,
  moreSigns: 0,
  breaks: 0,
  blankRuns: 0,
  noise: 0,
  cjk: 0,
  foreign: 0,
  symbols: 0,
};

/** Classes of UTF-16 units. */
const small = 0;
const capital = 1;
const digit = 2;
const sign = 3;
const blank = 4;
const lineBreak = 5;
const cjk = 6;
const foreign = 7;
const symbol = 8;

const asciiClasses = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 97 && code <= 122) return small;
  if (code >= 65 && code <= 90) return capital;
  if (code >= 48 && code <= 57) return digit;
  if (code === 10 || code === 13) return lineBreak;
  return code === 32 || code === 9 ? blank : sign;
});

/**
 * The first unit of each range and the class of the range, in order; a range ends where the next one starts.
 */
const unitRanges: readonly (readonly [from: number, kind: number])[] = [
  [0x80, symbol],
  [0xaa, foreign],
  [0xab, symbol],
  [0xc0, foreign],
  [0x1100, cjk],
  [0x1200, foreign],
  [0x2000, symbol],
  [0x2c00, foreign],
  [0x2e00, symbol],
  [0x2e80, cjk],
  [0xa000, foreign],
  [0xac00, cjk],
  [0xd800, symbol],
  [0xf900, cjk],
  [0xfb00, foreign],
  [0xfe00, symbol],
  [0xfe70, foreign],
  [0xff00, cjk],
  [0xfff0, symbol],
];

/** Holds the class of every UTF-16 unit: a search per character would make other scripts ten times slower. */
const classes = Uint8Array.from({ length: 0x10000 }, (_, code) => asciiClasses[code] ?? 0);
for (const [from, kind] of unitRanges) classes.fill(kind, from);

function classOf(code: number): number {
  return classes[code] as number;
}

/** Runs of letters and digits of at least this length are checked for being noise. */
const noiseLengthMin = 20;
/** Runs are checked in pieces of this length, so that one more character at the end changes little. */
const noiseLengthMax = 64;
/** Words in names have four and more letters on average; in noise, capitals and digits come sooner. */
const noisePieceMax = 3.2;

/** Linear in the length of the text, whatever is in it. */
export function textShapeOf(text: string): TextShape {
  const counts: MutableShape = { ...noCounts };
  let at = 0;
  while (at < text.length) {
    const kind = classOf(text.charCodeAt(at));
    if (kind <= digit) at = countAlphanumeric(text, at, counts);
    else if (kind === sign) at = countSigns(text, at, counts);
    else if (kind === blank || kind === lineBreak) at = countWhiteSpace(text, at, counts);
    else if (kind === symbol) at = countSymbols(text, at, counts);
    else {
      counts[kind === cjk ? "cjk" : "foreign"] += 1;
      at += 1;
    }
  }
  return counts;
}

function countAlphanumeric(text: string, start: number, counts: MutableShape): number {
  const end = endOfRun(text, start);
  const pieces = piecesOf(text, start, end);
  const isNoise =
    end - start >= noiseLengthMin && pieces.letters + pieces.numbers > (end - start) / noisePieceMax;
  if (isNoise) {
    counts.noise += end - start;
    return end;
  }
  counts.words += pieces.letters;
  counts.longLetters += pieces.longLetters;
  counts.digitGroups += pieces.digitGroups;
  counts.digits += pieces.digits;
  counts.signRuns += pieces.signs;
  return end;
}

/** The signs of base64 do not end a run, because noise is checked as a whole. They end the words in it. */
function endOfRun(text: string, start: number): number {
  const last = Math.min(text.length, start + noiseLengthMax);
  let at = start + 1;
  while (at < last) {
    const code = text.charCodeAt(at);
    const isBase64Sign = code === plusCode || code === slashCode;
    if (code >= 128 || ((asciiClasses[code] as number) > digit && !isBase64Sign)) break;
    at += 1;
  }
  return at;
}

const plusCode = 0x2b;
const slashCode = 0x2f;

function piecesOf(text: string, start: number, end: number) {
  const pieces = { letters: 0, longLetters: 0, numbers: 0, digitGroups: 0, digits: 0, signs: 0 };
  let at = start;
  while (at < end) {
    const next = endOfPiece(text, at, end);
    const kind = asciiClasses[text.charCodeAt(at)] as number;
    if (kind === sign) pieces.signs += 1;
    else if (kind === digit) {
      pieces.numbers += 1;
      pieces.digits += next - at;
      pieces.digitGroups += Math.ceil((next - at) / 3);
    } else {
      pieces.letters += 1;
      pieces.longLetters += Math.max(0, next - at - 5);
    }
    at = next;
  }
  return pieces;
}

function endOfPiece(text: string, start: number, end: number): number {
  let before = asciiClasses[text.charCodeAt(start)] as number;
  let at = start + 1;
  while (at < end) {
    const kind = asciiClasses[text.charCodeAt(at)] as number;
    const isSameSort = kind === before || (kind === small && before === capital);
    if (!isSameSort) break;
    before = kind;
    at += 1;
  }
  return at;
}

function countSigns(text: string, start: number, counts: MutableShape): number {
  let at = start + 1;
  let different = 0;
  while (at < text.length && classOf(text.charCodeAt(at)) === sign) {
    // A line of dashes is a handful of tokens, however long it is.
    different += text.charCodeAt(at) === text.charCodeAt(at - 1) ? 1 / 8 : 1;
    at += 1;
  }
  counts.signRuns += 1;
  counts.moreSigns += different;
  return at;
}

function countWhiteSpace(text: string, start: number, counts: MutableShape): number {
  let at = start;
  let blanks = 0;
  let breaks = 0;
  let changes = 0;
  let before = -1;
  while (at < text.length) {
    const kind = classOf(text.charCodeAt(at));
    if (kind !== blank && kind !== lineBreak) break;
    if (kind !== before) changes += 1;
    blanks = kind === blank ? blanks + 1 : 0;
    if (kind === lineBreak) breaks += 1;
    before = kind;
    at += 1;
  }
  // A break with indentation after it is usual; every further change starts a token.
  if (breaks > 0) counts.breaks += 1 + breaks / 16 + Math.max(0, changes - 3) / 2;
  // One blank belongs to the word after it.
  if (blanks > 1) counts.blankRuns += 1 + blanks / 64;
  return at;
}

function countSymbols(text: string, start: number, counts: MutableShape): number {
  const code = text.charCodeAt(start);
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) === code) at += 1;
  counts.symbols += 1 + (at - start - 1) / 8;
  return at;
}

/**
 * What a text is made of, counted in one pass. Tokenizers cut words, numbers, signs and scripts each in their
 * own way, so these counts tell far more about the number of tokens than the length does.
 */
export type TextShape = {
  /** Runs of ASCII letters, cut where a small letter is followed by a capital. */
  readonly words: number;
  /** Letters past the fifth of their word: a long word is more likely to be cut. */
  readonly longLetters: number;
  /** Groups of up to three digits. */
  readonly digitGroups: number;
  readonly digits: number;
  /** Runs of ASCII signs, and the signs past the first of their run. */
  readonly signRuns: number;
  readonly moreSigns: number;
  /** White space that holds a line break, and runs of two and more blanks. */
  readonly breaks: number;
  readonly blankRuns: number;
  /** Characters of runs without any word in them: base64, hashes, keys. */
  readonly noise: number;
  /** Chinese, Japanese and Korean characters. */
  readonly cjk: number;
  /** Letters of other scripts, and Latin ones with accents. */
  readonly foreign: number;
  /** Drawings, arrows, emoji; a run of the same one counts as one and a little. */
  readonly symbols: number;
};

export type Feature = keyof TextShape;

type Counts = { -readonly [Name in Feature]: number };

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

/** First unit of each stretch of units and its class, in order; a stretch ends where the next one starts. */
const stretches: readonly (readonly [from: number, kind: number])[] = [
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

/** Every UTF-16 unit has its entry: a search per character would make other scripts ten times slower. */
const classes = Uint8Array.from({ length: 0x10000 }, (_, code) => asciiClasses[code] ?? 0);
for (const [from, kind] of stretches) classes.fill(kind, from);

function classOf(code: number): number {
  return classes[code] as number;
}

/** A run of letters and digits at least this long is looked at: is it made of words at all? */
const noiseLengthMin = 20;
/** Looked at in pieces of this length, so that one more character at the end changes little. */
const noiseLengthMax = 64;
/** Names have words of four and more letters on average; in noise, capitals and digits come sooner. */
const noisePieceMax = 3.2;

/** Linear in the length of the text, whatever is in it. */
export function shapeOf(text: string): TextShape {
  const counts: Counts = { ...noCounts };
  let at = 0;
  while (at < text.length) {
    const kind = classOf(text.charCodeAt(at));
    if (kind <= digit) at = alphanumeric(text, at, counts);
    else if (kind === sign) at = signs(text, at, counts);
    else if (kind === blank || kind === lineBreak) at = whiteSpace(text, at, counts);
    else if (kind === symbol) at = symbols(text, at, counts);
    else {
      counts[kind === cjk ? "cjk" : "foreign"] += 1;
      at += 1;
    }
  }
  return counts;
}

function alphanumeric(text: string, start: number, counts: Counts): number {
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

/** The signs of base64 do not end a run: noise is noise as a whole. They end the words in it. */
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

function signs(text: string, start: number, counts: Counts): number {
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

function whiteSpace(text: string, start: number, counts: Counts): number {
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
  // A break and the indentation behind it is what is usual; every further change starts a token.
  if (breaks > 0) counts.breaks += 1 + breaks / 16 + Math.max(0, changes - 3) / 2;
  // One blank belongs to the word behind it.
  if (blanks > 1) counts.blankRuns += 1 + blanks / 64;
  return at;
}

function symbols(text: string, start: number, counts: Counts): number {
  const code = text.charCodeAt(start);
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) === code) at += 1;
  counts.symbols += 1 + (at - start - 1) / 8;
  return at;
}

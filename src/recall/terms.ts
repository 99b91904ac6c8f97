/** How a term stands in its text. */
export type TermSort = number;
/** A word by itself. */
export const word = 0;
/** A name put together by capitals, underscores or digits: readFile, read_file, sha256. */
export const name = 1;
/** Two neighbours in a path or a dotted name: render/names of src/render/names.ts. */
export const pair = 2;
/** A plain word that stands in a path or a dotted name. */
export const part = 3;
/** What a name is put together from, or one character of a language without blanks. */
export const piece = 4;

/** Longer ones are data, and nobody asks for them. */
const atomCharsMax = 160;
const piecesCharsMax = 64;
/** `std::sort` and `C:\\sort`, but not a line of dots. */
const gapCharsMax = 2;

/** What a character is to somebody who looks for words. Those up to `letter` make up a word. */
type Sort = number;
const underscore = 1;
const lower = 2;
const upper = 3;
const digit = 4;
/** Letters and accents of other alphabets. */
const letter = 5;
const none = 6;
/** Joins the parts of a path or of a dotted name. */
const sign = 7;
/** Of languages that put no blanks between words. */
const unspaced = 8;
const half = 9;
const notKnown = 0;

const unspacedScript =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー]/u;
const anyLetter = /[\p{L}\p{M}\p{N}]/u;

/** By character code; those beyond ASCII are asked about when they are first met. */
const sorts = knownSorts();

function knownSorts(): Uint8Array {
  const table = new Uint8Array(65_536).fill(none, 0, 128);
  table.fill(half, 0xd800, 0xe000);
  table.fill(lower, 97, 123);
  table.fill(upper, 65, 91);
  table.fill(digit, 48, 58);
  table[95] = underscore;
  for (const character of "./\\:-~@$") table[character.charCodeAt(0)] = sign;
  return table;
}

/** A word between signs, and its place among the terms. Its hash knows neither capitals nor underscores. */
type Atom = { from: number; to: number; hash: number; at: number };

export type Span = { readonly from: number; readonly to: number };

/**
 * The terms of a text, each a number: comparing costs nothing, and no piece of text is kept alive. Two terms
 * may share a number, so whoever shows what was found looks at the text itself (`folded`). Every character is
 * looked at a few times at most: this runs over all that is said, and over what is found again.
 */
export class Terms {
  readonly #seed: number;
  readonly hashes: number[] = [];
  readonly sorts: TermSort[] = [];
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  /** The sort of each character of the text that is read; a `none` ends it. */
  #chars = new Uint8Array(4_096);
  #text = "";

  /** With a seed nobody knows, no text can be made whose terms all share a number. */
  constructor(seed: number) {
    this.#seed = seed;
  }

  /** What was read before is gone. */
  read(text: string): void {
    this.hashes.length = 0;
    this.sorts.length = 0;
    this.starts.length = 0;
    this.ends.length = 0;
    this.#text = text;
    this.#sortAll();
    const chars = this.#chars;
    let before: Atom | null = null;
    for (let at = 0; at < text.length; ) {
      const sort = chars[at] ?? none;
      if (sort <= letter) {
        const to = endOfAtom(chars, at);
        const atom = this.#atom(at, to);
        if (before !== null && atom !== null && at - before.to <= gapCharsMax) this.#pair(before, atom);
        before = atom;
        at = to;
      } else if (sort === unspaced) {
        at = this.#unspaced(at);
        before = null;
      } else {
        if (sort !== sign) before = null;
        at += 1;
      }
    }
    this.#text = "";
  }

  #sortAll(): void {
    const text = this.#text;
    const { length } = text;
    if (this.#chars.length <= length) this.#chars = new Uint8Array(length * 2);
    const chars = this.#chars;
    for (let at = 0; at < length; at += 1) {
      const code = text.charCodeAt(at);
      const sort = sorts[code] ?? none;
      chars[at] = sort > notKnown && sort < half ? sort : foreignSort(text, at);
    }
    chars[length] = none;
  }

  #add(hash: number, sort: TermSort, span: Span): void {
    this.hashes.push(hash);
    this.sorts.push(sort);
    this.starts.push(span.from);
    this.ends.push(span.to);
  }

  #atom(from: number, to: number): Atom | null {
    if (to - from > atomCharsMax) return null;
    const [text, chars] = [this.#text, this.#chars];
    let hash = this.#seed;
    let [isForeign, isJoined, digits, letters] = [false, false, 0, 0];
    for (let at = from; at < to; at += 1) {
      const sort = chars[at] ?? none;
      if (sort === underscore) {
        isJoined = true;
        continue;
      }
      if (sort === digit) digits += 1;
      else letters += 1;
      if (sort === letter) isForeign = true;
      const code = text.charCodeAt(at);
      if (at > from && this.#isBoundary(at)) isJoined = true;
      hash = step(hash, sort === upper ? code + 32 : code);
    }
    if (digits + letters === 0) return null;
    const atom = { from, to, hash: isForeign ? this.#foldedHash({ from, to }) : done(hash), at: -1 };
    // One letter or digit stands everywhere.
    if (digits + letters === 1 && !isForeign) return atom;
    atom.at = this.hashes.length;
    this.#add(atom.hash, isJoined || (digits > 0 && letters > 0) ? name : word, atom);
    if (isJoined && to - from <= piecesCharsMax) this.#pieces(atom);
    return atom;
  }

  #pieces({ from, to }: Span): void {
    let start = from;
    for (let at = from + 1; at <= to; at += 1) {
      if (at < to && !this.#isBoundary(at)) continue;
      const isAll = start === from && at === to;
      if (this.#chars[start] !== underscore && at - start > 1 && !isAll) {
        const span = { from: start, to: at };
        this.#add(this.#foldedHash(span), piece, span);
      }
      start = at;
    }
  }

  /** Whether a piece of a name begins here: read|File, HTTP|Server, read|_|file. */
  #isBoundary(at: number): boolean {
    const [before, here] = [this.#chars[at - 1], this.#chars[at]];
    if (here === underscore || before === underscore) return here !== before;
    return here === upper && (before !== upper || this.#chars[at + 1] === lower);
  }

  #pair(first: Atom, second: Atom): void {
    if (this.sorts[first.at] === word) this.sorts[first.at] = part;
    if (this.sorts[second.at] === word) this.sorts[second.at] = part;
    const hash = done(step(step(this.#seed, first.hash), second.hash));
    this.#add(hash, pair, { from: first.from, to: second.to });
  }

  /** Each character and each two neighbours: where words begin, only a dictionary would know. */
  #unspaced(from: number): number {
    let at = from;
    for (let before = -1; this.#chars[at] === unspaced; ) {
      const to = at + (sorts[this.#text.charCodeAt(at)] === half ? 2 : 1);
      this.#add(this.#plainHash({ from: at, to }), piece, { from: at, to });
      if (before >= 0) this.#add(this.#plainHash({ from: before, to }), word, { from: before, to });
      before = at;
      at = to;
    }
    return at;
  }

  #foldedHash(span: Span): number {
    return this.#hash(folded(this.#text, span));
  }

  #hash(fold: string): number {
    let hash = this.#seed;
    for (let at = 0; at < fold.length; at += 1) hash = step(hash, fold.charCodeAt(at));
    return done(hash);
  }

  /** Of what folds to itself in any case: the bulk of a text without blanks. */
  #plainHash(span: Span): number {
    const [text, { from, to }] = [this.#text, span];
    let hash = this.#seed;
    for (let at = from; at < to; at += 1) {
      const code = text.charCodeAt(at);
      if (!isPlain(code)) return this.#foldedHash(span);
      hash = step(hash, code);
    }
    return done(hash);
  }
}

/**
 * What makes two terms one: neither capitals nor underscores tell them apart, nor the sign between parts, nor
 * the ways in which Unicode writes the same letter.
 */
export function folded(text: string, { from, to }: Span): string {
  const low = text.slice(from, to).normalize("NFKC").toLowerCase();
  return low.replace(/_+/g, "").replace(/[./\\:~@$-]+/g, "/");
}

/** A halved character is none at all. */
function foreignSort(text: string, at: number): Sort {
  const code = text.charCodeAt(at);
  if (sorts[code] === half) return sortOf(wholeAt(text, at));
  const sort = sortOf(text.charAt(at));
  sorts[code] = sort;
  return sort;
}

function sortOf(character: string): Sort {
  if (unspacedScript.test(character)) return unspaced;
  return anyLetter.test(character) ? letter : none;
}

/** The character of which a half stands here. */
function wholeAt(text: string, at: number): string {
  const start = isSecondHalf(text, at) ? at - 1 : at;
  return isSecondHalf(text, start + 1) ? text.slice(start, start + 2) : "";
}

/** Whether the text must not be cut here: the character before and this one are one. */
export function isSecondHalf(text: string, at: number): boolean {
  const [before, here] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return before >= 0xd800 && before <= 0xdbff && here >= 0xdc00 && here <= 0xdfff;
}

/** Kana, and the Chinese characters nobody writes in two ways. */
function isPlain(code: number): boolean {
  if (code >= 0x4e00 && code <= 0x9fff) return true;
  if (code >= 0x3041 && code <= 0x30fa) return code <= 0x3096 || code >= 0x30a1;
  return (code >= 0xd840 && code <= 0xd87d) || (code >= 0xdc00 && code <= 0xdfff);
}

function endOfAtom(chars: Uint8Array, from: number): number {
  let to = from + 1;
  while ((chars[to] ?? none) <= letter) to += 1;
  return to;
}

function step(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193);
}

/** Mixed, and small enough to be a number that needs no memory of its own. */
function done(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (mixed ^ (mixed >>> 13)) >>> 2;
}

/** The kind of a term in its text. */
export type TermKind = number;
/** A word by itself. */
export const wordTerm = 0;
/** A name with capitals, underscores or digits: readFile, read_file, sha256. */
export const nameTerm = 1;
/** Two neighbours in a path or a dotted name: render/names of src/notes/names.ts. */
export const pairTerm = 2;
/** A plain word in a path or a dotted name. */
export const partTerm = 3;
/** A piece of a name, or one character of a language without spaces. */
export const pieceTerm = 4;

/** Longer words are data that is never searched for. */
const atomCharsMax = 160;
const piecesCharsMax = 64;
/** `std::sort` and `C:\\sort`, but not a line of dots. */
const gapCharsMax = 2;

/** The kind of a character. Kinds up to `letter` belong to a word. */
type CharKind = number;
const underscore = 1;
const lower = 2;
const upper = 3;
const digit = 4;
/** Letters and accents of other alphabets. */
const letter = 5;
const none = 6;
/** Joins the parts of a path or of a dotted name. */
const sign = 7;
/** Characters of languages without spaces between words. */
const unspaced = 8;
const half = 9;
const notKnown = 0;

const unspacedScript =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー]/u;
const anyLetter = /[\p{L}\p{M}\p{N}]/u;

/** By character code; kinds beyond ASCII are found when a character is first read. */
const charKinds = asciiCharKinds();

function asciiCharKinds(): Uint8Array {
  const table = new Uint8Array(65_536).fill(none, 0, 128);
  table.fill(half, 0xd800, 0xe000);
  table.fill(lower, 97, 123);
  table.fill(upper, 65, 91);
  table.fill(digit, 48, 58);
  table[95] = underscore;
  for (const character of "./\\:-~@$") table[character.charCodeAt(0)] = sign;
  return table;
}

/** A word between signs, and its index among the terms. Its hash ignores capitals and underscores. */
type Atom = { from: number; to: number; hash: number; at: number };

export type TextSpan = { readonly from: number; readonly to: number };

/**
 * Reads the terms of a text, each as a hash: comparing them costs nothing, and no piece of text is kept in
 * memory. Two terms may share a hash, so a match must be checked in the text itself (`foldTerm`). Every
 * character is read a few times at most, because this runs over all content and over all hits.
 */
export class TermReader {
  readonly #seed: number;
  readonly hashes: number[] = [];
  readonly kinds: TermKind[] = [];
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  /** The kind of each character of the text that is read; a `none` ends it. */
  #chars = new Uint8Array(4_096);
  #text = "";

  /** With a secret seed, no text can be written whose terms all share a hash. */
  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Reads a text and replaces the terms of the one before. */
  read(text: string): void {
    this.hashes.length = 0;
    this.kinds.length = 0;
    this.starts.length = 0;
    this.ends.length = 0;
    this.#text = text;
    this.#readKinds();
    const chars = this.#chars;
    let before: Atom | null = null;
    for (let at = 0; at < text.length; ) {
      const kind = chars[at] ?? none;
      if (kind <= letter) {
        const to = endOfAtom(chars, at);
        const atom = this.#atom(at, to);
        if (before !== null && atom !== null && at - before.to <= gapCharsMax) this.#pair(before, atom);
        before = atom;
        at = to;
      } else if (kind === unspaced) {
        at = this.#unspaced(at);
        before = null;
      } else {
        if (kind !== sign) before = null;
        at += 1;
      }
    }
    this.#text = "";
  }

  #readKinds(): void {
    const text = this.#text;
    const { length } = text;
    if (this.#chars.length <= length) this.#chars = new Uint8Array(length * 2);
    const chars = this.#chars;
    for (let at = 0; at < length; at += 1) {
      const code = text.charCodeAt(at);
      const kind = charKinds[code] ?? none;
      chars[at] = kind > notKnown && kind < half ? kind : foreignCharKind(text, at);
    }
    chars[length] = none;
  }

  #add(hash: number, kind: TermKind, span: TextSpan): void {
    this.hashes.push(hash);
    this.kinds.push(kind);
    this.starts.push(span.from);
    this.ends.push(span.to);
  }

  #atom(from: number, to: number): Atom | null {
    if (to - from > atomCharsMax) return null;
    const [text, chars] = [this.#text, this.#chars];
    let hash = this.#seed;
    let [isForeign, isJoined, digits, letters] = [false, false, 0, 0];
    for (let at = from; at < to; at += 1) {
      const kind = chars[at] ?? none;
      if (kind === underscore) {
        isJoined = true;
        continue;
      }
      if (kind === digit) digits += 1;
      else letters += 1;
      if (kind === letter) isForeign = true;
      const code = text.charCodeAt(at);
      if (at > from && this.#isBoundary(at)) isJoined = true;
      hash = hashStep(hash, kind === upper ? code + 32 : code);
    }
    if (digits + letters === 0) return null;
    const atom = { from, to, hash: isForeign ? this.#foldedHash({ from, to }) : finishHash(hash), at: -1 };
    // One letter or digit occurs everywhere.
    if (digits + letters === 1 && !isForeign) return atom;
    atom.at = this.hashes.length;
    this.#add(atom.hash, isJoined || (digits > 0 && letters > 0) ? nameTerm : wordTerm, atom);
    if (isJoined && to - from <= piecesCharsMax) this.#pieces(atom);
    return atom;
  }

  #pieces({ from, to }: TextSpan): void {
    let start = from;
    for (let at = from + 1; at <= to; at += 1) {
      if (at < to && !this.#isBoundary(at)) continue;
      const isAll = start === from && at === to;
      if (this.#chars[start] !== underscore && at - start > 1 && !isAll) {
        const span = { from: start, to: at };
        this.#add(this.#foldedHash(span), pieceTerm, span);
      }
      start = at;
    }
  }

  /** True if a piece of a name begins here: read|File, HTTP|Server, read|_|file. */
  #isBoundary(at: number): boolean {
    const [before, here] = [this.#chars[at - 1], this.#chars[at]];
    if (here === underscore || before === underscore) return here !== before;
    return here === upper && (before !== upper || this.#chars[at + 1] === lower);
  }

  #pair(first: Atom, second: Atom): void {
    if (this.kinds[first.at] === wordTerm) this.kinds[first.at] = partTerm;
    if (this.kinds[second.at] === wordTerm) this.kinds[second.at] = partTerm;
    const hash = finishHash(hashStep(hashStep(this.#seed, first.hash), second.hash));
    this.#add(hash, pairTerm, { from: first.from, to: second.to });
  }

  /** Adds each character and each pair of neighbours: only a dictionary would know where words begin. */
  #unspaced(from: number): number {
    let at = from;
    for (let before = -1; this.#chars[at] === unspaced; ) {
      const to = at + (charKinds[this.#text.charCodeAt(at)] === half ? 2 : 1);
      this.#add(this.#plainHash({ from: at, to }), pieceTerm, { from: at, to });
      if (before >= 0) this.#add(this.#plainHash({ from: before, to }), wordTerm, { from: before, to });
      before = at;
      at = to;
    }
    return at;
  }

  #foldedHash(span: TextSpan): number {
    return this.#hash(foldTerm(this.#text, span));
  }

  #hash(fold: string): number {
    let hash = this.#seed;
    for (let at = 0; at < fold.length; at += 1) hash = hashStep(hash, fold.charCodeAt(at));
    return finishHash(hash);
  }

  /** The hash of characters that fold to themselves, which are most of a text without spaces. */
  #plainHash(span: TextSpan): number {
    const [text, { from, to }] = [this.#text, span];
    let hash = this.#seed;
    for (let at = from; at < to; at += 1) {
      const code = text.charCodeAt(at);
      if (!isPlain(code)) return this.#foldedHash(span);
      hash = hashStep(hash, code);
    }
    return finishHash(hash);
  }
}

/**
 * The form in which equal terms are equal: it ignores capitals, underscores, the sign between parts, and the
 * ways in which Unicode writes the same letter.
 */
export function foldTerm(text: string, { from, to }: TextSpan): string {
  const low = text.slice(from, to).normalize("NFKC").toLowerCase();
  return low.replace(/_+/g, "").replace(/[./\\:~@$-]+/g, "/");
}

/** Half a surrogate pair alone counts as no character. */
function foreignCharKind(text: string, at: number): CharKind {
  const code = text.charCodeAt(at);
  if (charKinds[code] === half) return charKindOf(wholeAt(text, at));
  const kind = charKindOf(text.charAt(at));
  charKinds[code] = kind;
  return kind;
}

function charKindOf(character: string): CharKind {
  if (unspacedScript.test(character)) return unspaced;
  return anyLetter.test(character) ? letter : none;
}

/** The surrogate pair at a position, which may be its second half. Empty if there is none. */
function wholeAt(text: string, at: number): string {
  const start = isSecondHalf(text, at) ? at - 1 : at;
  return isSecondHalf(text, start + 1) ? text.slice(start, start + 2) : "";
}

/** True if the text must not be cut here, inside a surrogate pair. */
export function isSecondHalf(text: string, at: number): boolean {
  const [before, here] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return before >= 0xd800 && before <= 0xdbff && here >= 0xdc00 && here <= 0xdfff;
}

/** Kana, and Chinese characters with only one form in Unicode. */
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

function hashStep(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193);
}

/** Mixes the bits; the result is small enough for a number without its own memory. */
function finishHash(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (mixed ^ (mixed >>> 13)) >>> 2;
}

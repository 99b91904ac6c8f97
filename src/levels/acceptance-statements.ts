import { isCode, isProse } from "./acceptance-code.ts";
import { isFiller, type MarkKind, markOf, numberOfWord, stemOf, unitOf } from "./acceptance-words.ts";

/** A word that turns or binds others, and how many words of content stand in front of it. */
export type Mark = { readonly kind: MarkKind; readonly word: string; readonly at: number };
export type NumberFact = {
  readonly value: string;
  readonly written: string;
  readonly unit: string | null;
  /** What stands before and behind it, in small letters; empty at an end. */
  readonly beside: Beside;
};
export type Beside = { readonly before: string; readonly after: string };

/** A sentence or a line, read for what may not be changed in it. */
export type Statement = {
  readonly text: string;
  /** Stems of its words of content, in order; names among them as they are written, in small letters. */
  readonly words: readonly string[];
  readonly marks: readonly Mark[];
  readonly numbers: readonly NumberFact[];
  /** Numbers that words write out: they count as said, but a word like "one" asks for nothing. */
  readonly spelled: readonly string[];
  /** Paths and identifiers. */
  readonly names: readonly string[];
  /** Two plain words with a slash between them: a path, or a choice. */
  readonly pairs: readonly string[];
  readonly quotes: readonly string[];
  /** Everything that stands in it, in small letters: to see what stood between two things. */
  readonly chain: readonly string[];
};

/** A piece of a text that is read as one statement; `line` tells which belong together. */
export type Piece = { readonly text: string; readonly line: number };

/** Longer lines without an end of a sentence are data, and are read in pieces. */
const pieceCharsMax = 600;

/** A text with its statements, by piece: read once, asked by whoever sums it up and whoever judges that. */
export type ReadText = {
  readonly text: string;
  readonly pieces: readonly Piece[];
  readonly statements: readonly Statement[];
};

export function readText(text: string): ReadText {
  const pieces = piecesOf(text);
  return { text, pieces, statements: pieces.map((piece) => readStatement(piece.text)) };
}

export function statementsOf(text: string): readonly Statement[] {
  return readText(text).statements;
}

/** Lines, and the sentences in them, as they stand there; lines that were broken for their length are one. */
export function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let whole = "";
  let first = 0;
  for (const [line, next] of text.split("\n").entries()) {
    if (whole !== "" && goesOn(whole, next)) {
      whole = `${whole.trimEnd()} ${next.trimStart()}`;
      continue;
    }
    addLine(pieces, whole, first);
    [whole, first] = [next, line];
  }
  addLine(pieces, whole, first);
  return pieces;
}

function addLine(pieces: Piece[], whole: string, line: number): void {
  if (whole === "") return;
  for (const sentence of sentencesOf(whole)) {
    if (/[\p{L}\p{N}]/u.test(sentence)) pieces.push({ text: sentence, line });
  }
}

/** Shorter lines end because they are said; a text longer than this is none that was broken. */
const [wrappedMin, wholeMax] = [50, 4_000] as const;
const isOpenEnd = /[\p{L}\p{N},)"'`-]\s*$/u;
const isInside = /^ {0,4}(?:[\p{L}"'`(]|~?\/\p{L}|\d[\d,.]* \p{L})/u;

/** The end of a sentence that did not fit. */
const lastWords = /^\p{L}+(?: \p{L}+){0,2}[.!?]\s*$/u;

/** Whether a line of prose was broken here, not ended: it stops amid a sentence, and prose follows. */
function goesOn(whole: string, next: string): boolean {
  if (whole.length < wrappedMin || whole.length > wholeMax) return false;
  if (!isOpenEnd.test(whole.slice(-4)) || !isInside.test(next)) return false;
  const end = whole.slice(-120);
  return isProse(end) && (isProse(next) || lastWords.test(next)) && !isCode(end) && !isCode(next);
}

function sentencesOf(line: string): readonly string[] {
  const sentences: string[] = [];
  let start = 0;
  // Most lines of data have no end of a sentence amid them.
  if (!mayEnd.test(line)) {
    addPieces(line, sentences);
    return sentences;
  }
  for (const { index, 0: gap } of line.matchAll(/(?<=[.!?;:…][)"'`*]{0,3})\s+/g)) {
    if (!isSentenceEnd(line, index, index + gap.length)) continue;
    addPieces(line.slice(start, index), sentences);
    start = index + gap.length;
  }
  addPieces(line.slice(start), sentences);
  return sentences;
}

const mayEnd = /[.!?;:…][)"'`*]{0,3}\s/;
const abbreviation =
  /(?:^|[\s(])(?:[Ee]\.g|[Ii]\.e|vs|cf|approx|max|Mr|Ms|Mrs|Dr|[Nn]o|(?<!\d )\p{L})\.$|^\s*\d+\.$/u;

/** A new sentence begins with a capital, a digit or a quote, and what stood before was no abbreviation. */
function isSentenceEnd(line: string, end: number, next: number): boolean {
  const sign = line.slice(Math.max(0, end - 4), end).match(/[.!?;:…](?=[)"'`*]{0,3}$)/)?.[0];
  if (sign === ";" || sign === "…") return true;
  if (sign === ":") return false;
  return (
    /[\p{Lu}\p{N}"'`(*[]/u.test(line.charAt(next)) &&
    !abbreviation.test(line.slice(Math.max(0, end - 9), end))
  );
}

function addPieces(sentence: string, pieces: string[]): void {
  // Three dots at the end say that something was left out there, and are no part of it.
  let rest = sentence.trim().replace(/ ?…$/, "");
  while (rest.length > pieceCharsMax) {
    const blank = rest.lastIndexOf(" ", pieceCharsMax);
    const end = blank > pieceCharsMax / 2 ? blank : pieceCharsMax;
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  if (rest !== "") pieces.push(rest);
}

type Draft = {
  readonly words: string[];
  readonly marks: Mark[];
  readonly numbers: NumberFact[];
  readonly spelled: string[];
  readonly names: string[];
  readonly pairs: string[];
};

/** Words and whatever else has no blank in it. A colon ends one unless it is part of an address or a name. */
const chunk =
  /(?:[^\s()[\]{}<>,;|=*"“”`:→+]|::|:\/\/|(?<=(?:^|[\s"'([T-])\d\d?(?::\d\d)?):(?=\d\d(?!\d))|(?<=\d),(?=\d{3}(?!\d)))+/g;
const quoted = /"([^"\n]{2,80})"|`([^`\n]{2,80})`|“([^”\n]{2,80})”/g;

/** The number of a point in a list is no fact of what is said in it; but a reader may speak of "point 2". */
const point = /^[\s*#>-]*(\d{1,3})[.)]\s+/;

export function readStatement(text: string): Statement {
  const ordinal = point.exec(text)?.[1];
  const spelled = ordinal === undefined ? [] : [String(Number(ordinal))];
  const draft: Draft = { words: [], marks: [], numbers: [], spelled, names: [], pairs: [] };
  const said = ordinal === undefined ? text : text.replace(point, "");
  const chunks = chunksOf(said);
  for (const [at, one] of chunks.entries()) {
    readChunk(draft, one, { before: chunks[at - 1] ?? "", after: chunks[at + 1] ?? "" });
  }
  return new ReadStatement(text, said, draft);
}

function chunksOf(said: string): readonly string[] {
  const chunks: string[] = [];
  for (const one of said.match(chunk) ?? []) {
    const word = isPlain(one) ? one : bare(one);
    const times = word.includes(":") ? twoTimes.exec(word) : null;
    if (times === null) chunks.push(word);
    else chunks.push(times[1] ?? "", times[2] ?? "");
  }
  return chunks;
}

/** From one time to another is two of them. */
const twoTimes = /^(\d\d?:\d\d)[-–](\d\d?:\d\d)$/;

/** A long text has thousands, most of them without facts: those share one empty list. */
const nothing: readonly never[] = [];

/** A copy has no room to grow in, which is most of what a list that was pushed to takes. */
function kept<T>(found: readonly T[]): readonly T[] {
  return found.length === 0 ? nothing : found.slice();
}

class ReadStatement implements Statement {
  readonly text: string;
  readonly words: readonly string[];
  readonly marks: readonly Mark[];
  readonly numbers: readonly NumberFact[];
  readonly spelled: readonly string[];
  readonly names: readonly string[];
  readonly pairs: readonly string[];
  readonly quotes: readonly string[];
  readonly #said: string;
  #chain: readonly string[] | null = null;

  constructor(text: string, said: string, draft: Draft) {
    this.text = text;
    this.#said = said;
    this.words = kept(draft.words);
    this.marks = kept(draft.marks);
    this.numbers = kept(draft.numbers);
    this.spelled = kept(draft.spelled);
    this.names = kept(draft.names);
    this.pairs = kept(draft.pairs);
    this.quotes = /["`“]/.test(text)
      ? Array.from(text.matchAll(quoted), ([, a, b, c]) => a ?? b ?? c ?? "")
      : nothing;
  }

  /** Made when it is first asked for: of most statements it never is. */
  get chain(): readonly string[] {
    this.#chain ??= chunksOf(this.#said).map((one) => one.toLowerCase());
    return this.#chain;
  }
}

/** Nothing but letters, of which only the first may be a capital or all are: most of what is read. */
function isPlain(one: string): boolean {
  let capitals = 0;
  for (let at = 0; at < one.length; at += 1) {
    const code = one.charCodeAt(at);
    if (code >= 0x41 && code <= 0x5a) capitals += 1;
    else if (code < 0x61 || code > 0x7a) return false;
  }
  return capitals === 0 || capitals === one.length || (capitals === 1 && one.charCodeAt(0) <= 0x5a);
}

const fronts = "'#$€£≈…";
const ends = "'.!?…,";

/** Without what only surrounds it; the dots of a hidden file and the sign of a home belong to a path. */
function bare(one: string): string {
  let [start, end] = [0, one.length];
  while (start < end && fronts.includes(one.charAt(start))) start += 1;
  while (end > start && ends.includes(one.charAt(end - 1))) end -= 1;
  if (one.startsWith("...", start)) start += 3;
  if (one.charAt(start) === "~" && one.charAt(start + 1) !== "/") start += 1;
  return one.slice(start, Math.max(start, end));
}

const number = /^(-?\d[\d_]*(?:,\d{3})*(?:\.\d+)?)([\p{L}%×]{0,5})$/u;
const twoNumbers = /^(\d+(?:\.\d+)?)[-–/](\d+(?:\.\d+)?)([\p{L}%×]{0,4})$/u;

function readChunk(draft: Draft, one: string, beside: Beside): void {
  if (isPlain(one)) readWord(draft, one.toLowerCase(), beside);
  else if (!readNumbers(draft, one, beside)) readName(draft, one, beside);
}

function readNumbers(draft: Draft, one: string, beside: Beside): boolean {
  const first = one.charAt(0) === "-" ? one.charCodeAt(1) : one.charCodeAt(0);
  if (!(first >= 0x30 && first <= 0x39)) return false;
  const [, digits, suffix = ""] = number.exec(one) ?? [];
  if (digits !== undefined) addNumber(draft, { digits, suffix, beside });
  const [, from, to = "", unit = ""] = digits === undefined ? (twoNumbers.exec(one) ?? []) : [];
  if (from === undefined) return digits !== undefined;
  addNumber(draft, { digits: from, suffix: unit, beside });
  addNumber(draft, { digits: to, suffix: unit, beside });
  return true;
}

function readName(draft: Draft, one: string, beside: Beside): void {
  if (isName(one)) {
    draft.names.push(one);
    draft.words.push(one.toLowerCase());
    return;
  }
  if (plainPair.test(one)) draft.pairs.push(one);
  for (const word of one.toLowerCase().split(/[^\p{L}\p{N}']+/u)) readWord(draft, word, beside);
}

type Digits = { readonly digits: string; readonly suffix: string; readonly beside: Beside };

function addNumber(draft: Draft, { digits, suffix, beside }: Digits): void {
  const value = String(Number(digits.replace(/[,_]/g, "")));
  const unit = suffix === "" ? unitOf(beside.after) : unitOf(suffix);
  const small = { before: beside.before.toLowerCase(), after: beside.after.toLowerCase() };
  draft.numbers.push({ value, written: `${digits}${suffix}`, unit, beside: small });
}

/** "Without it" says what happens otherwise, and negates nothing that follows. */
const pronoun = /^(?:it|them|this|that|these|those)\b/i;

/** A bound only with a number behind it. */
const aPlace = /^(?:under|below|above)$/;

function readWord(draft: Draft, word: string, { before, after }: Beside): void {
  const isOtherwise = word === "without" && pronoun.test(after);
  const isPlace = aPlace.test(word) && !/^\d/.test(after);
  const kind = isOtherwise || isPlace ? null : markOf(word, before.toLowerCase());
  const undone = kind === null ? undoneIn(word) : null;
  if (undone !== null) {
    draft.marks.push({ kind: "negation", word, at: draft.words.length });
    draft.words.push(stemOf(undone));
    return;
  }
  const spelled = numberOfWord(word);
  if (spelled !== null) draft.spelled.push(spelled);
  else if (kind !== null) draft.marks.push({ kind, word, at: draft.words.length });
  else if (!isOtherwise && !isFiller(word) && !isUnit(word, before)) draft.words.push(stemOf(word));
}

const undone = /^un(?=[a-z]{3,}(?:ed|ged|known|able|sure|paid|read|met)$)/;

/** What a word says is not so: "uncommitted" says "not committed". */
function undoneIn(word: string): string | null {
  return undone.test(word) && !/^un(?:ited|ified|defined|expected|limited)/.test(word) ? word.slice(2) : null;
}

/** Behind a number a unit belongs to it. */
function isUnit(word: string, before: string): boolean {
  const last = before.charCodeAt(before.length - 1);
  return last >= 0x30 && last <= 0x39 && unitOf(word) !== null;
}

const plainPair = /^\p{L}+\/\p{L}+$/u;
const noName = /^(?:e\.g|i\.e|a\.k\.a|w\/o?|n\/a)$/i;

/** What nobody may change a sign of: a path, a name put together, a flag, a version, a hash, a time. */
export function isName(one: string): boolean {
  if (one.length < 2 || one.length > 200 || noName.test(one)) return false;
  if (/^\d\d?:\d\d(?::\d\d)?$/.test(one)) return true;
  if (one.includes("/")) return /\p{L}/u.test(one) && !plainPair.test(one);
  if (/^--?[\p{L}]/u.test(one)) return one.length > 2;
  return /[\p{L}\p{N}]_[\p{L}\p{N}]|\p{Ll}\p{Lu}|\p{L}[.@][\p{L}\p{N}]|::|\p{L}-?\d|\d[.-]?\d*[.-]?\p{L}|\d[.-]\d+[.-]\d/u.test(
    one,
  );
}

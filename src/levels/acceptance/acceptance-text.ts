import {
  isFiller,
  isStrongNegation,
  type MarkKind,
  markOf,
  numberOfWord,
  stemOf,
  unitOf,
} from "./acceptance-words.ts";

/** A word that turns or binds others, and how many words of content stand in front of it. */
export type Mark = { readonly kind: MarkKind; readonly word: string; readonly at: number };
export type NumberFact = {
  readonly value: string;
  readonly written: string;
  readonly unit: string | null;
  /** The words before and behind it in lower case; empty at an end. */
  readonly beside: Beside;
};
type Beside = { readonly before: string; readonly after: string };

export type Token = {
  /** In lower case. */
  readonly word: string;
  /** A stem, `#` and the value of a number, or a name in lower case; empty for a filler. */
  readonly key: string;
  readonly kind: "filler" | "word" | "unit" | "number" | "name";
  readonly mark: MarkKind | null;
  readonly unit: string | null;
  /** Which clause of its statement it belongs to. */
  readonly clause: number;
};

/** A sentence or a line, with the pieces that a summary must not change. */
export type Statement = {
  readonly text: string;
  readonly tokens: readonly Token[];
  /** Stems of its words of content in order, and names in lower case. */
  readonly words: readonly string[];
  readonly marks: readonly Mark[];
  readonly numbers: readonly NumberFact[];
  /** Numbers that are written as words. */
  readonly spelled: readonly string[];
  /** Paths and identifiers. */
  readonly names: readonly string[];
  readonly quotes: readonly string[];
};

/** A piece of a text that is read as one statement; pieces of one `line` belong together. */
export type Piece = { readonly text: string; readonly line: number };
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

/** Lines, and the sentences in them. Lines that were wrapped are joined. */
function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let [whole, first] = ["", 0];
  for (const [line, next] of text.split("\n").entries()) {
    if (whole !== "" && isWrapped(whole, next)) {
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
  for (const text of sentencesOf(whole)) if (/[\p{L}\p{N}]/u.test(text)) pieces.push({ text, line });
}

/** A shorter line was not wrapped. */
const [wrappedMin, wholeMax] = [50, 4_000] as const;
const openEnd = /[\p{L}\p{N},)"'`-]\s*$/u;
const continuation = /^ {0,4}(?:[\p{L}"'`(]|~?\/\p{L}|\d[\d,.]* \p{L})/u;
const lastWords = /^\p{L}+(?: \p{L}+){0,2}[.!?]\s*$/u;

/** Whether a line of prose stops amid a sentence and prose follows. */
function isWrapped(whole: string, next: string): boolean {
  if (whole.length < wrappedMin || whole.length > wholeMax) return false;
  if (!openEnd.test(whole.slice(-4)) || !continuation.test(next)) return false;
  const end = whole.slice(-120);
  return isProse(end) && (isProse(next) || lastWords.test(next)) && !isCode(end) && !isCode(next);
}

const mayEnd = /[.!?;:…][)"'`*]{0,3}\s/;

function sentencesOf(line: string): readonly string[] {
  const sentences: string[] = [];
  let start = 0;
  // Most lines of data have no end of a sentence inside.
  for (const { index, 0: gap } of mayEnd.test(line) ? line.matchAll(/(?<=[.!?;:…][)"'`*]{0,3})\s+/g) : []) {
    if (!isSentenceEnd(line, index, index + gap.length)) continue;
    addPieces(line.slice(start, index), sentences);
    start = index + gap.length;
  }
  addPieces(line.slice(start), sentences);
  return sentences;
}

const abbreviation =
  /(?:^|[\s(])(?:[Ee]\.g|[Ii]\.e|vs|cf|approx|max|Mr|Ms|Mrs|Dr|[Nn]o|(?<!\d )\p{L})\.$|^\s*\d+\.$/u;

function isSentenceEnd(line: string, end: number, next: number): boolean {
  const sign = line.slice(Math.max(0, end - 4), end).match(/[.!?;:…](?=[)"'`*]{0,3}$)/)?.[0];
  if (sign === ";" || sign === "…") return true;
  const isOpening = /[\p{Lu}\p{N}"'`(*[]/u.test(line.charAt(next));
  return sign !== ":" && isOpening && !abbreviation.test(line.slice(Math.max(0, end - 9), end));
}

/** Longer lines without an end of a sentence are data, and are read in pieces. */
const pieceCharsMax = 600;

function addPieces(sentence: string, pieces: string[]): void {
  // An extract puts "…" where it leaves something out.
  let rest = sentence.trim().replace(/ ?…$/, "");
  while (rest.length > pieceCharsMax) {
    const blank = rest.lastIndexOf(" ", pieceCharsMax);
    const end = blank > pieceCharsMax / 2 ? blank : pieceCharsMax;
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  if (rest !== "") pieces.push(rest);
}

/** Signs that prose does not have; a dash or a star with a blank behind it opens a point of a list. */
const code =
  /[{}]\s*$|^\s*(?:\/\/|\/\*|\*\/|#include|import \S+;|const \w+ ?[=:]|let \w+ ?=|func \w*\(?|def \w+\(|if ?\(|if err)|=>|:=|[!=+-]=|&&|\|\||^\s*\d+[→\t]|^[+-][^\s-]|^\S+:\d+[:-]|^\S+\(\d+,\d+\):|^\s*[\w.]+ = \S|^\s*[\w.]+\([^)]+\)[;,]?$/;

/** Code in backticks between words does not make them code. */
export function isCode(text: string): boolean {
  return code.test(text.includes("`") ? text.replace(/`[^`]*`/g, "x") : text);
}

const threeWords = /\p{L}{2,},? \p{L}+,? \p{L}+/u;
const proseShareMin = 0.8;

/** Three words in a row, and hardly any sign but letters and blanks. */
export function isProse(text: string): boolean {
  if (!threeWords.test(text)) return false;
  let plain = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charCodeAt(at) | 0x20;
    if (sign === 0x20 || (sign >= 0x61 && sign <= 0x7a) || sign > 0x7f) plain += 1;
  }
  return plain >= text.length * proseShareMin;
}

type Draft = { -readonly [Part in keyof Omit<Statement, "text" | "quotes">]: Statement[Part][number][] } & {
  clause: number;
};
type Chunk = { readonly text: string; readonly isFirst: boolean };

/** Text without a blank. A colon ends it unless it is part of an address, a name or a time. */
const chunk =
  /(?:[^\s()[\]{}<>,;|=*"“”`:→+]|::|:\/\/|(?<=(?:^|[\s"'([T-])\d\d?(?::\d\d)?):(?=\d\d(?!\d))|(?<=\d),(?=\d{3}(?!\d)))+/g;
const quoted = /"([^"\n]{2,80})"|`([^`\n]{2,80})`|“([^”\n]{2,80})”/g;
/** The number of a point in a list is no fact, but a reader may speak of "point 2". */
const point = /^[\s*#>-]*(\d{1,3})[.)]\s+/;

export function readStatement(text: string): Statement {
  const ordinal = point.exec(text)?.[1];
  const draft: Draft = { tokens: [], words: [], marks: [], numbers: [], spelled: [], names: [], clause: 0 };
  if (ordinal !== undefined) draft.spelled.push(String(Number(ordinal)));
  const chunks = chunksOf(ordinal === undefined ? text : text.replace(point, ""));
  for (const [at, { text: one, isFirst }] of chunks.entries()) {
    if (isFirst) draft.clause += 1;
    readChunk(draft, one, { before: chunks[at - 1]?.text ?? "", after: chunks[at + 1]?.text ?? "" });
  }
  const quotes = /["`“]/.test(text)
    ? Array.from(text.matchAll(quoted), ([, a, b, c]) => a ?? b ?? c ?? "")
    : [];
  const { clause: _clause, ...read } = draft;
  return { text, ...read, quotes };
}

/** "09:00-10:00" is two times. */
const twoTimes = /^(\d\d?:\d\d)[-–](\d\d?:\d\d)$/;

/** Signs and words that begin a clause. */
const clauseSign = /[,;:()–—.]\s|\s[-–—(]/;
const clauseWord =
  /^(?:because|since|so|but|and|otherwise|while|when|if|although|which|then|where|instead|rather)$/i;

function chunksOf(text: string): readonly Chunk[] {
  const chunks: Chunk[] = [];
  let end = 0;
  for (const { 0: one, index } of text.matchAll(chunk)) {
    const word = isPlain(one) ? one : withoutSigns(one);
    const isFirst = clauseSign.test(text.slice(Math.max(0, end - 1), index + 1)) || clauseWord.test(word);
    end = index + one.length;
    const [first, second] = word.includes(":") ? (twoTimes.exec(word)?.slice(1) ?? [word]) : [word];
    chunks.push({ text: first as string, isFirst });
    if (second !== undefined) chunks.push({ text: second, isFirst: false });
  }
  return chunks;
}

/** Only letters, of which the first or all may be capitals. Most chunks are. */
function isPlain(one: string): boolean {
  return /^(?:[A-Z]?[a-z]+|[A-Z]+)$/.test(one);
}

/** Without the signs around it. The dot of a hidden file and the tilde of a home belong to a path. */
function withoutSigns(one: string): string {
  const start = one.replace(/^['#$€£≈…]+/, "").replace(/^\.{3}/, "");
  return start.replace(/^~(?!\/)/, "").replace(/['.!?…,]+$/, "");
}

const number = /^(-?\d[\d_]*(?:,\d{3})*(?:\.\d+)?)([\p{L}%×]{0,5})$/u;
const twoNumbers = /^(\d+(?:\.\d+)?)[-–/](\d+(?:\.\d+)?)([\p{L}%×]{0,4})$/u;

function readChunk(draft: Draft, one: string, beside: Beside): void {
  const small = one.toLowerCase();
  const found = /^-?\d/.test(one) ? (number.exec(one) ?? twoNumbers.exec(one)) : null;
  if (isPlain(one)) readWord(draft, small, beside);
  else if (found !== null) {
    const suffix = found.at(-1) ?? "";
    for (const digits of found.slice(1, -1)) addNumber(draft, digits, { suffix, ...beside });
  } else if (isName(one)) {
    draft.names.push(one);
    draft.words.push(small);
    addToken(draft, { word: small, key: small, kind: "name" });
  } else {
    if (plainPair.test(one)) addToken(draft, { word: small, key: small, kind: "name" });
    for (const word of small.split(/[^\p{L}\p{N}']+/u)) if (word !== "") readWord(draft, word, beside);
  }
}

function addToken(draft: Draft, token: Pick<Token, "word" | "key" | "kind"> & Partial<Token>): void {
  draft.tokens.push({ mark: null, unit: null, clause: draft.clause, ...token });
}

function addNumber(draft: Draft, digits: string, beside: Beside & { readonly suffix: string }): void {
  const value = String(Number(digits.replace(/[,_]/g, "")));
  const [before, after] = [beside.before.toLowerCase(), beside.after.toLowerCase()];
  const unit = unitOf(beside.suffix === "" ? after : beside.suffix);
  const written = `${digits}${beside.suffix}`;
  draft.numbers.push({ value, written, unit, beside: { before, after } });
  addToken(draft, { word: written.toLowerCase(), key: numberKey(value), kind: "number", unit });
}

/** All its words, names and numbers in lower case. */
export function wordsOf({ tokens }: Pick<Statement, "tokens">): readonly string[] {
  return tokens.map(({ word }) => word);
}

export function isFact({ kind }: Token): boolean {
  return kind === "number" || kind === "name";
}

/** No word starts with this sign. */
export function numberKey(value: string): string {
  return `#${value}`;
}

/** "Without it" tells what happens otherwise, and negates nothing. */
const pronoun = /^(?:it|them|this|that|these|those)\b/i;
/** These are bounds only in front of a number. */
const preposition = /^(?:under|below|above)$/;
/** "Uncommitted" is "not committed". */
const negated =
  /^un(?=[a-z]{3,}(?:ed|known|able|sure|paid|read|met)$)(?!ited|ified|defined|expected|limited)/;

function readWord(draft: Draft, word: string, { before, after }: Beside): void {
  const isOtherwise = word === "without" && pronoun.test(after);
  const isPlace = preposition.test(word) && !/^\d/.test(after);
  const kind = isOtherwise || isPlace ? null : markOf(word, before.toLowerCase());
  const isUndone = kind === null && negated.test(word);
  const mark = isUndone ? "negation" : kind;
  const spelled = numberOfWord(word);
  const isUnit = /\d$/.test(before) && unitOf(word) !== null;
  const isEmpty = isOtherwise || isFiller(word) || isStrongNegation(word);
  const stem = isEmpty ? "" : spelled !== null ? numberKey(spelled) : stemOf(isUndone ? word.slice(2) : word);
  if (spelled !== null) draft.spelled.push(spelled);
  else if (mark !== null) draft.marks.push({ kind: mark, word, at: draft.words.length });
  if (spelled === null && kind === null && !isEmpty && !isUnit) draft.words.push(stem);
  const sort = isUnit ? "unit" : isEmpty ? "filler" : "word";
  addToken(draft, { word, key: isUnit ? "" : stem, kind: sort, mark });
}

const plainPair = /^\p{L}+\/\p{L}+$/u;
const noName = /^(?:e\.g|i\.e|a\.k\.a|w\/o?|n\/a)$/i;
const composed =
  /[\p{L}\p{N}]_[\p{L}\p{N}]|\p{Ll}\p{Lu}|\p{L}[.@][\p{L}\p{N}]|::|\p{L}-?\d|\d[.-]?\d*[.-]?\p{L}|\d[.-]\d+[.-]\d/u;

/** A path, a composed name, a flag, a version, a hash or a time: no sign of it may change. */
function isName(one: string): boolean {
  if (one.length < 2 || one.length > 200 || noName.test(one)) return false;
  if (/^\d\d?:\d\d(?::\d\d)?$/.test(one)) return true;
  if (one.includes("/")) return /\p{L}/u.test(one) && !plainPair.test(one);
  return /^--?\p{L}/u.test(one) ? one.length > 2 : composed.test(one);
}

import { parseAt, type Range } from "../json-scan.ts";

/** Knows lines of ours, and those that are ours only behind one: they bear no mark. */
export type OwnLines = {
  readonly isOwn: (line: string) => boolean;
  /** Whether lines without a mark may follow it. */
  readonly opens: (line: string) => boolean;
  readonly continues: (line: string) => boolean;
};

/** A longer line is none of ours, and so much text is held at most. */
const lineCharsMax = 4_096;
/** By then a line that follows one of ours has shown whether it goes on with it. */
const continuationCharsMax = 32;

/** Bytes that pass together: an event, or a whole message. */
export type Part = {
  readonly bytes: Buffer;
  /** The same, a character for each byte: searching it costs less than searching bytes. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** What lies before it has passed already. */
  readonly sent: number;
  /** What does not pass. */
  readonly cuts: Range[];
};

/** How lines of ours begin. A model may indent, quote or mark what it repeats. */
const starts = ["[", "---", "### CONTEXT MANIFEST ", "<context-manifest "] as const;
/** The same by the first letter, as it is written in JSON: few other lines begin like that. */
const begins = /^(?:[ >`*]|\\[trf])*(?:[[\-#<]|\\u)/;
/** Behind a line of ours, where the next may have a word for its beginning. */
const goesOn = /^(?:[ >`*]|\\[trf])*(?:[[\-#<A-Z]|\\u)/;
/** An escape, and whether it stands for the end of a line. */
const escapes = /\\(?:(n|u000[aA])|.)/gs;

type Piece = { readonly part: Part; readonly range: Range };

/**
 * The texts of one answer, line by line, as far as needed to find ours. A text of nothing but our lines stays
 * as it is: a blank block would be refused when the client sends it back.
 */
export class Lines {
  readonly #own: OwnLines;
  /** What the line says so far: nothing yet at its start, null once it cannot be ours. */
  #line: string | null = null;
  /** Where it is written. */
  #pieces: Piece[] = [];
  /** Whether the line before was ours. */
  #follows = false;
  /** Whether the text says anything besides. */
  #hasWords = true;
  /** Lines of ours before it does, and how much was said since they began. */
  #leading: Piece[] = [];
  #leadingChars = 0;

  constructor(own: OwnLines) {
    this.#own = own;
  }

  /** The first part of which it is not known yet what passes; null where there is none. */
  get open(): Part | null {
    return (this.#leading[0] ?? this.#pieces[0])?.part ?? null;
  }

  /** Whether nothing matters before the line ends. */
  get isQuiet(): boolean {
    return this.#line === null && this.#hasWords;
  }

  get isAtStart(): boolean {
    return this.#line === "";
  }

  /** Whether the line that begins may go on with one of ours. */
  get follows(): boolean {
    return this.#follows;
  }

  begin(): void {
    this.letGo();
    this.#line = "";
    this.#hasWords = false;
  }

  /** Everything passes that is not decided yet. */
  letGo(): void {
    this.#line = null;
    this.#follows = false;
    this.#pieces = [];
    this.#leading = [];
    this.#leadingChars = 0;
    this.#hasWords = true;
  }

  /** The text goes on with the string that is written there, between its quotes. */
  take(part: Part, { start, end }: Range): void {
    const raw = part.text.slice(start, end);
    if (this.isQuiet && !raw.includes("\\")) return;
    for (let from = 0; ; ) {
      const to = lineEnd(raw, from);
      this.#goOn({ part, range: { start: start + from, end: to === null ? end : start + to } });
      if (to === null) return;
      this.#settle();
      this.#line = "";
      from = to;
    }
  }

  /** The text is over, and so is its last line. */
  finish(): void {
    this.#settle();
    this.letGo();
  }

  #goOn(piece: Piece): void {
    const { part, range } = piece;
    const raw = part.text.slice(range.start, range.end);
    if (raw === "" || this.isQuiet) return;
    const said = this.#mayGoOn(raw, piece) ? unescaped(raw) : null;
    if (said === null || this.#line === null) {
      this.#deny(unescaped(raw) ?? raw);
      return;
    }
    this.#line += said;
    this.#pieces.push(piece);
    if (this.#line.length > lineCharsMax || !this.#mayBeOurs(this.#line)) this.#deny(this.#line);
  }

  #mayBeOurs(line: string): boolean {
    return mayBeOurs(line) || (this.#follows && this.#mayContinue(line));
  }

  #mayContinue(line: string): boolean {
    return line.length <= continuationCharsMax || this.#own.continues(withoutEnd(line));
  }

  /**
   * What has passed cannot be taken back. That is blanks and marks in front of a line at most: they are not
   * held, for in code every other delta ends with some.
   */
  #mayGoOn(raw: string, { part, range }: Piece): boolean {
    const beginning = this.#follows ? goesOn : begins;
    const mayBegin = this.#line !== "" || beginning.test(raw);
    return this.#line !== null && mayBegin && range.start >= part.sent;
  }

  /** The line is none of ours, and says this. */
  #deny(said: string): void {
    this.#line = null;
    this.#follows = false;
    this.#pieces = [];
    if (this.#hasWords) return;
    if (said.trim() !== "") this.#say();
    else if (this.#leading.length > 0) this.#lead([], said.length);
  }

  /** There are words now: what of ours stood before them goes. */
  #say(): void {
    cut(this.#leading);
    this.#leading = [];
    this.#hasWords = true;
  }

  #settle(): void {
    const line = this.#line ?? "";
    if (line === "") return;
    const pieces = this.#pieces;
    this.#pieces = [];
    if (!this.#isOwn(withoutEnd(line))) {
      this.#deny(line);
      return;
    }
    this.#follows &&= !this.#own.isOwn(withoutEnd(line));
    this.#follows ||= this.#own.opens(withoutEnd(line));
    if (this.#hasWords) cut(pieces);
    else this.#lead(pieces, line.length);
  }

  #isOwn(line: string): boolean {
    return this.#own.isOwn(line) || (this.#follows && this.#own.continues(line));
  }

  #lead(pieces: readonly Piece[], length: number): void {
    this.#leading.push(...pieces);
    this.#leadingChars += length;
    if (this.#leadingChars > lineCharsMax) this.letGo();
  }
}

function withoutEnd(line: string): string {
  return line.endsWith("\n") ? line.slice(0, -1) : line;
}

function cut(pieces: readonly Piece[]): void {
  for (const { part, range } of pieces) part.cuts.push(range);
}

/** What a line says so far, against how ours begin. */
function mayBeOurs(line: string): boolean {
  const said = line.replace(/^[\s>`*]+/, "");
  return said !== "" && starts.some((start) => said.startsWith(start) || start.startsWith(said));
}

/** Behind the next end of a line, or null where there is none. */
function lineEnd(raw: string, from: number): number | null {
  escapes.lastIndex = from;
  for (let found = escapes.exec(raw); found !== null; found = escapes.exec(raw))
    if (found[1] !== undefined) return escapes.lastIndex;
  return null;
}

function unescaped(raw: string): string | null {
  const bytes = Buffer.from(`"${raw}"`, "latin1");
  const text = parseAt(bytes, { start: 0, end: bytes.length });
  return typeof text === "string" ? text : null;
}

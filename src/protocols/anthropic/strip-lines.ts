import { type ByteRange, parseAt } from "../json-scan.ts";
import type { OwnLineRules } from "../protocol.ts";
import type { EventChunk, PlainDelta } from "./answer-event.ts";

/** A longer line is not ours, and no more text is held. */
const lineCharsMax = 4_096;
/** So many characters decide if a line behind one of ours continues it. */
const continuationCharsMax = 32;

/** Bytes that pass together: an event, or a whole message. */
export type StripChunk = EventChunk & {
  /** The event as a delta in the usual form; null if it is another event. */
  readonly delta: PlainDelta | null;
  /** Bytes before this position have passed already. */
  readonly sent: number;
  /** Ranges that do not pass. */
  readonly cuts: ByteRange[];
};

/** The beginnings of our lines. A model may indent, quote or mark a line that it repeats. */
const starts = ["[", "---", "### CONTEXT MANIFEST ", "<context-manifest "] as const;
/** The first character of these in JSON: few other lines begin with it. */
const ownBeginning = /^(?:[ >`*]|\\[trf])*(?:[[\-#<]|\\u)/;
/** The same behind one of our lines, where the next may also begin with a word. */
const continuedBeginning = /^(?:[ >`*]|\\[trf])*(?:[[\-#<A-Z]|\\u)/;
/** An escape; the group matches if it is a line end. */
const escapes = /\\(?:(n|u000[aA])|.)/gs;

type ChunkSlice = { readonly chunk: StripChunk; readonly range: ByteRange };

/**
 * Reads the texts of one answer line by line, only as far as needed, and cuts our lines. A text with nothing
 * but our lines stays unchanged: a blank block would be refused when the client sends it back.
 */
export class OwnLineCutter {
  readonly #rules: OwnLineRules;
  /** The open line so far: "" at its start, null once it cannot be ours. */
  #line: string | null = null;
  /** The slices that hold the open line. */
  #slices: ChunkSlice[] = [];
  /** The line before was ours. */
  #followsOwnLine = false;
  /** The text has content besides our lines. */
  #hasContent = true;
  /** Our lines at the start of a text without other content so far, and the characters since they began. */
  #leading: ChunkSlice[] = [];
  #leadingChars = 0;

  constructor(rules: OwnLineRules) {
    this.#rules = rules;
  }

  /** The first chunk that is not decided yet; null if there is none. */
  get firstOpenChunk(): StripChunk | null {
    return (this.#leading[0] ?? this.#slices[0])?.chunk ?? null;
  }

  /** Nothing matters before the line ends. */
  get isQuiet(): boolean {
    return this.#line === null && this.#hasContent;
  }

  get isAtStart(): boolean {
    return this.#line === "";
  }

  /** The next line may continue one of ours. */
  get followsOwnLine(): boolean {
    return this.#followsOwnLine;
  }

  beginText(): void {
    this.releaseAll();
    this.#line = "";
    this.#hasContent = false;
  }

  /** Lets everything pass that is not decided yet. */
  releaseAll(): void {
    this.#line = null;
    this.#followsOwnLine = false;
    this.#slices = [];
    this.#leading = [];
    this.#leadingChars = 0;
    this.#hasContent = true;
  }

  /** Continues the text with the string in this range, between its quotes. */
  addText(chunk: StripChunk, { start, end }: ByteRange): void {
    const raw = chunk.text.slice(start, end);
    if (this.isQuiet && !raw.includes("\\")) return;
    for (let from = 0; ; ) {
      const to = lineEnd(raw, from);
      this.#extendLine({ chunk, range: { start: start + from, end: to === null ? end : start + to } });
      if (to === null) return;
      this.#endLine();
      this.#line = "";
      from = to;
    }
  }

  /** Ends the text and its last line. */
  endText(): void {
    this.#endLine();
    this.releaseAll();
  }

  #extendLine(slice: ChunkSlice): void {
    const { chunk, range } = slice;
    const raw = chunk.text.slice(range.start, range.end);
    if (raw === "" || this.isQuiet) return;
    const text = this.#mayExtend(raw, slice) ? unescapeJson(raw) : null;
    if (text === null || this.#line === null) {
      this.#rejectLine(unescapeJson(raw) ?? raw);
      return;
    }
    this.#line += text;
    this.#slices.push(slice);
    if (this.#line.length > lineCharsMax || !this.#mayBeOurs(this.#line)) this.#rejectLine(this.#line);
  }

  #mayBeOurs(line: string): boolean {
    return mayBeOurs(line) || (this.#followsOwnLine && this.#mayContinue(line));
  }

  #mayContinue(line: string): boolean {
    return line.length <= continuationCharsMax || this.#rules.continues(withoutEnd(line));
  }

  /**
   * Bytes that have passed cannot be cut. At most those are blanks and quote marks in front of a line: they
   * are not held, because in code every other delta ends with some.
   */
  #mayExtend(raw: string, { chunk, range }: ChunkSlice): boolean {
    const beginning = this.#followsOwnLine ? continuedBeginning : ownBeginning;
    const mayBegin = this.#line !== "" || beginning.test(raw);
    return this.#line !== null && mayBegin && range.start >= chunk.sent;
  }

  /** The open line is not ours; `text` is its content. */
  #rejectLine(text: string): void {
    this.#line = null;
    this.#followsOwnLine = false;
    this.#slices = [];
    if (this.#hasContent) return;
    if (text.trim() !== "") this.#cutLeading();
    else if (this.#leading.length > 0) this.#holdLeading([], text.length);
  }

  /** The text has content now, so our lines in front of it are cut. */
  #cutLeading(): void {
    cut(this.#leading);
    this.#leading = [];
    this.#hasContent = true;
  }

  #endLine(): void {
    const line = this.#line ?? "";
    if (line === "") return;
    const slices = this.#slices;
    this.#slices = [];
    if (!this.#isOwn(withoutEnd(line))) {
      this.#rejectLine(line);
      return;
    }
    this.#followsOwnLine &&= !this.#rules.isOwn(withoutEnd(line));
    this.#followsOwnLine ||= this.#rules.opens(withoutEnd(line));
    if (this.#hasContent) cut(slices);
    else this.#holdLeading(slices, line.length);
  }

  #isOwn(line: string): boolean {
    return this.#rules.isOwn(line) || (this.#followsOwnLine && this.#rules.continues(line));
  }

  #holdLeading(slices: readonly ChunkSlice[], length: number): void {
    this.#leading.push(...slices);
    this.#leadingChars += length;
    if (this.#leadingChars > lineCharsMax) this.releaseAll();
  }
}

function withoutEnd(line: string): string {
  return line.endsWith("\n") ? line.slice(0, -1) : line;
}

function cut(slices: readonly ChunkSlice[]): void {
  for (const { chunk, range } of slices) chunk.cuts.push(range);
}

/** True if a line that begins so may become one of ours. */
function mayBeOurs(line: string): boolean {
  const text = line.replace(/^[\s>`*]+/, "");
  return text !== "" && starts.some((start) => text.startsWith(start) || start.startsWith(text));
}

/** The position behind the next line end; null if there is none. */
function lineEnd(raw: string, from: number): number | null {
  escapes.lastIndex = from;
  for (let found = escapes.exec(raw); found !== null; found = escapes.exec(raw))
    if (found[1] !== undefined) return escapes.lastIndex;
  return null;
}

function unescapeJson(raw: string): string | null {
  const bytes = Buffer.from(`"${raw}"`, "latin1");
  const text = parseAt(bytes, { start: 0, end: bytes.length });
  return typeof text === "string" ? text : null;
}

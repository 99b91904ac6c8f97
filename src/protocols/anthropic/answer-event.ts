import {
  type ByteRange,
  elementsOf,
  type JsonMember,
  membersOf,
  parseAt,
  skipSpace,
  valueRangeAt,
} from "../json-scan.ts";

/** One whole event of an answer in the bytes that hold it, or a whole message. */
export type EventChunk = {
  readonly bytes: Buffer;
  /** The same bytes as latin1 text, one character each: searching it costs less than searching bytes. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
};

/** A delta in the form that providers write. It is read without parsing; `start` and `end` hold its text. */
export type PlainDelta = ByteRange & {
  readonly index: number;
  /** The type of the delta, and the field with its text. */
  readonly type: string;
  readonly field: string;
};

const plainHead =
  /(?:event: ?content_block_delta\r?\n)?data: ?\{"type": ?"content_block_delta", ?"index": ?(0|[1-9]\d{0,5}), ?"delta": ?\{"type": ?"([a-z_]+)", ?"([a-z_]+)": ?"/y;
const plainTail = /"[ \t]*\}[ \t]*\}[ \t]*\r?\n\r?\n/y;

/** Reads an event as a delta in the usual form; null if it is another event or has another form. */
export function readPlainDelta({ text, start, end }: EventChunk): PlainDelta | null {
  plainHead.lastIndex = start;
  const head = plainHead.exec(text);
  if (head === null) return null;
  const from = plainHead.lastIndex;
  const to = closingQuote(text, from);
  plainTail.lastIndex = to;
  if (!plainTail.test(text) || plainTail.lastIndex !== end) return null;
  const [, index, type = "", field = ""] = head;
  return { index: Number(index), type, field, start: from, end: to };
}

function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  for (; at !== -1; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (text[first - 1] === "\\") first -= 1;
    if ((at - first) % 2 === 0) return at;
  }
  return text.length;
}

// A JSON string may not hold control characters.
const needsParsing = /[\\\p{Cc}]/u;

/** The text of a delta; null if it is not valid JSON. */
export function deltaText({ bytes }: EventChunk, { start, end }: PlainDelta): string | null {
  const text = bytes.toString("utf8", start, end);
  if (!needsParsing.test(text)) return text;
  const parsed = parseAt(bytes, { start: start - 1, end: end + 1 });
  return typeof parsed === "string" ? parsed : null;
}

const LF = 0x0a;
const CR = 0x0d;

/** The position behind the blank line that ends an event; -1 if there is none. */
export function eventEnd(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(LF, from); at !== -1; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at + 1] === LF) return at + 2;
    if (bytes[at + 1] === CR && bytes[at + 2] === LF) return at + 3;
  }
  return -1;
}

const deltaLine = "event: content_block_delta".length;
const LETTER_D = 0x64;

/**
 * True for one whole delta. Most chunks of an answer are one. One letter distinguishes the name of a delta
 * from other names of its length.
 */
export function isOneDelta(bytes: Buffer): boolean {
  return (
    bytes[deltaLine] === LF &&
    bytes[deltaLine - "delta".length] === LETTER_D &&
    bytes.indexOf(LF, deltaLine + 1) === bytes.length - 2 &&
    bytes[bytes.length - 1] === LF
  );
}

/** An event as far as it decides which lines of text begin, go on or end. */
export type TextEvent =
  | ({ readonly kind: "text"; readonly index: number; readonly isStart: boolean } & ByteRange)
  | { readonly kind: "stop"; readonly index: number }
  | { readonly kind: "ping" | "other" };

export const otherEvent: TextEvent = { kind: "other" };

export function readTextEvent(chunk: EventChunk, delta: PlainDelta | null): TextEvent {
  if (delta === null) return scanEvent(chunk);
  if (delta.type !== "text_delta" || delta.field !== "text") return otherEvent;
  return { kind: "text", index: delta.index, isStart: false, start: delta.start, end: delta.end };
}

const worthScanning = /"(?:text_delta|content_block_start|content_block_stop|ping)"/;

function scanEvent({ bytes, text, start, end }: EventChunk): TextEvent {
  const whole = text.slice(start, end);
  const [data, second] = [...whole.matchAll(/^data:/gm)];
  if (data === undefined) return { kind: "ping" };
  if (second !== undefined || !worthScanning.test(whole)) return otherEvent;
  const value = valueRangeAt(bytes, skipSpace(bytes, start + data.index + "data:".length));
  const members = value === null || value.end > end ? null : membersOf(bytes, value);
  return members === null ? otherEvent : textEventIn(bytes, members);
}

function textEventIn(bytes: Buffer, members: readonly JsonMember[]): TextEvent {
  const index = parseMember(bytes, members, "index");
  const type = parseMember(bytes, members, "type");
  if (type === "ping") return { kind: "ping" };
  if (typeof index !== "number") return otherEvent;
  if (type === "content_block_stop") return { kind: "stop", index };
  const isStart = type === "content_block_start";
  if (!isStart && type !== "content_block_delta") return otherEvent;
  const block = memberOf(members, isStart ? "content_block" : "delta");
  const range = block === null ? null : textRange(bytes, block.value, isStart ? "text" : "text_delta");
  return range === null ? otherEvent : { kind: "text", index, isStart, ...range };
}

const QUOTE = 0x22;

/** The range of an object's text between its quotes; null if the object is of another type. */
export function textRange(bytes: Buffer, object: ByteRange, type: string): ByteRange | null {
  const members = membersOf(bytes, object) ?? [];
  const text = memberOf(members, "text")?.value;
  if (text === undefined || bytes[text.start] !== QUOTE) return null;
  return parseMember(bytes, members, "type") === type ? { start: text.start + 1, end: text.end - 1 } : null;
}

/** Readers differ in how they take a key that comes twice, so such a key counts as missing. */
function memberOf(members: readonly JsonMember[], name: string): JsonMember | null {
  const [member, second] = members.filter(({ key }) => key === name);
  return second === undefined ? (member ?? null) : null;
}

function parseMember(bytes: Buffer, members: readonly JsonMember[], name: string): unknown {
  const member = memberOf(members, name);
  return member === null ? undefined : parseAt(bytes, member.value);
}

/** The content blocks of a whole message. */
export function contentRanges(bytes: Buffer): readonly ByteRange[] {
  const message = valueRangeAt(bytes, skipSpace(bytes, 0));
  const members = message === null ? null : membersOf(bytes, message);
  const content = members === null ? null : memberOf(members, "content");
  return content === null ? [] : (elementsOf(bytes, content.value.start)?.elements ?? []);
}

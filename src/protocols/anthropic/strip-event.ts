import {
  type ByteRange,
  elementsOf,
  type JsonMember,
  membersOf,
  parseAt,
  skipSpace,
  valueRangeAt,
} from "../json-scan.ts";
import type { StripChunk } from "./strip-lines.ts";

export type StripEvent =
  | ({ readonly kind: "text"; readonly index: number; readonly isStart: boolean } & ByteRange)
  | { readonly kind: "stop"; readonly index: number }
  | { readonly kind: "ping" | "other" };

export const otherEvent: StripEvent = { kind: "other" };

/** The usual form of a text delta, before and behind its text. Such events are read without parsing. */
const plainHead =
  /(?:event: ?content_block_delta\r?\n)?data: ?\{"type": ?"content_block_delta", ?"index": ?(\d{1,6}), ?"delta": ?\{"type": ?"text_delta", ?"text": ?"/y;
const plainTail = /"\s*\}\s*\}\s*/y;

export function readStripEvent(chunk: StripChunk): StripEvent {
  const { text, start, end } = chunk;
  plainHead.lastIndex = start;
  const head = plainHead.exec(text);
  if (head === null) return scanEvent(chunk);
  const from = plainHead.lastIndex;
  const to = closingQuote(text, from);
  plainTail.lastIndex = to;
  if (!plainTail.test(text) || plainTail.lastIndex !== end) return scanEvent(chunk);
  return { kind: "text", index: Number(head[1]), isStart: false, start: from, end: to };
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

const worthScanning = /"(?:text_delta|content_block_start|content_block_stop|ping)"/;

function scanEvent({ bytes, text, start, end }: StripChunk): StripEvent {
  const whole = text.slice(start, end);
  const [data, second] = [...whole.matchAll(/^data:/gm)];
  if (data === undefined) return { kind: "ping" };
  if (second !== undefined || !worthScanning.test(whole)) return otherEvent;
  const value = valueRangeAt(bytes, skipSpace(bytes, start + data.index + "data:".length));
  const members = value === null || value.end > end ? null : membersOf(bytes, value);
  return members === null ? otherEvent : readEvent(bytes, members);
}

function readEvent(bytes: Buffer, members: readonly JsonMember[]): StripEvent {
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

export function contentRanges(bytes: Buffer): readonly ByteRange[] {
  const message = valueRangeAt(bytes, skipSpace(bytes, 0));
  const members = message === null ? null : membersOf(bytes, message);
  const content = members === null ? null : memberOf(members, "content");
  return content === null ? [] : (elementsOf(bytes, content.value.start)?.elements ?? []);
}

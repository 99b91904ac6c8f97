import { elementsOf, type Member, membersOf, parseAt, type Range, skipSpace, valueAt } from "../json-scan.ts";
import type { Part } from "./strip-lines.ts";

export type StripEvent =
  | ({ readonly kind: "text"; readonly index: number; readonly isStart: boolean } & Range)
  | { readonly kind: "stop"; readonly index: number }
  | { readonly kind: "ping" | "other" };

export const other: StripEvent = { kind: "other" };

/** How nearly all text comes, up to the text itself, and what follows it. It is read as it stands. */
const plainHead =
  /(?:event: ?content_block_delta\r?\n)?data: ?\{"type": ?"content_block_delta", ?"index": ?(\d{1,6}), ?"delta": ?\{"type": ?"text_delta", ?"text": ?"/y;
const plainTail = /"\s*\}\s*\}\s*/y;

export function eventIn(part: Part): StripEvent {
  const { text, start, end } = part;
  plainHead.lastIndex = start;
  const head = plainHead.exec(text);
  if (head === null) return scannedEvent(part);
  const from = plainHead.lastIndex;
  const to = closingQuote(text, from);
  plainTail.lastIndex = to;
  if (!plainTail.test(text) || plainTail.lastIndex !== end) return scannedEvent(part);
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

function scannedEvent({ bytes, text, start, end }: Part): StripEvent {
  const whole = text.slice(start, end);
  const [data, second] = [...whole.matchAll(/^data:/gm)];
  if (data === undefined) return { kind: "ping" };
  if (second !== undefined || !worthScanning.test(whole)) return other;
  const value = valueAt(bytes, skipSpace(bytes, start + data.index + "data:".length));
  const members = value === null || value.end > end ? null : membersOf(bytes, value);
  return members === null ? other : readEvent(bytes, members);
}

function readEvent(bytes: Buffer, members: readonly Member[]): StripEvent {
  const index = parsedIn(bytes, members, "index");
  const type = parsedIn(bytes, members, "type");
  if (type === "ping") return { kind: "ping" };
  if (typeof index !== "number") return other;
  if (type === "content_block_stop") return { kind: "stop", index };
  const isStart = type === "content_block_start";
  if (!isStart && type !== "content_block_delta") return other;
  const block = memberOf(members, isStart ? "content_block" : "delta");
  const range = block === null ? null : textIn(bytes, block.value, isStart ? "text" : "text_delta");
  return range === null ? other : { kind: "text", index, isStart, ...range };
}

const QUOTE = 0x22;

/** Where the text of an object of this type is written, between its quotes. */
export function textIn(bytes: Buffer, object: Range, type: string): Range | null {
  const members = membersOf(bytes, object) ?? [];
  const text = memberOf(members, "text")?.value;
  if (text === undefined || bytes[text.start] !== QUOTE) return null;
  return parsedIn(bytes, members, "type") === type ? { start: text.start + 1, end: text.end - 1 } : null;
}

/** A key that comes twice means different things to different readers. */
function memberOf(members: readonly Member[], name: string): Member | null {
  const [member, second] = members.filter(({ key }) => key === name);
  return second === undefined ? (member ?? null) : null;
}

function parsedIn(bytes: Buffer, members: readonly Member[], name: string): unknown {
  const member = memberOf(members, name);
  return member === null ? undefined : parseAt(bytes, member.value);
}

export function contentIn(bytes: Buffer): readonly Range[] {
  const message = valueAt(bytes, skipSpace(bytes, 0));
  const members = message === null ? null : membersOf(bytes, message);
  const content = members === null ? null : memberOf(members, "content");
  return content === null ? [] : (elementsOf(bytes, content.value.start)?.elements ?? []);
}

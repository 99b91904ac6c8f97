import {
  type ByteRange,
  elementsOf,
  type JsonMember,
  membersOf,
  parseAt,
  skipSpace,
  valueRangeAt,
} from "../json-scan.ts";
import { textBlock } from "./write-body.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;

/**
 * Puts a text first inside the content of a tool result. All other bytes stay: if the same result is sent
 * again, a byte that differs would cost the prompt cache. Null if it is no tool result, or an ambiguous one.
 */
export function prependToResult(unit: Uint8Array, text: string): Uint8Array | null {
  const bytes = Buffer.from(unit.buffer, unit.byteOffset, unit.byteLength);
  const range = wholeValue(bytes);
  const members = range === null ? null : membersOf(bytes, range);
  if (members === null || !isToolResult(bytes, members)) return null;
  const content = members.find(({ key }) => key === "content");
  if (content === undefined) return addContent(bytes, members, text);
  const pieces = prependToContent(bytes, content.value, textBlock(text));
  return pieces === null ? null : replaceRange(bytes, content.value, pieces);
}

function wholeValue(bytes: Buffer): ByteRange | null {
  const range = valueRangeAt(bytes, skipSpace(bytes, 0));
  return range !== null && skipSpace(bytes, range.end) === bytes.length ? range : null;
}

/** Readers differ in how they take a key that comes twice: such a result is ambiguous. */
function isToolResult(bytes: Buffer, members: readonly JsonMember[]): boolean {
  if (new Set(members.map(({ key }) => key)).size < members.length) return false;
  const type = members.find(({ key }) => key === "type");
  return type !== undefined && parseAt(bytes, type.value) === "tool_result";
}

function addContent(bytes: Buffer, members: readonly JsonMember[], text: string): Uint8Array {
  const end = members.at(-1)?.value.end ?? 0;
  return replaceRange(bytes, { start: end, end }, [Buffer.from(',"content":['), textBlock(text), CLOSE]);
}

function prependToContent(bytes: Buffer, range: ByteRange, own: Buffer): readonly Uint8Array[] | null {
  switch (bytes[range.start]) {
    case QUOTE:
      return prependToString(bytes, range, own);
    case OPEN_ARRAY:
      return prependToList(bytes, range, own);
    default:
      return parseAt(bytes, range) === null ? [OPEN, own, CLOSE] : null;
  }
}

/** A blank string is dropped: as a text block it would be refused. */
function prependToString(bytes: Buffer, range: ByteRange, own: Buffer): readonly Uint8Array[] | null {
  const content = parseAt(bytes, range);
  if (typeof content !== "string") return null;
  if (content.trim() === "") return [OPEN, own, CLOSE];
  return [OPEN, own, TEXT_HEAD, bytes.subarray(range.start, range.end), TEXT_TAIL];
}

function prependToList(bytes: Buffer, range: ByteRange, own: Buffer): readonly Uint8Array[] | null {
  const list = elementsOf(bytes, range.start);
  if (list === null || list.end !== range.end) return null;
  const rest = bytes.subarray(range.start + 1, range.end);
  return list.elements.length === 0 ? [OPEN, own, rest] : [OPEN, own, Buffer.of(COMMA), rest];
}

function replaceRange(bytes: Buffer, { start, end }: ByteRange, pieces: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat([bytes.subarray(0, start), ...pieces, bytes.subarray(end)]);
}

const OPEN = Buffer.from("[");
const CLOSE = Buffer.from("]");
const TEXT_HEAD = Buffer.from(',{"type":"text","text":');
const TEXT_TAIL = Buffer.from("}]");

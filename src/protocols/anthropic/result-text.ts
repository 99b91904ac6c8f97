import { elementsOf, type Member, membersOf, parseAt, type Range, skipSpace, valueAt } from "../json-scan.ts";
import { textBlock } from "./emit.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;

/**
 * The bytes of a tool result with a text put first inside its content. Whatever else it says stays as it is
 * written: where the same result is sent again, a byte that differs would cost the prompt cache. Null: no
 * tool result, or one that readers may understand in different ways.
 */
export function resultWithText(unit: Uint8Array, text: string): Uint8Array | null {
  const bytes = Buffer.from(unit.buffer, unit.byteOffset, unit.byteLength);
  const range = wholeValue(bytes);
  const members = range === null ? null : membersOf(bytes, range);
  if (members === null || !isToolResult(bytes, members)) return null;
  const content = members.find(({ key }) => key === "content");
  if (content === undefined) return withContent(bytes, members, text);
  const written = contentWith(bytes, content.value, textBlock(text));
  return written === null ? null : replaced(bytes, content.value, written);
}

function wholeValue(bytes: Buffer): Range | null {
  const range = valueAt(bytes, skipSpace(bytes, 0));
  return range !== null && skipSpace(bytes, range.end) === bytes.length ? range : null;
}

/** A key that comes twice means different things to different readers. */
function isToolResult(bytes: Buffer, members: readonly Member[]): boolean {
  if (new Set(members.map(({ key }) => key)).size < members.length) return false;
  const type = members.find(({ key }) => key === "type");
  return type !== undefined && parseAt(bytes, type.value) === "tool_result";
}

function withContent(bytes: Buffer, members: readonly Member[], text: string): Uint8Array {
  const end = members.at(-1)?.value.end ?? 0;
  return replaced(bytes, { start: end, end }, [Buffer.from(',"content":['), textBlock(text), CLOSE]);
}

function contentWith(bytes: Buffer, range: Range, own: Buffer): readonly Uint8Array[] | null {
  switch (bytes[range.start]) {
    case QUOTE:
      return stringWith(bytes, range, own);
    case OPEN_ARRAY:
      return listWith(bytes, range, own);
    default:
      return parseAt(bytes, range) === null ? [OPEN, own, CLOSE] : null;
  }
}

/** A blank string says nothing, and as a text block it would be refused. */
function stringWith(bytes: Buffer, range: Range, own: Buffer): readonly Uint8Array[] | null {
  const said = parseAt(bytes, range);
  if (typeof said !== "string") return null;
  if (said.trim() === "") return [OPEN, own, CLOSE];
  return [OPEN, own, TEXT_HEAD, bytes.subarray(range.start, range.end), TEXT_TAIL];
}

function listWith(bytes: Buffer, range: Range, own: Buffer): readonly Uint8Array[] | null {
  const list = elementsOf(bytes, range.start);
  if (list === null || list.end !== range.end) return null;
  const rest = bytes.subarray(range.start + 1, range.end);
  return list.elements.length === 0 ? [OPEN, own, rest] : [OPEN, own, Buffer.of(COMMA), rest];
}

function replaced(bytes: Buffer, { start, end }: Range, pieces: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat([bytes.subarray(0, start), ...pieces, bytes.subarray(end)]);
}

const OPEN = Buffer.from("[");
const CLOSE = Buffer.from("]");
const TEXT_HEAD = Buffer.from(',{"type":"text","text":');
const TEXT_TAIL = Buffer.from("}]");

import { hashContent, must, sha256Hex } from "../../base/index.ts";
import { type ByteRange, elementsOf, type JsonMember, membersOf, parseAt } from "../json-scan.ts";
import type { AnswerUnit, UnitSlice, WireUnit } from "../wire.ts";
import { stringField, type WireFields, wireAnchor, wireCallId, wireFields, wireKind } from "./schema.ts";

const MARK = "cache_control";
const TEXT_HEAD = Buffer.from('{"type":"text","text":');
const TEXT_TAIL = Buffer.from("}");
const MARK_KEY = Buffer.from('"cache_control"');
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;

/** The normalised bytes of a unit, and the facts that normalising left out. */
type UnitForm = {
  readonly bytes: Uint8Array;
  readonly slices: readonly UnitSlice[];
  readonly isBare: boolean;
  readonly mark: string | null;
};
/** A value in a body; `base` is the start of its message or section. */
type UnitLocation = { readonly bytes: Buffer; readonly range: ByteRange; readonly base: number };

/** A bare string stands for one text block and is written as one. */
export function unitOfString(role: string, { bytes, range, base }: UnitLocation): WireUnit | null {
  const text = parseAt(bytes, range);
  if (typeof text !== "string") return null;
  const literal = bytes.subarray(range.start, range.end);
  const slices = [{ at: range.start - base, from: TEXT_HEAD.length, length: literal.length }];
  const form = { bytes: asTextBlock(literal), slices, isBare: true, mark: null };
  return unitOf({ section: "messages", role, fields: { type: "text", text } }, form);
}

function asTextBlock(literal: Uint8Array): Uint8Array {
  return Buffer.concat([TEXT_HEAD, literal, TEXT_TAIL]);
}

/** The bytes of a unit, from the body it was read in and the start of its message or section there. */
export function unitBytes(bytes: Buffer, base: number, unit: WireUnit): Uint8Array {
  const joined = joinSlices(bytes, base, unit.slices);
  return unit.isBare ? asTextBlock(joined) : joined;
}

function joinSlices(bytes: Buffer, base: number, slices: readonly UnitSlice[]): Uint8Array {
  const parts = slices.map(({ at, length }) => bytes.subarray(base + at, base + at + length));
  return parts.length === 1 ? must(parts[0], "there is one") : Buffer.concat(parts);
}

/** The text of a text unit; null for other units. */
export function unitText(bytes: Buffer, base: number, unit: WireUnit): string | null {
  if (unit.type !== "text") return null;
  const whole = Buffer.from(unitBytes(bytes, base, unit));
  return stringField(wireFields(parseAt(whole, { start: 0, end: whole.length })), "text");
}

export function unitOfBlock(role: string, source: UnitLocation): WireUnit | null {
  const block = readBlock(source);
  return block === null ? null : unitOf({ section: "messages", role, fields: block.fields }, block.form);
}

export function unitOfSystem(source: UnitLocation): WireUnit | null {
  const isString = source.bytes[source.range.start] === 0x22;
  const unit = isString ? unitOfString("system", source) : unitOfBlock("system", source);
  return unit === null ? null : { ...unit, section: "system", kind: "system" };
}

export function unitOfTool(source: UnitLocation): WireUnit | null {
  const tool = readBlock(source);
  if (tool === null) return null;
  const { bytes, slices, isBare, mark } = tool.form;
  const hash = hashContent(bytes);
  const name = stringField(tool.fields, "name") ?? "";
  const key = `tool:${name.length <= 50 ? name : sha256Hex(name).slice(0, 32)}:${hash.slice(0, 16)}`;
  const type = stringField(tool.fields, "type") ?? "tool";
  const facts = { section: "tools", role: "system", kind: "system", callId: null } as const;
  const isDeferred = tool.fields["defer_loading"] === true;
  return { ...facts, type, key, hash, length: bytes.length, slices, isBare, mark, isDeferred };
}

type ParsedBlock = { readonly form: UnitForm; readonly fields: WireFields };

/** The fields that identify a block. Inputs, results and images may be large and are not parsed. */
const parsedKeys: ReadonlySet<string> = new Set([
  "type",
  "id",
  "tool_use_id",
  "signature",
  "data",
  "text",
  "name",
  "defer_loading",
]);

function readBlock(source: UnitLocation): ParsedBlock | null {
  const members = membersOf(source.bytes, source.range);
  if (members === null) return null;
  const fields: Record<string, unknown> = {};
  for (const { key, value } of members) {
    if (!parsedKeys.has(key)) continue;
    const parsed = parseAt(source.bytes, value);
    if (parsed === undefined) return null;
    fields[key] = parsed;
  }
  return { form: withoutMarks(source, members), fields };
}

/** A unit from a block of an answer: it has no slices, since it lies in no request body. */
export function unitOfAnswer(fields: WireFields, text: string): AnswerUnit {
  const bytes = Buffer.from(text);
  const form = { bytes, slices: [], isBare: false, mark: null };
  return { unit: unitOf({ section: "messages", role: "assistant", fields }, form), bytes };
}

/** A tool result that we write ourselves. */
export function unitOfResult({ callId, text, isError }: ToolResultInput): AnswerUnit {
  const failed = isError ? { is_error: true } : {};
  const fields = { type: "tool_result", tool_use_id: callId, content: text, ...failed };
  const bytes = Buffer.from(JSON.stringify(fields));
  const form = { bytes, slices: [], isBare: false, mark: null };
  return { unit: unitOf({ section: "messages", role: "user", fields }, form), bytes };
}
export type ToolResultInput = { readonly callId: string; readonly text: string; readonly isError: boolean };

type BlockFacts = {
  readonly section: WireUnit["section"];
  readonly role: string;
  readonly fields: WireFields;
};

function unitOf({ section, role, fields }: BlockFacts, { bytes, slices, isBare, mark }: UnitForm): WireUnit {
  const type = stringField(fields, "type") ?? "unknown";
  const hash = hashContent(bytes);
  const key = keyOf(role, fields, hash);
  const [kind, callId] = [wireKind(role, type), shortCallId(wireCallId(fields))];
  const { length } = bytes;
  return { section, role, kind, type, key, callId, hash, length, slices, isBare, mark, isDeferred: false };
}

/**
 * A unit of the model is recognised by its id or its trimmed text, because clients rewrite the rest. A unit
 * of the client is recognised by its content: another tool result under the same id is another unit.
 */
function keyOf(role: string, fields: WireFields, hash: string): string {
  const anchor = wireAnchor(fields);
  if (anchor !== null) return shortKey(anchor);
  const text = fields["type"] === "text" ? stringField(fields, "text") : null;
  const contentHash = text === null ? hash : sha256Hex(text.trim());
  const callId = wireCallId(fields);
  return shortKey(`${role}:${callId ?? ""}:${contentHash.slice(0, 32)}`);
}

/** The call id as it appears in the key of the call, where a long one is shortened. */
function shortCallId(callId: string | null): string | null {
  return callId === null ? null : shortKey(`call:${callId}`).slice("call:".length);
}

/** Keys stay short, though signatures run to kilobytes. */
function shortKey(key: string): string {
  return key.length <= 80 ? key : `${key.slice(0, 5)}${sha256Hex(key).slice(0, 32)}`;
}

/** The bytes of an object without its cache marks, and their slices of the body. */
function withoutMarks({ bytes, range, base }: UnitLocation, members: readonly JsonMember[]): UnitForm {
  const marks = [...marksIn(bytes, members), ...nestedMarks(bytes, members)];
  marks.sort((a, b) => a.start - b.start);
  const slices: UnitSlice[] = [];
  let [from, start] = [0, range.start];
  for (const end of [...marks.map((mark) => mark.start), range.end]) {
    slices.push({ at: start - base, from, length: end - start });
    from += end - start;
    start = marks[slices.length - 1]?.end ?? range.end;
  }
  const joined = joinSlices(bytes, base, slices);
  return { bytes: joined, slices, isBare: false, mark: marks.at(-1)?.text ?? null };
}

type MarkRange = ByteRange & { readonly text: string };

/** The range of the mark with the comma in front of it, or behind it if the mark comes first. */
function marksIn(bytes: Buffer, members: readonly JsonMember[]): readonly MarkRange[] {
  const index = members.findIndex(({ key }) => key === MARK);
  const mark = members[index];
  if (mark === undefined) return [];
  const text = bytes.toString("utf8", mark.value.start, mark.value.end);
  const before = members[index - 1];
  if (before !== undefined) return [{ start: before.value.end, end: mark.value.end, text }];
  const comma = members.length > 1 ? bytes.indexOf(COMMA, mark.value.end) + 1 : mark.value.end;
  return [{ start: mark.keyStart, end: comma, text }];
}

/** A mark inside a tool result counts for the result. */
function nestedMarks(bytes: Buffer, members: readonly JsonMember[]): readonly MarkRange[] {
  const content = members.find(({ key }) => key === "content")?.value;
  if (content === undefined || bytes[content.start] !== OPEN_ARRAY) return [];
  if (bytes.subarray(content.start, content.end).indexOf(MARK_KEY) === -1) return [];
  const { elements } = elementsOf(bytes, content.start) ?? { elements: [] };
  return elements.flatMap((range) => marksIn(bytes, membersOf(bytes, range) ?? []));
}

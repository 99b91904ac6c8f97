import { hashContent, must, sha256Hex } from "../../base/index.ts";
import { type ByteRange, elementsOf, type JsonMember, membersOf, parseAt } from "../json-scan.ts";
import type { ToolResultInput } from "../protocol.ts";
import type { AnswerUnit, UnitAround, UnitSlice, WireUnit } from "../wire.ts";
import { partTypeOf, stringField, type WireFields, wireAnchor, wireCallId, wireKind } from "./schema.ts";

const MARK = "cache_control";
/** A bare string stands for one text block and is written as one. */
const textBlockAround: UnitAround = { head: '{"type":"text","text":', tail: "}" };
const MARK_KEY = Buffer.from('"cache_control"');
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;

/** The normalised bytes of a unit, and the facts that normalising left out. */
type UnitForm = {
  readonly bytes: Uint8Array;
  readonly slices: readonly UnitSlice[];
  readonly around: UnitAround | null;
  readonly mark: string | null;
};
/** A value in a body; `base` is the start of its message or section. */
type UnitLocation = { readonly bytes: Buffer; readonly range: ByteRange; readonly base: number };

export function unitOfString(role: string, { bytes, range, base }: UnitLocation): WireUnit | null {
  const text = parseAt(bytes, range);
  if (typeof text !== "string") return null;
  const literal = bytes.subarray(range.start, range.end);
  const { head, tail } = textBlockAround;
  const slices = [{ at: range.start - base, from: head.length, length: literal.length }];
  const whole = Buffer.concat([Buffer.from(head), literal, Buffer.from(tail)]);
  const form = { bytes: whole, slices, around: textBlockAround, mark: null };
  return unitOf({ section: "messages", role, fields: { type: "text", text } }, form);
}

function joinSlices(bytes: Buffer, base: number, slices: readonly UnitSlice[]): Uint8Array {
  const parts = slices.map(({ at, length }) => bytes.subarray(base + at, base + at + length));
  return parts.length === 1 ? must(parts[0], "there is one") : Buffer.concat(parts);
}

export function unitOfBlock(role: string, source: UnitLocation): WireUnit | null {
  const block = readBlock(source);
  return block === null ? null : unitOf({ section: "messages", role, fields: block.fields }, block.form);
}

export function unitOfSystem(source: UnitLocation): WireUnit | null {
  const isString = source.bytes[source.range.start] === 0x22;
  const unit = isString ? unitOfString("system", source) : unitOfBlock("system", source);
  if (unit === null) return null;
  const part = unit.part === "text" ? "instruction" : unit.part;
  return { ...unit, section: "system", kind: "system", part };
}

export function unitOfTool(source: UnitLocation): WireUnit | null {
  const tool = readBlock(source);
  if (tool === null) return null;
  const { bytes, slices, around, mark } = tool.form;
  const hash = hashContent(bytes);
  const name = stringField(tool.fields, "name") ?? "";
  const key = `tool:${name.length <= 50 ? name : sha256Hex(name).slice(0, 32)}:${hash.slice(0, 16)}`;
  const wireType = stringField(tool.fields, "type") ?? "tool";
  const facts = { protocol, section: "tools", role: "system", kind: "system", part: "tool" } as const;
  const isDeferred = tool.fields["defer_loading"] === true;
  const { length } = bytes;
  return { ...facts, wireType, key, callId: null, hash, length, slices, around, mark, isDeferred };
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
  const form = { bytes, slices: [], around: null, mark: null };
  return { unit: unitOf({ section: "messages", role: "assistant", fields }, form), bytes };
}

/** A tool result that we write ourselves. */
export function unitOfResult({ callId, content, isError }: ToolResultInput): AnswerUnit {
  const failed = isError ? { is_error: true } : {};
  const fields = { type: "tool_result", tool_use_id: callId, content, ...failed };
  const bytes = Buffer.from(JSON.stringify(fields));
  const form = { bytes, slices: [], around: null, mark: null };
  return { unit: unitOf({ section: "messages", role: "user", fields }, form), bytes };
}

type BlockFacts = {
  readonly section: WireUnit["section"];
  readonly role: string;
  readonly fields: WireFields;
};

const protocol = "anthropic";

function unitOf({ section, role, fields }: BlockFacts, { bytes, slices, around, mark }: UnitForm): WireUnit {
  const wireType = stringField(fields, "type") ?? "unknown";
  const hash = hashContent(bytes);
  return {
    protocol,
    section,
    role,
    kind: wireKind(role, wireType),
    part: partTypeOf(wireType),
    wireType,
    key: keyOf(role, fields, hash),
    callId: shortCallId(wireCallId(fields)),
    hash,
    length: bytes.length,
    slices,
    around,
    mark,
    isDeferred: false,
  };
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
  return { bytes: joined, slices, around: null, mark: marks.at(-1)?.text ?? null };
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

import { hashContent, must, sha256Hex } from "../../base/index.ts";
import { elementsOf, type Member, membersOf, parseAt, type Range } from "../json-scan.ts";
import type { AnswerUnit, UnitPlace, WireUnit } from "../wire.ts";
import { anchorOf, callIdOf, type Fields, fieldsOf, kindOf, textIn } from "./schema.ts";

const MARK = "cache_control";
const TEXT_HEAD = Buffer.from('{"type":"text","text":');
const TEXT_TAIL = Buffer.from("}");
const MARK_KEY = Buffer.from('"cache_control"');
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;

type Cut = {
  readonly bytes: Uint8Array;
  readonly places: readonly UnitPlace[];
  readonly bare: boolean;
  readonly mark: string | null;
};
type At = { readonly bytes: Buffer; readonly range: Range; readonly base: number };

/** A bare string stands for one text block and is written as one. */
export function unitOfString(role: string, { bytes, range, base }: At): WireUnit | null {
  const text = parseAt(bytes, range);
  if (typeof text !== "string") return null;
  const literal = bytes.subarray(range.start, range.end);
  const places = [{ at: range.start - base, from: TEXT_HEAD.length, length: literal.length }];
  const cut = { bytes: asTextBlock(literal), places, bare: true, mark: null };
  return unitOf({ section: "messages", role, fields: { type: "text", text } }, cut);
}

function asTextBlock(literal: Uint8Array): Uint8Array {
  return Buffer.concat([TEXT_HEAD, literal, TEXT_TAIL]);
}

/** The bytes of a unit, from the body it was read in and the place of its message or section there. */
export function unitBytes(bytes: Buffer, base: number, unit: WireUnit): Uint8Array {
  const slices = unit.places.map(({ at, length }) => bytes.subarray(base + at, base + at + length));
  const joined = slices.length === 1 ? must(slices[0], "there is one") : Buffer.concat(slices);
  return unit.bare ? asTextBlock(joined) : joined;
}

/** What a text unit says; null for anything else. */
export function unitText(bytes: Buffer, base: number, unit: WireUnit): string | null {
  if (unit.type !== "text") return null;
  const whole = Buffer.from(unitBytes(bytes, base, unit));
  return textIn(fieldsOf(parseAt(whole, { start: 0, end: whole.length })), "text");
}

export function unitOfBlock(role: string, at: At): WireUnit | null {
  const block = readBlock(at);
  return block === null ? null : unitOf({ section: "messages", role, fields: block.fields }, block.cut);
}

export function unitOfSystem(at: At): WireUnit | null {
  const isString = at.bytes[at.range.start] === 0x22;
  const unit = isString ? unitOfString("system", at) : unitOfBlock("system", at);
  return unit === null ? null : { ...unit, section: "system", kind: "system" };
}

export function unitOfTool(at: At): WireUnit | null {
  const tool = readBlock(at);
  if (tool === null) return null;
  const { bytes, places, bare, mark } = tool.cut;
  const hash = hashContent(bytes);
  const name = textIn(tool.fields, "name") ?? "";
  const key = `tool:${name.length <= 50 ? name : sha256Hex(name).slice(0, 32)}:${hash.slice(0, 16)}`;
  const type = textIn(tool.fields, "type") ?? "tool";
  const said = { section: "tools", role: "system", kind: "system", callId: null } as const;
  const isDeferred = tool.fields["defer_loading"] === true;
  return { ...said, type, key, hash, length: bytes.length, places, bare, mark, isDeferred };
}

type ReadBlock = { readonly cut: Cut; readonly fields: Fields };

/** The fields that say what a block is. Inputs, results and images may be large and are not parsed. */
const shallow: ReadonlySet<string> = new Set([
  "type",
  "id",
  "tool_use_id",
  "signature",
  "data",
  "text",
  "name",
  "defer_loading",
]);

function readBlock(at: At): ReadBlock | null {
  const members = membersOf(at.bytes, at.range);
  if (members === null) return null;
  const fields: Record<string, unknown> = {};
  for (const { key, value } of members) {
    if (!shallow.has(key)) continue;
    const read = parseAt(at.bytes, value);
    if (read === undefined) return null;
    fields[key] = read;
  }
  return { cut: withoutMarks(at, members), fields };
}

/** A block of an answer: there is no request body it is a slice of. */
export function unitOfAnswer(fields: Fields, text: string): AnswerUnit {
  const bytes = Buffer.from(text);
  const cut = { bytes, places: [], bare: false, mark: null };
  return { unit: unitOf({ section: "messages", role: "assistant", fields }, cut), bytes };
}

/** The result of a call, as we write it. */
export function unitOfResult({ callId, text, isError }: WrittenResult): AnswerUnit {
  const failed = isError ? { is_error: true } : {};
  const fields = { type: "tool_result", tool_use_id: callId, content: text, ...failed };
  const bytes = Buffer.from(JSON.stringify(fields));
  const cut = { bytes, places: [], bare: false, mark: null };
  return { unit: unitOf({ section: "messages", role: "user", fields }, cut), bytes };
}
export type WrittenResult = { readonly callId: string; readonly text: string; readonly isError: boolean };

type Said = { readonly section: WireUnit["section"]; readonly role: string; readonly fields: Fields };

function unitOf({ section, role, fields }: Said, { bytes, places, bare, mark }: Cut): WireUnit {
  const type = textIn(fields, "type") ?? "unknown";
  const hash = hashContent(bytes);
  const key = keyOf(role, fields, hash);
  const [kind, callId] = [kindOf(role, type), callName(callIdOf(fields))];
  const { length } = bytes;
  return { section, role, kind, type, key, callId, hash, length, places, bare, mark, isDeferred: false };
}

/**
 * What the model said is recognised by its ids or its trimmed text, because clients rewrite the rest. What
 * the client said is recognised by what it says: another tool result under the same id is another unit.
 */
function keyOf(role: string, fields: Fields, hash: string): string {
  const anchor = anchorOf(fields);
  if (anchor !== null) return clipped(anchor);
  const text = fields["type"] === "text" ? textIn(fields, "text") : null;
  const said = text === null ? hash : sha256Hex(text.trim());
  const callId = callIdOf(fields);
  return clipped(`${role}:${callId ?? ""}:${said.slice(0, 32)}`);
}

/** As it stands in the key of the call, where a long one is shortened. */
function callName(callId: string | null): string | null {
  return callId === null ? null : clipped(`call:${callId}`).slice("call:".length);
}

/** Signatures run to kilobytes; a key is short. */
function clipped(key: string): string {
  return key.length <= 80 ? key : `${key.slice(0, 5)}${sha256Hex(key).slice(0, 32)}`;
}

/** The bytes of an object without its cache marks, and where they lie in the body. */
function withoutMarks({ bytes, range, base }: At, members: readonly Member[]): Cut {
  const gaps = [...marksIn(bytes, members), ...nestedMarks(bytes, members)].sort((a, b) => a.start - b.start);
  const places: UnitPlace[] = [];
  let [from, start] = [0, range.start];
  for (const end of [...gaps.map((gap) => gap.start), range.end]) {
    places.push({ at: start - base, from, length: end - start });
    from += end - start;
    start = gaps[places.length - 1]?.end ?? range.end;
  }
  const slices = places.map(({ at, length }) => bytes.subarray(base + at, base + at + length));
  const cut = slices.length === 1 ? must(slices[0], "there is one") : Buffer.concat(slices);
  return { bytes: cut, places, bare: false, mark: gaps.at(-1)?.text ?? null };
}

type Gap = Range & { readonly text: string };

/** The mark with the comma in front of it, or behind it where it stands first. */
function marksIn(bytes: Buffer, members: readonly Member[]): readonly Gap[] {
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
function nestedMarks(bytes: Buffer, members: readonly Member[]): readonly Gap[] {
  const content = members.find(({ key }) => key === "content")?.value;
  if (content === undefined || bytes[content.start] !== OPEN_ARRAY) return [];
  if (bytes.subarray(content.start, content.end).indexOf(MARK_KEY) === -1) return [];
  const { elements } = elementsOf(bytes, content.start) ?? { elements: [] };
  return elements.flatMap((range) => marksIn(bytes, membersOf(bytes, range) ?? []));
}

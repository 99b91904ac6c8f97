import { hashContent, must, sha256Hex } from "../../base/index.ts";
import { type Member, membersOf, parseAt, type Range } from "../json-scan.ts";
import type { AnswerUnit, UnitPlace, WireUnit } from "../wire.ts";
import { anchorOf, callIdOf, type Fields, fieldsOf, kindOf, textIn } from "./schema.ts";

const MARK = "cache_control";
const TEXT_HEAD = Buffer.from('{"type":"text","text":');
const TEXT_TAIL = Buffer.from("}");
const COMMA = 0x2c;

type Cut = {
  readonly bytes: Uint8Array;
  readonly places: readonly UnitPlace[];
  readonly bare: boolean;
  readonly marked: boolean;
};
type At = { readonly bytes: Buffer; readonly range: Range; readonly base: number };

/** A bare string stands for one text block and is written as one. */
export function unitOfString(role: string, { bytes, range, base }: At): WireUnit | null {
  const text = parseAt(bytes, range);
  if (typeof text !== "string") return null;
  const literal = bytes.subarray(range.start, range.end);
  const places = [{ at: range.start - base, from: TEXT_HEAD.length, length: literal.length }];
  const cut = { bytes: asTextBlock(literal), places, bare: true, marked: false };
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
  const cut = withoutMark(at);
  const fields = cut === null ? null : fieldsOf(parseAt(at.bytes, at.range));
  return cut === null || fields === null ? null : unitOf({ section: "messages", role, fields }, cut);
}

export function unitOfSystem(at: At): WireUnit | null {
  const isString = at.bytes[at.range.start] === 0x22;
  const unit = isString ? unitOfString("system", at) : unitOfBlock("system", at);
  return unit === null ? null : { ...unit, section: "system", kind: "system" };
}

export function unitOfTool(at: At): WireUnit | null {
  const cut = withoutMark(at);
  const fields = cut === null ? null : fieldsOf(parseAt(at.bytes, at.range));
  if (cut === null || fields === null) return null;
  const hash = hashContent(cut.bytes);
  const key = clipped(`tool:${textIn(fields, "name") ?? ""}:${hash.slice(0, 16)}`);
  const type = textIn(fields, "type") ?? "tool";
  const { places, bare, marked } = cut;
  const said = { section: "tools", role: "system", kind: "system", callId: null } as const;
  return { ...said, type, key, hash, length: cut.bytes.length, places, bare, marked };
}

/** A block of an answer: there is no request body it is a slice of. */
export function unitOfAnswer(fields: Fields, text: string): AnswerUnit {
  const bytes = Buffer.from(text);
  const cut = { bytes, places: [], bare: false, marked: false };
  return { unit: unitOf({ section: "messages", role: "assistant", fields }, cut), bytes };
}

type Said = { readonly section: WireUnit["section"]; readonly role: string; readonly fields: Fields };

function unitOf({ section, role, fields }: Said, { bytes, places, bare, marked }: Cut): WireUnit {
  const type = textIn(fields, "type") ?? "unknown";
  const hash = hashContent(bytes);
  const key = keyOf(role, fields, hash);
  const said = { section, role, kind: kindOf(role, type), type, key, callId: callName(callIdOf(fields)) };
  return { ...said, hash, length: bytes.length, places, bare, marked };
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

/** The bytes of an object without its cache mark, and where they lie in the body. */
function withoutMark({ bytes, range, base }: At): Cut | null {
  const members = membersOf(bytes, range);
  if (members === null) return null;
  const index = members.findIndex(({ key }) => key === MARK);
  const mark = members[index];
  const whole = bytes.subarray(range.start, range.end);
  const at = range.start - base;
  if (mark === undefined) {
    return { bytes: whole, places: [{ at, from: 0, length: whole.length }], bare: false, marked: false };
  }
  const gap = markGap({ bytes, members, index, mark });
  const [head, tail] = [gap.start - range.start, range.end - gap.end];
  const places = [
    { at, from: 0, length: head },
    { at: gap.end - base, from: head, length: tail },
  ];
  const cut = Buffer.concat([whole.subarray(0, head), whole.subarray(whole.length - tail)]);
  return { bytes: cut, places, bare: false, marked: true };
}

type Marked = {
  readonly bytes: Buffer;
  readonly members: readonly Member[];
  readonly index: number;
  readonly mark: Member;
};

/** The mark with the comma in front of it, or behind it where it stands first. */
function markGap({ bytes, members, index, mark }: Marked): Range {
  const before = members[index - 1];
  if (before !== undefined) return { start: before.value.end, end: mark.value.end };
  const comma = members.length > 1 ? bytes.indexOf(COMMA, mark.value.end) + 1 : mark.value.end;
  return { start: mark.keyStart, end: comma };
}

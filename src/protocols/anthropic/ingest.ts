import { elementsOf, type Member, membersOf, parseAt, type Range, skipSpace, valueAt } from "../json-scan.ts";
import type { WireGroup, WireRequest, WireUnit } from "../wire.ts";
import { fieldsOf, textIn } from "./schema.ts";
import { unitOfBlock, unitOfString, unitOfSystem, unitOfTool, unitText } from "./units.ts";

const QUOTE = 0x22;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const CLOSE_ARRAY = 0x5d;
const EMPTY_STRING = '""';

/**
 * Looks into a Messages request. Messages and sections that `previous` has too, byte for byte, are taken
 * over from it, so the cost follows what is new. Null: not a request we can read, which is the provider's to
 * say; it is recorded as bytes.
 */
export function ingestRequest(body: Uint8Array, previous: WireRequest | null): WireRequest | null {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const before = previous === null ? null : { request: previous, shared: sharedBytes(previous.bytes, bytes) };
  const found = topLevel(bytes, before);
  if (found === null) return null;
  const { members, messages } = found;
  const tools = section({ bytes, member: members.get("tools"), before: previous?.tools, previous });
  const system = section({ bytes, member: members.get("system"), before: previous?.system, previous });
  if (tools === null || system === null || messages === null) return null;
  const read = (key: string): unknown => {
    const member = members.get(key);
    return member === undefined ? undefined : parseAt(bytes, member.value);
  };
  const model = read("model");
  return {
    bytes,
    shared: before?.shared ?? 0,
    model: typeof model === "string" ? model : null,
    tools,
    system,
    messages,
    talk: talkOf(messages, previous),
    sessionHint: sessionHint(read("metadata")),
    isStreamed: read("stream") === true,
    members: [...members.values()],
    marked: markedOf(messages, previous),
  };
}

function markedOf(messages: readonly WireGroup[], previous: WireRequest | null): readonly number[] {
  const shared = previous === null ? 0 : sharedGroups(messages, previous.messages);
  const kept = previous?.marked.filter((index) => index < shared) ?? [];
  const fresh = messages.slice(shared).flatMap(({ isMarked }, index) => (isMarked ? [shared + index] : []));
  return [...kept, ...fresh];
}

/** How many leading messages two requests have in common, as the same objects. */
export function sharedMessages(request: WireRequest, previous: WireRequest | null): number {
  return previous === null ? 0 : sharedGroups(request.messages, previous.messages);
}

/** What is taken over is always a beginning, so the place where two lists part can be searched by halves. */
function sharedGroups(a: readonly WireGroup[], b: readonly WireGroup[]): number {
  return countWhile(Math.min(a.length, b.length), (index) => a[index] === b[index]);
}

/** How many of so many come before the first that is not. Contract: none is after one that is not. */
function countWhile(count: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function talkOf(messages: readonly WireGroup[], previous: WireRequest | null): readonly string[] {
  const shared = previous === null ? 0 : sharedGroups(messages, previous.messages);
  // Counted from the end: what is new is little.
  const gone = previous?.messages.slice(shared).reduce((sum, { units }) => sum + units.length, 0) ?? 0;
  const count = (previous?.talk.length ?? 0) - gone;
  const fresh = messages.slice(shared).flatMap(({ units }) => units.map(({ key }) => key));
  return [...(previous?.talk.slice(0, count) ?? []), ...fresh];
}

/** The request before, and how many bytes from the start both have in common. */
type Before = { readonly request: WireRequest; readonly shared: number };

type TopLevel = {
  readonly members: ReadonlyMap<string, Member>;
  readonly messages: readonly WireGroup[] | null;
};

/** Tokens the client leaves for the answer; 0 where it does not say. */
export function answerMax({ bytes, members }: WireRequest): number {
  const member = members.find(({ key }) => key === "max_tokens");
  const value = member === undefined ? 0 : parseAt(bytes, member.value);
  return typeof value === "number" && Number.isFinite(value) ? Math.max(0, value) : 0;
}

/**
 * What is left of them once some are spent; null where there is nothing left. Reasoning that was given a
 * budget needs more than that, and with another budget nothing that is cached could be used.
 */
export function answerLeft(request: WireRequest, spent: number): number | null {
  const left = answerMax(request) - spent;
  return left > 0 ? Math.max(left, reasoningBudget(request) + 1) : null;
}

function reasoningBudget({ bytes, members }: WireRequest): number {
  const member = members.find(({ key }) => key === "thinking");
  const thinking = member === undefined ? null : fieldsOf(parseAt(bytes, member.value));
  const budget = thinking?.["type"] === "enabled" ? thinking["budget_tokens"] : 0;
  return typeof budget === "number" && Number.isFinite(budget) ? budget : 0;
}

/** The members of the body, with the messages already read: skipping them twice would cost as much again. */
function topLevel(bytes: Buffer, before: Before | null): TopLevel | null {
  const members = new Map<string, Member>();
  let messages: readonly WireGroup[] | null = null;
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_OBJECT) return null;
  for (;;) {
    at = skipSpace(bytes, at + 1);
    if (bytes[at] === CLOSE_OBJECT && members.size === 0) break;
    const key = bytes[at] === QUOTE ? valueAt(bytes, at) : null;
    const name = key === null ? undefined : parseAt(bytes, key);
    const colon = key === null ? -1 : skipSpace(bytes, key.end);
    // A key that comes twice means different things to different readers: better not to read it at all.
    if (typeof name !== "string" || bytes[colon] !== 0x3a || members.has(name)) return null;
    const start = skipSpace(bytes, colon + 1);
    const read = name === "messages" ? readMessages(bytes, start, before) : null;
    const value: Range | null = read === null ? valueAt(bytes, start) : { start, end: read.end };
    if (value === null || (name === "messages" && read === null)) return null;
    messages = read?.messages ?? messages;
    members.set(name, { key: name, keyStart: at, value });
    at = skipSpace(bytes, value.end);
    if (bytes[at] === CLOSE_OBJECT) break;
    if (bytes[at] !== 0x2c) return null;
  }
  const end = skipSpace(bytes, at + 1);
  return end === bytes.length ? { members, messages } : null;
}

type Messages = { readonly messages: readonly WireGroup[]; readonly end: number };

function readMessages(bytes: Buffer, start: number, before: Before | null): Messages | null {
  const kept = before === null ? [] : keptMessages(start, before);
  const last = kept.at(-1);
  const from = last === undefined ? null : afterElement(bytes, last.range.end);
  if (last !== undefined && from === null) {
    const end = skipSpace(bytes, last.range.end);
    return bytes[end] === CLOSE_ARRAY ? { messages: kept, end: end + 1 } : null;
  }
  const rest = elementsOf(bytes, start, from);
  if (rest === null) return null;
  const fresh: WireGroup[] = [];
  for (const range of rest.elements) {
    const message = readMessage(bytes, range);
    if (message === null) return null;
    fresh.push(message);
  }
  return { messages: [...kept, ...fresh], end: rest.end };
}

/** Where the next element starts, or null where the array ends. */
function afterElement(bytes: Buffer, end: number): number | null {
  const at = skipSpace(bytes, end);
  return bytes[at] === 0x2c ? at + 1 : null;
}

/** The messages of the request before that lie unchanged at the same place. */
function keptMessages(start: number, { request: { messages }, shared }: Before): readonly WireGroup[] {
  const first = messages[0];
  if (first === undefined || first.range.start <= start || shared <= first.range.start) return [];
  const count = countWhile(messages.length, (index) => (messages[index]?.range.end ?? 0) <= shared);
  return messages.slice(0, count);
}

const stretchBytes = 65_536;

/** How many bytes two bodies share from their start, by native comparison of stretches, then of halves. */
function sharedBytes(a: Buffer, b: Buffer): number {
  const length = Math.min(a.length, b.length);
  const isSame = (from: number, to: number): boolean => a.compare(b, from, to, from, to) === 0;
  let low = 0;
  while (low < length && isSame(low, Math.min(length, low + stretchBytes))) low += stretchBytes;
  if (low >= length) return length;
  let high = Math.min(length, low + stretchBytes);
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (isSame(low, middle)) low = middle;
    else high = middle;
  }
  return low;
}

function readMessage(bytes: Buffer, range: Range): WireGroup | null {
  const members = membersOf(bytes, range);
  const role = members?.find(({ key }) => key === "role");
  const content = members?.find(({ key }) => key === "content");
  const name = role === undefined ? null : parseAt(bytes, role.value);
  if (members === null || typeof name !== "string" || content === undefined) return null;
  if (new Set(members.map(({ key }) => key)).size < members.length) return null;
  const isBare = bytes[content.value.start] === QUOTE;
  const units = isBare
    ? bareUnits(name, { bytes, range: content.value, base: range.start })
    : eachElement(bytes, content.value.start, (element) =>
        unitOfBlock(name, { bytes, range: element, base: range.start }),
      );
  if (units === null) return null;
  const [before, after] = [content.value.start, content.value.end];
  return {
    role: name,
    range,
    units,
    head: `${bytes.toString("utf8", range.start, before)}[`,
    tail: `]${bytes.toString("utf8", after, range.end)}`,
    extra: members.length === 2 ? "" : extraOf(bytes, members),
    isMarked: hasMark(units),
  };
}

/** An empty string says nothing: as a text block it would be refused where it is not refused itself. */
function bareUnits(role: string, at: Parameters<typeof unitOfString>[1]): readonly WireUnit[] | null {
  if (at.range.end - at.range.start === EMPTY_STRING.length) return [];
  const unit = unitOfString(role, at);
  return unit === null ? null : [unit];
}

function extraOf(bytes: Buffer, members: readonly Member[]): string {
  return members
    .filter(({ key }) => key !== "role" && key !== "content")
    .map(({ key, value }) => `${JSON.stringify(key)}:${bytes.toString("utf8", value.start, value.end)}`)
    .sort()
    .join(",");
}

type Section = {
  readonly bytes: Buffer;
  readonly member: Member | undefined;
  readonly before: WireGroup | undefined;
  readonly previous: WireRequest | null;
};

/** Tools and system texts hardly ever change: where their bytes are the same, so are their units. */
function section({ bytes, member, before, previous }: Section): WireGroup | null {
  if (member === undefined) return sectionGroup({ start: 0, end: 0 }, []);
  const range = member.value;
  const same =
    before !== undefined &&
    previous !== null &&
    before.range.end - before.range.start === range.end - range.start &&
    previous.bytes.compare(bytes, range.start, range.end, before.range.start, before.range.end) === 0;
  if (same) return sectionGroup(range, before.units);
  const base = range.start;
  if (member.key === "system" && bytes[range.start] === QUOTE) {
    const unit = unitOfSystem({ bytes, range, base });
    if (unit === null) return null;
    // A blank string says nothing, and is refused where it is written as a block.
    return sectionGroup(range, unitText(bytes, base, unit)?.trim() === "" ? [] : [unit]);
  }
  const read = member.key === "tools" ? unitOfTool : unitOfSystem;
  const units = eachElement(bytes, range.start, (element) => read({ bytes, range: element, base }));
  return units === null ? null : sectionGroup(range, units);
}

function sectionGroup(range: Range, units: readonly WireUnit[]): WireGroup {
  return { role: "system", range, units, head: "[", tail: "]", extra: "", isMarked: hasMark(units) };
}

function hasMark(units: readonly WireUnit[]): boolean {
  return units.some(({ mark }) => mark !== null);
}

function eachElement(
  bytes: Buffer,
  start: number,
  read: (range: Range) => WireUnit | null,
): readonly WireUnit[] | null {
  const list = elementsOf(bytes, start);
  if (list === null) return null;
  const units: WireUnit[] = [];
  for (const range of list.elements) {
    const unit = read(range);
    if (unit === null) return null;
    units.push(unit);
  }
  return units;
}

/** Claude Code names its session in a JSON text inside `metadata.user_id`. */
function sessionHint(metadata: unknown): string | null {
  const userId = textIn(fieldsOf(metadata), "user_id");
  if (userId === null || !userId.startsWith("{")) return null;
  try {
    return textIn(fieldsOf(JSON.parse(userId)), "session_id");
  } catch {
    return null;
  }
}

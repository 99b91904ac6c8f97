import { must } from "../../base/index.ts";
import {
  type ByteRange,
  elementsOf,
  type JsonMember,
  membersOf,
  parseAt,
  skipSpace,
  valueRangeAt,
} from "../json-scan.ts";
import { countWhile, sharedGroups, type WireGroup, type WireRequest, type WireUnit } from "../wire.ts";
import { stringField, wireFields } from "./schema.ts";
import { unitOfBlock, unitOfString, unitOfSystem, unitOfTool } from "./units.ts";
import { selfClearingHead } from "./write-body.ts";

const QUOTE = 0x22;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const CLOSE_ARRAY = 0x5d;
const EMPTY_STRING = '""';

/**
 * Reads a Messages request. Messages and sections that `previous` has too, byte for byte, are reused from it,
 * so the cost grows only with the new content. Null if we cannot read it: the provider judges such a request,
 * and it is recorded as bytes.
 */
export function readRequest(body: Uint8Array, previous: WireRequest | null): WireRequest | null {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const before =
    previous === null ? null : { request: previous, shared: sharedByteCount(previous.bytes, bytes) };
  const parts = readBody(bytes, before);
  if (parts === null) return null;
  const { members, messages } = parts;
  const tools = readSection({ bytes, member: members.get("tools"), before: previous?.tools, previous });
  const system = readSection({ bytes, member: members.get("system"), before: previous?.system, previous });
  if (tools === null || system === null || messages === null) return null;
  const parseMember = (key: string): unknown => {
    const member = members.get(key);
    return member === undefined ? undefined : parseAt(bytes, member.value);
  };
  const textOf = (key: string): string | null => {
    const value = members.get(key)?.value;
    return value === undefined ? null : bytes.toString("utf8", value.start, value.end);
  };
  const model = parseMember("model");
  const markedMessages = markedMessagesOf(messages, previous);
  const marked = markedMessages.map((at) => must(messages[at], "a marked message is there"));
  return {
    protocol: "anthropic",
    bytes,
    sharedBytes: before?.shared ?? 0,
    sharedEndBytes: before === null ? 0 : sharedEndCount(before, bytes),
    model: typeof model === "string" ? model : null,
    tools,
    system,
    messages,
    messageKeys: messageKeysOf(messages, previous),
    sessionHint: sessionHint(parseMember("metadata")),
    isStreamed: parseMember("stream") === true,
    members: [...members.values()],
    markedMessages,
    automaticMark: textOf("cache_control"),
    cacheLifetimeMs: cacheLifetimeMs([tools, system, ...marked]),
    ...tokenLimits(parseMember),
    isStoredAtProvider: (textOf("thread") ?? "null") !== "null",
    hasOwnEdits: editFields.some((key) => members.has(key)),
  };
}

function markedMessagesOf(messages: readonly WireGroup[], previous: WireRequest | null): readonly number[] {
  const shared = previous === null ? 0 : sharedGroups(messages, previous.messages);
  const kept = previous?.markedMessages.filter((index) => index < shared) ?? [];
  const fresh = messages.slice(shared).flatMap(({ isMarked }, index) => (isMarked ? [shared + index] : []));
  return [...kept, ...fresh];
}

function messageKeysOf(messages: readonly WireGroup[], previous: WireRequest | null): readonly string[] {
  const shared = previous === null ? 0 : sharedGroups(messages, previous.messages);
  // Counting the keys that are gone is cheap: they are few, and all at the end.
  const gone = previous?.messages.slice(shared).reduce((sum, { units }) => sum + units.length, 0) ?? 0;
  const count = (previous?.messageKeys.length ?? 0) - gone;
  const fresh = messages.slice(shared).flatMap(({ units }) => units.map(({ key }) => key));
  return [...(previous?.messageKeys.slice(0, count) ?? []), ...fresh];
}

/** The previous request, and the number of leading bytes that both bodies share. */
type PreviousBody = { readonly request: WireRequest; readonly shared: number };

type ScannedBody = {
  readonly members: ReadonlyMap<string, JsonMember>;
  readonly messages: readonly WireGroup[] | null;
};

function tokenLimits(parseMember: (key: string) => unknown) {
  const [limit, thinking] = [parseMember("max_tokens"), wireFields(parseMember("thinking"))];
  const budget = thinking?.["type"] === "enabled" ? thinking["budget_tokens"] : 0;
  const numberOf = (value: unknown): number =>
    typeof value === "number" && Number.isFinite(value) ? Math.max(0, value) : 0;
  return { answerTokensMax: numberOf(limit), reasoningTokens: numberOf(budget) };
}

const cacheMs = { short: 5 * 60_000, long: 60 * 60_000 };

function cacheLifetimeMs(groups: readonly WireGroup[]): number {
  const isLong = groups.some(({ units }) => units.some(({ mark }) => mark?.includes('"1h"')));
  return isLong ? cacheMs.long : cacheMs.short;
}

/** Fields with which a client edits its context at the provider, or that exclude such an edit. */
const editFields: readonly string[] = ["context_management", "compaction", "thread"];

/**
 * Reads the members of the body and its messages in one pass: skipping messages twice would double the cost.
 */
function readBody(bytes: Buffer, before: PreviousBody | null): ScannedBody | null {
  const members = new Map<string, JsonMember>();
  let messages: readonly WireGroup[] | null = null;
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_OBJECT) return null;
  for (;;) {
    at = skipSpace(bytes, at + 1);
    if (bytes[at] === CLOSE_OBJECT && members.size === 0) break;
    const key = bytes[at] === QUOTE ? valueRangeAt(bytes, at) : null;
    const name = key === null ? undefined : parseAt(bytes, key);
    const colon = key === null ? -1 : skipSpace(bytes, key.end);
    // Readers differ in how they take a key that comes twice, so we do not read such a body.
    if (typeof name !== "string" || bytes[colon] !== 0x3a || members.has(name)) return null;
    const start = skipSpace(bytes, colon + 1);
    const list = name === "messages" ? readMessages(bytes, start, before) : null;
    const value: ByteRange | null = list === null ? valueRangeAt(bytes, start) : { start, end: list.end };
    if (value === null || (name === "messages" && list === null)) return null;
    messages = list?.messages ?? messages;
    members.set(name, { key: name, keyStart: at, value });
    at = skipSpace(bytes, value.end);
    if (bytes[at] === CLOSE_OBJECT) break;
    if (bytes[at] !== 0x2c) return null;
  }
  const end = skipSpace(bytes, at + 1);
  return end === bytes.length ? { members, messages } : null;
}

type MessageList = { readonly messages: readonly WireGroup[]; readonly end: number };

function readMessages(bytes: Buffer, start: number, before: PreviousBody | null): MessageList | null {
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

/** The start of the next element; null if the array ends. */
function afterElement(bytes: Buffer, end: number): number | null {
  const at = skipSpace(bytes, end);
  return bytes[at] === 0x2c ? at + 1 : null;
}

/** The messages of the previous request that lie unchanged at the same range. */
function keptMessages(start: number, { request: { messages }, shared }: PreviousBody): readonly WireGroup[] {
  const first = messages[0];
  if (first === undefined || first.range.start <= start || shared <= first.range.start) return [];
  const count = countWhile(messages.length, (index) => (messages[index]?.range.end ?? 0) <= shared);
  return messages.slice(0, count);
}

const stretchBytes = 65_536;

/** The number of leading bytes two bodies share. */
function sharedByteCount(a: Buffer, b: Buffer): number {
  const isSame = (from: number, to: number): boolean => a.compare(b, from, to, from, to) === 0;
  return samePrefix(Math.min(a.length, b.length), isSame);
}

/** The number of trailing bytes two bodies share, behind the leading ones. */
function sharedEndCount({ request: { bytes: a }, shared }: PreviousBody, b: Buffer): number {
  const most = Math.min(a.length, b.length) - shared;
  const isSame = (from: number, to: number): boolean =>
    a.compare(b, b.length - to, b.length - from, a.length - to, a.length - from) === 0;
  return samePrefix(most, isSame);
}

/** Counts the bytes that are the same, by native comparison of stretches, then of halves. */
function samePrefix(length: number, isSame: (from: number, to: number) => boolean): number {
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

function readMessage(bytes: Buffer, range: ByteRange): WireGroup | null {
  const members = membersOf(bytes, range);
  const role = members?.find(({ key }) => key === "role");
  const content = members?.find(({ key }) => key === "content");
  const name = role === undefined ? null : parseAt(bytes, role.value);
  if (members === null || typeof name !== "string" || content === undefined) return null;
  if (new Set(members.map(({ key }) => key)).size < members.length) return null;
  const isBare = bytes[content.value.start] === QUOTE;
  const units = isBare
    ? bareUnits(name, { bytes, range: content.value, base: range.start })
    : readElements(bytes, content.value.start, (element) =>
        unitOfBlock(name, { bytes, range: element, base: range.start }),
      );
  if (units === null) return null;
  const { start: contentStart, end: contentEnd } = content.value;
  const head = `${bytes.toString("utf8", range.start, contentStart)}[`;
  return {
    role: name,
    range,
    units,
    head,
    ...(head === selfClearingHead ? { isSelfClearing: true } : {}),
    tail: `]${bytes.toString("utf8", contentEnd, range.end)}`,
    extra: members.length === 2 ? "" : extraOf(bytes, members),
    isMarked: hasMark(units),
  };
}

/** An empty string gives no unit: the provider takes it as content, but refuses an empty text block. */
function bareUnits(role: string, source: Parameters<typeof unitOfString>[1]): readonly WireUnit[] | null {
  if (source.range.end - source.range.start === EMPTY_STRING.length) return [];
  const unit = unitOfString(role, source);
  return unit === null ? null : [unit];
}

function extraOf(bytes: Buffer, members: readonly JsonMember[]): string {
  return members
    .filter(({ key }) => key !== "role" && key !== "content")
    .map(({ key, value }) => `${JSON.stringify(key)}:${bytes.toString("utf8", value.start, value.end)}`)
    .sort()
    .join(",");
}

type SectionInput = {
  readonly bytes: Buffer;
  readonly member: JsonMember | undefined;
  readonly before: WireGroup | undefined;
  readonly previous: WireRequest | null;
};

/** Tools and system texts hardly ever change: if their bytes are the same, their units are reused. */
function readSection({ bytes, member, before, previous }: SectionInput): WireGroup | null {
  if (member === undefined) return sectionGroup({ start: 0, end: 0 }, []);
  const range = member.value;
  const isSame =
    before !== undefined &&
    previous !== null &&
    before.range.end - before.range.start === range.end - range.start &&
    previous.bytes.compare(bytes, range.start, range.end, before.range.start, before.range.end) === 0;
  if (isSame) return sectionGroup(range, before.units);
  const base = range.start;
  if (member.key === "system" && bytes[range.start] === QUOTE) {
    const unit = unitOfSystem({ bytes, range, base });
    if (unit === null) return null;
    // A blank string gives no unit: as a text block it would be refused.
    const text = parseAt(bytes, range);
    return sectionGroup(range, typeof text === "string" && text.trim() === "" ? [] : [unit]);
  }
  const readUnit = member.key === "tools" ? unitOfTool : unitOfSystem;
  const units = readElements(bytes, range.start, (element) => readUnit({ bytes, range: element, base }));
  return units === null ? null : sectionGroup(range, units);
}

function sectionGroup(range: ByteRange, units: readonly WireUnit[]): WireGroup {
  return { role: "system", range, units, head: "[", tail: "]", extra: "", isMarked: hasMark(units) };
}

function hasMark(units: readonly WireUnit[]): boolean {
  return units.some(({ mark }) => mark !== null);
}

function readElements(
  bytes: Buffer,
  start: number,
  read: (range: ByteRange) => WireUnit | null,
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
  const userId = stringField(wireFields(metadata), "user_id");
  if (userId === null || !userId.startsWith("{")) return null;
  try {
    return stringField(wireFields(JSON.parse(userId)), "session_id");
  } catch {
    return null;
  }
}

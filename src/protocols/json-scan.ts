/** A stretch of a body, from its first byte to behind its last. */
export type ByteRange = { readonly start: number; readonly end: number };
export type JsonMember = { readonly key: string; readonly keyStart: number; readonly value: ByteRange };

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Bodies nested deeper are relayed but not read. */
const DEPTH_MAX = 512;

/**
 * Finds the ranges of JSON values in bytes without parsing them: strings are skipped by native search, so a
 * megabyte takes a fraction of a millisecond. It does not validate: for bytes that are no JSON it returns
 * null or a range that will not parse, and never loops or throws.
 */
export function membersOf(bytes: Buffer, { start, end }: ByteRange): readonly JsonMember[] | null {
  if (bytes[start] !== OPEN_OBJECT) return null;
  const members: JsonMember[] = [];
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === CLOSE_OBJECT) return at + 1 === end ? members : null;
  for (;;) {
    const keyEnd = bytes[at] === QUOTE ? stringEnd(bytes, at) : -1;
    const colon = keyEnd === -1 ? -1 : skipSpace(bytes, keyEnd);
    if (bytes[colon] !== COLON) return null;
    const value = valueRangeAt(bytes, skipSpace(bytes, colon + 1));
    if (value === null) return null;
    members.push({ key: keyText(bytes, at, keyEnd), keyStart: at, value });
    at = skipSpace(bytes, value.end);
    if (bytes[at] === CLOSE_OBJECT) return at + 1 === end ? members : null;
    if (bytes[at] !== COMMA) return null;
    at = skipSpace(bytes, at + 1);
  }
}

/**
 * The elements of the array at `start`. A caller may pass `from`, the start of a later element, to skip
 * ahead.
 */
export function elementsOf(
  bytes: Buffer,
  start: number,
  from: number | null = null,
): { readonly elements: readonly ByteRange[]; readonly end: number } | null {
  if (bytes[start] !== OPEN_ARRAY) return null;
  const elements: ByteRange[] = [];
  let at = skipSpace(bytes, from ?? start + 1);
  if (bytes[at] === CLOSE_ARRAY) return { elements, end: at + 1 };
  for (;;) {
    const value = valueRangeAt(bytes, at);
    if (value === null) return null;
    elements.push(value);
    at = skipSpace(bytes, value.end);
    if (bytes[at] === CLOSE_ARRAY) return { elements, end: at + 1 };
    if (bytes[at] !== COMMA) return null;
    at = skipSpace(bytes, at + 1);
  }
}

export function valueRangeAt(bytes: Buffer, start: number): ByteRange | null {
  const end = valueEnd(bytes, start);
  return end === -1 ? null : { start, end };
}

export function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at += 1;
  return at;
}

/** Parses the value in the range; undefined if it is no JSON. */
export function parseAt(bytes: Buffer, { start, end }: ByteRange): unknown {
  try {
    return JSON.parse(bytes.toString("utf8", start, end));
  } catch {
    return undefined;
  }
}

function valueEnd(bytes: Buffer, start: number): number {
  const first = bytes[start];
  if (first === QUOTE) return stringEnd(bytes, start);
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return containerEnd(bytes, start);
  let at = start;
  while (at < bytes.length && !isDelimiter(bytes[at])) at += 1;
  return at > start ? at : -1;
}

function stringEnd(bytes: Buffer, start: number): number {
  let at = bytes.indexOf(QUOTE, start + 1);
  while (at !== -1 && isEscaped(bytes, at)) at = bytes.indexOf(QUOTE, at + 1);
  return at === -1 ? -1 : at + 1;
}

/** A quote is escaped by an odd number of backslashes. */
function isEscaped(bytes: Buffer, quote: number): boolean {
  let first = quote;
  while (bytes[first - 1] === BACKSLASH) first -= 1;
  return (quote - first) % 2 === 1;
}

function containerEnd(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = stringEnd(bytes, at);
      if (end === -1) return -1;
      at = end - 1;
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      depth += 1;
      if (depth > DEPTH_MAX) return -1;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

function keyText(bytes: Buffer, start: number, end: number): string {
  const text = parseAt(bytes, { start, end });
  return typeof text === "string" ? text : bytes.toString("latin1", start + 1, end - 1);
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isDelimiter(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT || byte === COLON || isSpace(byte);
}

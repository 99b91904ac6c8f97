import { isUtf8 } from "node:buffer";

/** Parsing more than this for a name or a word is not worth the time of a thread that serves others. */
const lookBytesMax = 8 * 1024 * 1024;

/** What a block calls itself in its own wire format, if it is an object with a type. */
export function wireTypeOf(bytes: Uint8Array): string | null {
  const value = jsonIn(bytes);
  return isRecord(value) && typeof value["type"] === "string" ? value["type"] : null;
}

/** The words in a block: a bare text, or the text or content of an object. Null where there are none. */
export function textIn(bytes: Uint8Array): string | null {
  const value = jsonIn(bytes);
  if (value === undefined) return isUtf8(bytes) ? Buffer.from(bytes).toString("utf8") : null;
  if (typeof value === "string") return value;
  if (!isRecord(value)) return null;
  const text = value["text"] ?? value["content"];
  return typeof text === "string" ? text : null;
}

/** Undefined where it is no JSON, or too much of it to be looked into. */
export function jsonIn(bytes: Uint8Array): unknown {
  if (bytes.length > lookBytesMax) return undefined;
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

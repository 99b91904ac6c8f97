import { isUtf8 } from "node:buffer";

/** Parsing more than this for a name or a text would block a thread that serves others. */
const parseBytesMax = 8 * 1024 * 1024;

/** The type field of a block in its wire format. Null if it has none. */
export function wireTypeOf(bytes: Uint8Array): string | null {
  const value = parseJsonBytes(bytes);
  return isRecord(value) && typeof value["type"] === "string" ? value["type"] : null;
}

/** The text of a block: a bare string, or the text or content of an object. Null if it has none. */
export function plainTextIn(bytes: Uint8Array): string | null {
  const value = parseJsonBytes(bytes);
  if (value === undefined) return isUtf8(bytes) ? Buffer.from(bytes).toString("utf8") : null;
  if (typeof value === "string") return value;
  if (!isRecord(value)) return null;
  const text = value["text"] ?? value["content"];
  return typeof text === "string" ? text : null;
}

/** Undefined if it is no JSON, or too large to parse. */
export function parseJsonBytes(bytes: Uint8Array): unknown {
  if (bytes.length > parseBytesMax) return undefined;
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

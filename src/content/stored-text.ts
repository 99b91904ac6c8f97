import { isUtf8 } from "node:buffer";
import type { BlockKind } from "../engine/frames/index.ts";
import { parseJsonBytes } from "./wire-json.ts";

// These functions read stored content for people. Clients and models wrote it, so any field may be missing.

/** The text of a content. Null if it has none, such as reasoning that was never visible. */
export function storedText(bytes: Uint8Array, kind: BlockKind): string | null {
  const value = parseJsonBytes(bytes);
  if (kind === "reasoning") return reasoningText(value);
  if (value !== undefined) return textOf(value);
  return isUtf8(bytes) ? Buffer.from(bytes).toString("utf8") : `(${bytes.length} bytes that are no text)`;
}

/** Whether it contains the provider's signature, without which reasoning cannot be continued. */
export function isSigned(bytes: Uint8Array): boolean {
  const value = parseJsonBytes(bytes);
  if (!isRecord(value)) return false;
  const { signature, data, type } = value;
  return isFilled(signature) || (type === "redacted_thinking" && isFilled(data));
}

/** The outcome of reasoning in short: `said "I look there"`, `called read_file(auth.ts)`. */
export function reasoningOutcome(bytes: Uint8Array): string {
  const value = parseJsonBytes(bytes);
  if (isRecord(value) && isCall(value)) return `called ${nameOf(value)}(${inputText(value["input"])})`;
  return `said "${value === undefined ? "" : textOf(value)}"`;
}

/** The provider's id of the call that a result answers. */
export function answeredCallId(bytes: Uint8Array): string | null {
  const value = parseJsonBytes(bytes);
  return isRecord(value) && isFilled(value["tool_use_id"]) ? value["tool_use_id"] : null;
}

/** A call by its tool and its input: `Read src/auth/token.ts`. Null if it is no call. */
export function callLabel(bytes: Uint8Array): string | null {
  const value = parseJsonBytes(bytes);
  return isRecord(value) && isCall(value) ? `${nameOf(value)} ${inputText(value["input"])}` : null;
}

/** A client's tool definition in short: `tool Read: reads a file`. Null if it is none. */
export function toolLabel(bytes: Uint8Array): string | null {
  const value = parseJsonBytes(bytes);
  if (!isRecord(value) || !isFilled(value["name"]) || !("input_schema" in value)) return null;
  return isFilled(value["description"])
    ? `tool ${value["name"]}: ${value["description"]}`
    : `tool ${value["name"]}`;
}

function reasoningText(value: unknown): string | null {
  const text = isRecord(value) ? value["thinking"] : value;
  return typeof text === "string" && text.trim() !== "" ? text : null;
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textOf).join("\n");
  if (!isRecord(value)) return JSON.stringify(value);
  const { type, text, content, source } = value;
  if (typeof text === "string") return text;
  if (isCall(value)) return `${nameOf(value)}(${JSON.stringify(value["input"] ?? {})})`;
  if (type === "tool_result") return content === undefined ? "" : textOf(content);
  if (isRecord(source) && isFilled(source["data"])) return mediaText(String(type), source);
  return JSON.stringify(value);
}

/** Describes media in base64 by type and length, because the letters are not readable. */
function mediaText(type: string, source: Readonly<Record<string, unknown>>): string {
  const kind = isFilled(source["media_type"]) ? ` ${source["media_type"]}` : "";
  return source["type"] === "text"
    ? String(source["data"])
    : `(${type}${kind}, ${String(source["data"]).length} characters of ${String(source["type"])})`;
}

/** The texts and numbers of an input, without their names. */
function inputText(input: unknown): string {
  const values = isRecord(input) ? Object.values(input) : [];
  return values.filter((one) => typeof one === "string" || typeof one === "number").join(", ");
}

function isCall({ type, name }: Readonly<Record<string, unknown>>): boolean {
  return isFilled(name) && typeof type === "string" && type.endsWith("tool_use");
}

function nameOf({ name }: Readonly<Record<string, unknown>>): string {
  return String(name);
}

function isFilled(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

import { isUtf8 } from "node:buffer";
import type { BlockKind } from "../../engine/index.ts";
import { jsonIn } from "./wire-look.ts";

/** What a content says, for somebody who reads it. Others wrote it: anything in it may be missing. */

/** Null: there are no words in it, as in reasoning that was never visible. */
export function storedWords(bytes: Uint8Array, kind: BlockKind): string | null {
  const value = jsonIn(bytes);
  if (kind === "reasoning") return reasoningWords(value);
  if (value !== undefined) return wordsOf(value);
  return isUtf8(bytes) ? Buffer.from(bytes).toString("utf8") : `(${bytes.length} bytes that are no text)`;
}

/** Whether the provider's signature lies in it: what is needed to go on from reasoning. */
export function isSigned(bytes: Uint8Array): boolean {
  const value = jsonIn(bytes);
  if (!isRecord(value)) return false;
  const { signature, data, type } = value;
  return isFilled(signature) || (type === "redacted_thinking" && isFilled(data));
}

/** What came of reasoning, in a few words: `said "I look there"`, `called read_file(auth.ts)`. */
export function outcomeWords(bytes: Uint8Array): string {
  const value = jsonIn(bytes);
  if (isRecord(value) && isCall(value)) return `called ${nameOf(value)}(${inputWords(value["input"])})`;
  return `said "${value === undefined ? "" : wordsOf(value)}"`;
}

/** The call that a result answers, as its provider names it. */
export function answeredCall(bytes: Uint8Array): string | null {
  const value = jsonIn(bytes);
  return isRecord(value) && isFilled(value["tool_use_id"]) ? value["tool_use_id"] : null;
}

/** A call by its tool and what it is given: `Read src/auth/token.ts`. Null: it is no call. */
export function callLabel(bytes: Uint8Array): string | null {
  const value = jsonIn(bytes);
  return isRecord(value) && isCall(value) ? `${nameOf(value)} ${inputWords(value["input"])}` : null;
}

/** `tool Read: reads a file` for what a client says of its tools; null: it is nothing of that. */
export function toolLabel(bytes: Uint8Array): string | null {
  const value = jsonIn(bytes);
  if (!isRecord(value) || !isFilled(value["name"]) || !("input_schema" in value)) return null;
  return isFilled(value["description"])
    ? `tool ${value["name"]}: ${value["description"]}`
    : `tool ${value["name"]}`;
}

function reasoningWords(value: unknown): string | null {
  const words = isRecord(value) ? value["thinking"] : value;
  return typeof words === "string" && words.trim() !== "" ? words : null;
}

function wordsOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(wordsOf).join("\n");
  if (!isRecord(value)) return JSON.stringify(value);
  const { type, text, content, source } = value;
  if (typeof text === "string") return text;
  if (isCall(value)) return `${nameOf(value)}(${JSON.stringify(value["input"] ?? {})})`;
  if (type === "tool_result") return content === undefined ? "" : wordsOf(content);
  if (isRecord(source) && isFilled(source["data"])) return mediaWords(String(type), source);
  return JSON.stringify(value);
}

/** A picture in letters is nothing to read. */
function mediaWords(type: string, source: Readonly<Record<string, unknown>>): string {
  const kind = isFilled(source["media_type"]) ? ` ${source["media_type"]}` : "";
  return source["type"] === "text"
    ? String(source["data"])
    : `(${type}${kind}, ${String(source["data"]).length} characters of ${String(source["type"])})`;
}

/** The texts and numbers given, without what they were called. */
function inputWords(input: unknown): string {
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

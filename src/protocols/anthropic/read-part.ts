import type { Json } from "../../base/index.ts";
import {
  isFields,
  type JsonFields,
  type MediaPart,
  type OpaquePart,
  type Part,
  stringsIn,
  type WireContent,
} from "../../content/index.ts";
import { partTypeOf, stringField } from "./schema.ts";

/** Parsing more than this for a name or a text would block a thread that serves others. */
const parseBytesMax = 8 * 1024 * 1024;

/** Reads a content block or a tool. Clients and models wrote it, so any field may be missing. */
export function readPart(bytes: Uint8Array): Part {
  const text = textIn(bytes);
  const value = text === null || bytes.length > parseBytesMax ? undefined : parse(text);
  if (value === undefined) {
    const shown = text ?? `(${bytes.length} bytes that are no text)`;
    return { type: "opaque", text: shown, strings: [], raw: null };
  }
  if (typeof value === "string") return { type: "text", text: value };
  return isFields(value) ? partOf(value, text ?? "") : opaque(value);
}

/** The text of a text block. Null for any other. */
export function readText(bytes: Uint8Array): string | null {
  const part = readPart(bytes);
  return part.type === "text" ? part.text : null;
}

/** The type field of a block. Null if it has none. */
export function readWireType(bytes: Uint8Array): string | null {
  const text = textIn(bytes);
  const value = text === null || bytes.length > parseBytesMax ? undefined : parse(text);
  return isFields(value) ? stringField(value, "type") : null;
}

function partOf(block: JsonFields, text: string): Part {
  const type = stringField(block, "type") ?? "";
  switch (partTypeOf(type)) {
    case "text":
      return { type: "text", text: stringField(block, "text") ?? "" };
    case "reasoning":
      return reasoningPart(block);
    case "call": {
      const { id = "", name = "", input = {} } = block;
      return { type: "call", id: String(id), name: String(name), input, isExact: !hasLongNumber(text) };
    }
    case "result": {
      const { content, is_error: isError = false } = block;
      const callId = stringField(block, "tool_use_id") ?? "";
      return { type: "result", callId, parts: resultParts(content), isError: isError === true };
    }
    case "media":
      return mediaPart(type === "image" ? type : "document", block);
    case "provider": {
      const { name = null, input = {}, content } = block;
      const shown =
        content === undefined ? rawText(block) : { ...rawText(block), text: contentText(content) };
      const caller = typeof name === "string" ? name : null;
      return { type: "provider", name: caller, input, ...shown, raw: wireContent(block) };
    }
    default:
      return "input_schema" in block
        ? toolPart(block)
        : { type: "opaque", ...rawText(block), raw: wireContent(block) };
  }
}

function reasoningPart(block: JsonFields): Part {
  const text = stringField(block, "thinking") ?? "";
  // Hidden reasoning has its signature in another field.
  const signature = stringField(block, "signature") || stringField(block, "data") || "";
  const { length } = signature;
  return {
    type: "reasoning",
    text: text.trim() === "" ? null : text,
    isSigned: length > 0,
    signatureLength: length,
  };
}

function toolPart(block: JsonFields): Part {
  const [name, description] = [stringField(block, "name") ?? "", stringField(block, "description") ?? ""];
  return { type: "tool", name, description, ...rawText(block) };
}

function resultParts(content: Json | undefined): Extract<Part, { type: "result" }>["parts"] {
  if (content === undefined) return [];
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [opaque(content)];
  return content.map((inner: Json) => {
    const part = isFields(inner) ? partOf(inner, "") : opaque(inner);
    return part.type === "text" || part.type === "media" ? part : opaque(inner);
  });
}

/** The texts of a provider's own result, one per line. */
function contentText(content: Json): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(contentText).join("\n");
  return isFields(content)
    ? (stringField(content, "text") ?? JSON.stringify(content))
    : JSON.stringify(content);
}

function mediaPart(kind: MediaPart["kind"], block: JsonFields): MediaPart {
  const source = isFields(block["source"]) ? block["source"] : {};
  const [type, data] = [stringField(source, "media_type"), stringField(source, "data")];
  const file = source["type"] !== "base64" || type === null || data === null ? null : { type, data };
  const isAll = file !== null && Object.keys(block).length === 2 && Object.keys(source).length === 3;
  const raw = isAll ? null : wireContent(block);
  return { type: "media", kind, text: mediaText(kind, block), strings: stringsIn(block), file, raw };
}

/** Describes media in base64 by type and length, because the letters are not readable. */
function mediaText(kind: MediaPart["kind"], block: JsonFields): string {
  const source = block["source"];
  const data = isFields(source) ? stringField(source, "data") : null;
  if (!isFields(source) || data === null || data === "") return JSON.stringify(block);
  if (source["type"] === "text") return data;
  const type = stringField(source, "media_type");
  return `(${kind}${type === null ? "" : ` ${type}`}, ${data.length} characters of ${String(source["type"])})`;
}

function rawText(block: JsonFields): Pick<OpaquePart, "text" | "strings"> {
  return { text: stringField(block, "text") ?? JSON.stringify(block), strings: stringsIn(block) };
}

function opaque(value: Json): OpaquePart {
  return {
    type: "opaque",
    text: JSON.stringify(value),
    strings: stringsIn(value),
    raw: wireContent(value),
  };
}

function wireContent(value: Json): WireContent {
  return { form: "anthropic", type: isFields(value) ? stringField(value, "type") : null, value };
}

const jsonString = /"(?:[^"\\]|\\.)*"/g;
const longNumber = /[:[,]\s*-?\d*\.?\d{16,}/;

/** Parsing changes so long a number, unless it stands in a string. */
export function hasLongNumber(text: string): boolean {
  return longNumber.test(text) && longNumber.test(text.replace(jsonString, '""'));
}

/** Refuses bytes that are no text. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function textIn(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

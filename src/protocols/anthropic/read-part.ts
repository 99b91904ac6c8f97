import type { Json } from "../../base/index.ts";
import { isFields, type JsonFields, type OpaquePart, type Part, stringsIn } from "../../content/index.ts";
import { partTypeOf, stringField } from "./schema.ts";

/** Parsing more than this for a name or a text would block a thread that serves others. */
const parseBytesMax = 8 * 1024 * 1024;

/** Reads a content block or a tool. Clients and models wrote it, so any field may be missing. */
export function readPart(bytes: Uint8Array): Part {
  const text = textIn(bytes);
  const value = text === null || bytes.length > parseBytesMax ? undefined : parse(text);
  if (value === undefined) return opaque(text ?? `(${bytes.length} bytes that are no text)`, []);
  if (typeof value === "string") return { type: "text", text: value };
  if (!isFields(value)) return opaque(JSON.stringify(value), stringsIn(value));
  return partOf(value, text ?? "");
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
      return { type: "media", ...mediaText(type, block) };
    case "provider": {
      const { name = null, input = {}, content } = block;
      const shown =
        content === undefined ? rawText(block) : { ...rawText(block), text: contentText(content) };
      return { type: "provider", name: typeof name === "string" ? name : null, input, ...shown };
    }
    default:
      return "input_schema" in block ? toolPart(block) : { type: "opaque", ...rawText(block) };
  }
}

function reasoningPart(block: JsonFields): Part {
  const text = stringField(block, "thinking") ?? "";
  const isSigned = [block["signature"], block["data"]].some((one) => typeof one === "string" && one !== "");
  return { type: "reasoning", text: text.trim() === "" ? null : text, isSigned };
}

function toolPart(block: JsonFields): Part {
  const [name, description] = [stringField(block, "name") ?? "", stringField(block, "description") ?? ""];
  return { type: "tool", name, description, ...rawText(block) };
}

function resultParts(content: Json | undefined): Extract<Part, { type: "result" }>["parts"] {
  if (content === undefined) return [];
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [opaque(JSON.stringify(content), stringsIn(content))];
  return content.map((inner: Json) => {
    const part = isFields(inner) ? partOf(inner, "") : opaque(JSON.stringify(inner), stringsIn(inner));
    return part.type === "text" || part.type === "media"
      ? part
      : opaque(JSON.stringify(inner), stringsIn(inner));
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

/** Describes media in base64 by type and length, because the letters are not readable. */
function mediaText(type: string, block: JsonFields): Pick<OpaquePart, "text" | "strings"> {
  const strings = stringsIn(block);
  const source = block["source"];
  const data = isFields(source) ? stringField(source, "data") : null;
  if (!isFields(source) || data === null || data === "") return { text: JSON.stringify(block), strings };
  if (source["type"] === "text") return { text: data, strings };
  const kind = stringField(source, "media_type");
  const described = `(${type}${kind === null ? "" : ` ${kind}`}, ${data.length} characters of ${String(source["type"])})`;
  return { text: described, strings };
}

function rawText(block: JsonFields): Pick<OpaquePart, "text" | "strings"> {
  return { text: stringField(block, "text") ?? JSON.stringify(block), strings: stringsIn(block) };
}

function opaque(text: string, strings: readonly string[]): OpaquePart {
  return { type: "opaque", text, strings };
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

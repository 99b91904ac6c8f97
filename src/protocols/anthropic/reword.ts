import type { Json } from "../../base/index.ts";

/** New content for a unit: a text, or for a call another input. */
export type UnitReplacement =
  | { readonly text: string; readonly keepsMedia: boolean }
  | { readonly input: { readonly [key: string]: Json } };

type JsonFields = { readonly [key: string]: Json };

/**
 * Writes a unit with other content. Its identity stays: its type, its id and the call it answers. Null if the
 * unit cannot hold the content: an input for a result, or bytes that are no block.
 */
export function replaceContent(unit: Uint8Array, replacement: UnitReplacement): Uint8Array | null {
  const block = parseBlock(unit);
  if (block === null) return null;
  const replaced =
    "input" in replacement ? withInput(block, replacement.input) : withText(block, replacement);
  return replaced === null ? null : Buffer.from(JSON.stringify(replaced));
}

/** The readable content of a unit. */
export type ReadableUnit =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "result";
      readonly callId: string;
      readonly text: string;
      /** The result holds nothing but this one text. */
      readonly isAll: boolean;
      readonly isError: boolean;
    }
  | { readonly type: "call"; readonly id: string; readonly name: string; readonly input: JsonFields };

/** Null for units without readable content: reasoning, an image, bytes that are no block. */
export function readableUnit(unit: Uint8Array): ReadableUnit | null {
  const block = parseBlock(unit);
  switch (block?.["type"]) {
    case "text":
      return { type: "text", text: stringOf(block["text"]) ?? "" };
    case "tool_result": {
      const text = contentText(block["content"]);
      if (text === null) return null;
      const { content, is_error: isError = false } = block;
      const isAll = !Array.isArray(content) || content.length === 1;
      const callId = stringOf(block["tool_use_id"]) ?? "";
      return { type: "result", callId, text, isAll, isError: isError === true };
    }
    case "tool_use": {
      const { id = null, name = null, input = null } = block;
      if (!isFields(input)) return null;
      return { type: "call", id: stringOf(id) ?? "", name: stringOf(name) ?? "", input };
    }
    default:
      return null;
  }
}

function withInput(block: JsonFields, input: JsonFields): JsonFields | null {
  return block["type"] === "tool_use" ? { ...block, input } : null;
}

type TextReplacement = Extract<UnitReplacement, { text: string }>;

function withText(block: JsonFields, replacement: TextReplacement): JsonFields | null {
  const { text } = replacement;
  switch (block["type"]) {
    case "text":
      return { ...block, text };
    case "tool_result":
      return { ...block, content: replaceResultContent(block["content"], replacement) };
    case "image":
    case "document":
      return { type: "text", text };
    default:
      return null;
  }
}

/** The text replaces the texts of a result; images stay, unless the whole result is replaced. */
function replaceResultContent(content: Json | undefined, { text, keepsMedia }: TextReplacement): Json {
  const others = Array.isArray(content) ? content.filter((part) => typeOf(part) !== "text") : [];
  return keepsMedia && others.length > 0 ? [{ type: "text", text }, ...others] : text;
}

function contentText(content: Json | undefined): string | null {
  if (!Array.isArray(content)) return stringOf(content);
  const texts = content.map((part) => (isFields(part) && part["type"] === "text" ? part["text"] : null));
  const strings = texts.filter((text): text is string => typeof text === "string");
  return strings.length === 0 ? null : strings.join("\n");
}

const jsonString = /"(?:[^"\\]|\\.)*"/g;
const longNumber = /[:[,]\s*-?\d*\.?\d{16,}/;

function parseBlock(unit: Uint8Array): JsonFields | null {
  try {
    const text = Buffer.from(unit.buffer, unit.byteOffset, unit.byteLength).toString("utf8");
    const block: unknown = JSON.parse(text);
    if (!isFields(block)) return null;
    // Parsing changes so long a number, unless it stands in a string.
    const hasLongNumber = block["type"] === "tool_use" && longNumber.test(text.replace(jsonString, '""'));
    return hasLongNumber ? null : block;
  } catch {
    return null;
  }
}

function isFields(value: unknown): value is JsonFields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function typeOf(part: Json): unknown {
  return isFields(part) ? part["type"] : null;
}

function stringOf(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}

import type { Json } from "../../base/index.ts";

/** What a unit says in place of its own words: a text, or for a call another input. */
export type Words =
  | { readonly text: string; readonly keepsMedia: boolean }
  | { readonly input: { readonly [key: string]: Json } };

type Fields = { readonly [key: string]: Json };

/**
 * The unit in other words. What makes it the unit it is, its type, its id and the call it answers, stays.
 * Null where it cannot say them: an input for a result, or bytes that are no block.
 */
export function reworded(unit: Uint8Array, words: Words): Uint8Array | null {
  const block = blockIn(unit);
  if (block === null) return null;
  const other = "input" in words ? withInput(block, words.input) : withText(block, words);
  return other === null ? null : Buffer.from(JSON.stringify(other));
}

/** What a unit says to a reader. */
export type Spoken =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "result";
      readonly callId: string;
      readonly text: string;
      /** Whether there is nothing in it but this one text. */
      readonly isAll: boolean;
      readonly isError: boolean;
    }
  | { readonly type: "call"; readonly id: string; readonly name: string; readonly input: Fields };

/** Null for what says nothing in words: reasoning, a picture, bytes that are no block. */
export function spokenIn(unit: Uint8Array): Spoken | null {
  const block = blockIn(unit);
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

function withInput(block: Fields, input: Fields): Fields | null {
  return block["type"] === "tool_use" ? { ...block, input } : null;
}

function withText(block: Fields, words: Extract<Words, { text: string }>): Fields | null {
  const { text } = words;
  switch (block["type"]) {
    case "text":
      return { ...block, text };
    case "tool_result":
      return { ...block, content: contentOf(block["content"], words) };
    case "image":
    case "document":
      return { type: "text", text };
    default:
      return null;
  }
}

/** Pictures inside a result are not what a text stands for, unless all of it goes. */
function contentOf(content: Json | undefined, { text, keepsMedia }: Extract<Words, { text: string }>): Json {
  const others = Array.isArray(content) ? content.filter((part) => typeOf(part) !== "text") : [];
  return keepsMedia && others.length > 0 ? [{ type: "text", text }, ...others] : text;
}

function contentText(content: Json | undefined): string | null {
  if (!Array.isArray(content)) return stringOf(content);
  const texts = content.map((part) => (isFields(part) && part["type"] === "text" ? part["text"] : null));
  const said = texts.filter((text): text is string => typeof text === "string");
  return said.length === 0 ? null : said.join("\n");
}

const strings = /"(?:[^"\\]|\\.)*"/g;
const longNumber = /[:[,]\s*-?\d*\.?\d{16,}/;

function blockIn(unit: Uint8Array): Fields | null {
  try {
    const text = Buffer.from(unit.buffer, unit.byteOffset, unit.byteLength).toString("utf8");
    const block: unknown = JSON.parse(text);
    if (!isFields(block)) return null;
    // Such a number would be another one after this; in a string it is only signs.
    const isLong = block["type"] === "tool_use" && longNumber.test(text.replace(strings, '""'));
    return isLong ? null : block;
  } catch {
    return null;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function typeOf(part: Json): unknown {
  return isFields(part) ? part["type"] : null;
}

function stringOf(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}

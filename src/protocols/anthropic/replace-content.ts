import type { Json } from "../../base/index.ts";
import { isFields, type JsonFields } from "../../content/index.ts";
import type { UnitReplacement } from "../protocol.ts";
import { hasLongNumber } from "./read-part.ts";
import { textBlock } from "./write-body.ts";

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

function withInput(block: JsonFields, input: Json): JsonFields | null {
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

/** A call without input, a result with this text, or the text alone. */
export function emptyContent(unit: Uint8Array, text: string): Uint8Array {
  const { type, id, name, tool_use_id } = parseAny(unit);
  if (type === "tool_use") return Buffer.from(JSON.stringify({ type, id, name, input: {} }));
  if (type === "tool_result") return Buffer.from(JSON.stringify({ type, tool_use_id, content: text }));
  return textBlock(text);
}

/** The unit with every string changed for which `change` returns another. Null if none was. */
export function replaceStrings(unit: Uint8Array, change: (text: string) => string | null): Uint8Array | null {
  let isChanged = false;
  const json = JSON.stringify(parseAny(unit), (_, value: unknown) => {
    const changed = typeof value === "string" ? change(value) : null;
    isChanged ||= changed !== null;
    return changed ?? value;
  });
  return isChanged ? Buffer.from(json) : null;
}

function parseAny(unit: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(textIn(unit));
    return isFields(value) ? value : {};
  } catch {
    return {};
  }
}

function parseBlock(unit: Uint8Array): JsonFields | null {
  try {
    const text = textIn(unit);
    const block: unknown = JSON.parse(text);
    if (!isFields(block)) return null;
    return block["type"] === "tool_use" && hasLongNumber(text) ? null : block;
  } catch {
    return null;
  }
}

function textIn(unit: Uint8Array): string {
  return Buffer.from(unit.buffer, unit.byteOffset, unit.byteLength).toString("utf8");
}

function typeOf(part: Json): unknown {
  return isFields(part) ? part["type"] : null;
}

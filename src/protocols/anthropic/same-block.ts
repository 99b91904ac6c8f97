import { canonicalJson, type Json } from "../../base/index.ts";
import { isFields, type JsonFields } from "../../content/index.ts";
import { ownLines } from "../../notes/index.ts";
import type { Tolerance } from "../protocol.ts";

/**
 * Whether two copies of a unit have the same content although their bytes differ. Clients take these
 * liberties; any other difference is an edit, and the client's version counts:
 *
 * - everywhere: cache marks, the order of keys, a string for one text block, outer whitespace;
 * - in units of the model: defaults added to a tool's input, a tool renamed to `invalid`, reasoning
 *   emptied, lines of ours stripped.
 */
export function isSameBlock(known: Uint8Array, copy: Uint8Array, tolerance: Tolerance): boolean {
  const [a, b] = [parseBlock(known), parseBlock(copy)];
  return a !== null && b !== null && a["type"] === b["type"] && hasSameContent(a, b, tolerance);
}

function hasSameContent(a: JsonFields, b: JsonFields, tolerance: Tolerance): boolean {
  if (tolerance.role !== "assistant") return isEqual(plainBlock(a), plainBlock(b));
  switch (a["type"]) {
    case "tool_use":
      return isSameCall(a, b);
    case "thinking":
      return isSameReasoning(a, b);
    case "text":
      return isSameText(a, b, tolerance);
    default:
      return isEqual(plainBlock(a), plainBlock(b));
  }
}

export function isRenamedCall(bytes: Uint8Array): boolean {
  const block = parseBlock(bytes);
  return block?.["type"] === "tool_use" && block["name"] === "invalid";
}

function isSameCall(known: JsonFields, copy: JsonFields): boolean {
  if (known["id"] !== copy["id"]) return false;
  if (copy["name"] === "invalid") return true;
  const { input: knownInput, ...knownRest } = known;
  const { input: copyInput, ...copyRest } = copy;
  return isEqual(plainBlock(knownRest), plainBlock(copyRest)) && hasDefaultsAdded(knownInput, copyInput);
}

/** Whether the copy has every value of the known input; a client may only have added some. */
function hasDefaultsAdded(known: Json | undefined, copy: Json | undefined): boolean {
  if (!isFields(known) || !isFields(copy)) return isEqual(known, copy);
  return Object.entries(known).every(
    ([key, value]) => Object.hasOwn(copy, key) && hasDefaultsAdded(value, copy[key]),
  );
}

function isSameReasoning(known: JsonFields, copy: JsonFields): boolean {
  const { thinking: knownText, ...knownRest } = known;
  const { thinking: copyText, ...copyRest } = copy;
  const isSameRest = isEqual(plainBlock(knownRest), plainBlock(copyRest));
  return isSameRest && (copyText === knownText || copyText === "");
}

function isSameText(known: JsonFields, copy: JsonFields, { isOwnLine }: Tolerance): boolean {
  const rest = ({ text, ...others }: JsonFields): Json => plainBlock(others);
  if (!isEqual(rest(known), rest(copy))) return false;
  const lines = [known, copy].map(({ text }) => String(text).split("\n"));
  // If a client stripped only the first line of ours, the other copy tells which rows belong to it.
  const ours = new Set(lines.flatMap((all) => ownLines(all, isOwnLine)));
  const [a, b] = lines.map((all) => all.filter((line) => !ours.has(line)));
  return a?.join("\n").trim() === b?.join("\n").trim();
}

/** Removes cache marks and the outer whitespace of texts, and writes a string as the text block it means. */
function plainBlock({ cache_control: _mark, ...block }: JsonFields): JsonFields {
  const { content, text } = block;
  const plain: Record<string, Json> = { ...block };
  if (typeof text === "string") plain["text"] = text.trim();
  if (typeof content === "string") plain["content"] = [{ type: "text", text: content.trim() }];
  else if (Array.isArray(content)) {
    plain["content"] = content.map((inner: Json) => (isFields(inner) ? plainBlock(inner) : inner));
  }
  return plain;
}

function isEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return canonicalJson(a) === canonicalJson(b);
}

/** Null if it is no object, if a number would lose digits, or if a text is too long to search for numbers. */
function parseBlock(bytes: Uint8Array): JsonFields | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  try {
    if (longNumber.test(text) && longNumber.test(text.replace(/"(?:[^"\\]|\\.)*"/g, '""'))) return null;
    const value = JSON.parse(text) as Json;
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}

const longNumber = /\d[\d.]{15,}|\d[eE][+-]?\d{3,}/;

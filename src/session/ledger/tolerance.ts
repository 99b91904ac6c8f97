import { canonicalJson, type Json } from "../../base/index.ts";
import { continuesOwnLine, opensOwnLines } from "../../render/index.ts";

export type Tolerance = {
  readonly role: string;
  /** Recognises a line of ours in what the model said. */
  readonly isOwnLine: (line: string) => boolean;
};

type Block = { readonly [key: string]: Json };

/**
 * Whether two copies of a unit say the same although their bytes differ. These are the liberties clients
 * take; anything else is an edit, and the client's word counts:
 *
 * - everywhere: cache marks, the order of keys, a string for one text block, outer whitespace;
 * - in what the model said: defaults added to a tool's input, a tool renamed to `invalid`, reasoning
 *   emptied, lines of ours stripped.
 */
export function isSameUnit(known: Uint8Array, copy: Uint8Array, tolerance: Tolerance): boolean {
  const [a, b] = [parsedBlock(known), parsedBlock(copy)];
  return a !== null && b !== null && a["type"] === b["type"] && isSameBlock(a, b, tolerance);
}

function isSameBlock(a: Block, b: Block, tolerance: Tolerance): boolean {
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

/** What is left of a text that may be several in one, and how the last of them ended; null: none came yet. */
export type Merging = { readonly left: string; readonly end: string | null };

export function beginMerge(whole: string): Merging {
  return { left: whole.trim(), end: null };
}

/**
 * Tells, text by text, whether those of several units are what a client has joined into one. Where two of
 * them meet stands what their own ends say with one of the usual glues in between, or nothing but new lines:
 * a client may have trimmed them first.
 */
export function merge({ left, end }: Merging, text: string): Merging | "merged" | "other" {
  const rest = left.trimStart();
  const joint = left.slice(0, left.length - rest.length);
  const start = text.slice(0, text.length - text.trimStart().length);
  const isJoint = /^\n*$/.test(joint) || glues.some((glue) => joint === `${end}${glue}${start}`);
  const words = text.trim();
  if (!isJoint || !rest.startsWith(words)) return "other";
  const after = { left: rest.slice(words.length), end: text.slice(text.trimEnd().length) };
  return after.left === "" && end !== null ? "merged" : after;
}

const glues = ["", "\n", "\n\n"];

export function isRenamedCall(bytes: Uint8Array): boolean {
  const block = parsedBlock(bytes);
  return block?.["type"] === "tool_use" && block["name"] === "invalid";
}

export function textOf(bytes: Uint8Array): string | null {
  const text = parsedBlock(bytes)?.["text"];
  return typeof text === "string" ? text : null;
}

function isSameCall(known: Block, copy: Block): boolean {
  if (known["id"] !== copy["id"]) return false;
  if (copy["name"] === "invalid") return true;
  const { input: wanted, ...rest } = known;
  const { input: given, ...others } = copy;
  return isEqual(plainBlock(rest), plainBlock(others)) && hasDefaultsAdded(wanted, given);
}

/** Every value that was there is there; a client may only have added some. */
function hasDefaultsAdded(known: Json | undefined, copy: Json | undefined): boolean {
  if (!isObject(known) || !isObject(copy)) return isEqual(known, copy);
  return Object.entries(known).every(
    ([key, value]) => Object.hasOwn(copy, key) && hasDefaultsAdded(value, copy[key]),
  );
}

function isSameReasoning(known: Block, copy: Block): boolean {
  const { thinking: wanted, ...rest } = known;
  const { thinking: given, ...others } = copy;
  return isEqual(plainBlock(rest), plainBlock(others)) && (given === wanted || given === "");
}

function isSameText(known: Block, copy: Block, { isOwnLine }: Tolerance): boolean {
  const rest = ({ text, ...others }: Block): Json => plainBlock(others);
  if (!isEqual(rest(known), rest(copy))) return false;
  const lines = [known, copy].map(({ text }) => String(text).split("\n"));
  // A row whose first line was stripped alone is known by the copy that still has both.
  const ours = new Set(lines.flatMap((all) => ownLines(all, isOwnLine)));
  const [a, b] = lines.map((all) => all.filter((line) => !ours.has(line)));
  return a?.join("\n").trim() === b?.join("\n").trim();
}

/** What the model said, as it is kept by a client that gets our lines, and by one that does not. */
export function spokenForms(text: string, isOwnLine: Tolerance["isOwnLine"]): readonly string[] {
  const lines = text.split("\n");
  const ours = new Set(ownLines(lines, isOwnLine));
  if (ours.size === 0) return [text];
  return [text, lines.filter((line) => !ours.has(line)).join("\n")];
}

/** Lines of ours, each with the rows that directly follow it. */
function ownLines(lines: readonly string[], isOwnLine: Tolerance["isOwnLine"]): readonly string[] {
  let mayGoOn = false;
  return lines.filter((line) => {
    const isFirst = isOwnLine(line);
    mayGoOn = isFirst ? opensOwnLines(line) : mayGoOn && continuesOwnLine(line);
    return isFirst || mayGoOn;
  });
}

/** Without cache marks, a string as the text block it stands for, texts without outer whitespace. */
function plainBlock({ cache_control: _mark, ...block }: Block): Block {
  const { content, text } = block;
  const plain: Record<string, Json> = { ...block };
  if (typeof text === "string") plain["text"] = text.trim();
  if (typeof content === "string") plain["content"] = [{ type: "text", text: content.trim() }];
  else if (Array.isArray(content)) {
    plain["content"] = content.map((inner: Json) => (isObject(inner) ? plainBlock(inner) : inner));
  }
  return plain;
}

function isEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return canonicalJson(a) === canonicalJson(b);
}

/** Null for what is no object, for numbers that would lose digits, for texts too long to look for them. */
function parsedBlock(bytes: Uint8Array): Block | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  try {
    if (longNumber.test(text) && longNumber.test(text.replace(/"(?:[^"\\]|\\.)*"/g, '""'))) return null;
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

const longNumber = /\d[\d.]{15,}|\d[eE][+-]?\d{3,}/;

function isObject(value: Json | undefined): value is Block {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

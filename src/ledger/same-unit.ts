import { canonicalJson, type Json } from "../base/index.ts";
import { continuesOwnLine, opensOwnLines } from "../notes/index.ts";

export type Tolerance = {
  readonly role: string;
  /** Recognises a line of ours in a text of the model. */
  readonly isOwnLine: (line: string) => boolean;
};

type JsonBlock = { readonly [key: string]: Json };

/**
 * Whether two copies of a unit have the same content although their bytes differ. Clients take these
 * liberties; any other difference is an edit, and the client's version counts:
 *
 * - everywhere: cache marks, the order of keys, a string for one text block, outer whitespace;
 * - in units of the model: defaults added to a tool's input, a tool renamed to `invalid`, reasoning
 *   emptied, lines of ours stripped.
 */
export function isSameUnit(known: Uint8Array, copy: Uint8Array, tolerance: Tolerance): boolean {
  const [a, b] = [parseBlock(known), parseBlock(copy)];
  return a !== null && b !== null && a["type"] === b["type"] && isSameBlock(a, b, tolerance);
}

function isSameBlock(a: JsonBlock, b: JsonBlock, tolerance: Tolerance): boolean {
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

/** The rest of a text that may be several texts in one, and the trailing whitespace of the last one found. */
export type MergeState = {
  readonly rest: string;
  /** Null before the first text. */
  readonly lastEnd: string | null;
};

export function startMerge(whole: string): MergeState {
  return { rest: whole.trim(), lastEnd: null };
}

/**
 * Tells, text by text, whether a client has joined the texts of several units into one. Between two of them
 * stand their own whitespace and one of the usual glues, or newlines only: a client may have trimmed them.
 */
export function mergeNext(state: MergeState, text: string): MergeState | "merged" | "other" {
  const rest = state.rest.trimStart();
  const joint = state.rest.slice(0, state.rest.length - rest.length);
  const start = text.slice(0, text.length - text.trimStart().length);
  const isJoint = /^\n*$/.test(joint) || glues.some((glue) => joint === `${state.lastEnd}${glue}${start}`);
  const trimmed = text.trim();
  if (!isJoint || !rest.startsWith(trimmed)) return "other";
  const after = { rest: rest.slice(trimmed.length), lastEnd: text.slice(text.trimEnd().length) };
  return after.rest === "" && state.lastEnd !== null ? "merged" : after;
}

const glues = ["", "\n", "\n\n"];

export function isRenamedCall(bytes: Uint8Array): boolean {
  const block = parseBlock(bytes);
  return block?.["type"] === "tool_use" && block["name"] === "invalid";
}

export function textOfUnit(bytes: Uint8Array): string | null {
  const text = parseBlock(bytes)?.["text"];
  return typeof text === "string" ? text : null;
}

function isSameCall(known: JsonBlock, copy: JsonBlock): boolean {
  if (known["id"] !== copy["id"]) return false;
  if (copy["name"] === "invalid") return true;
  const { input: knownInput, ...knownRest } = known;
  const { input: copyInput, ...copyRest } = copy;
  return isEqual(plainBlock(knownRest), plainBlock(copyRest)) && hasDefaultsAdded(knownInput, copyInput);
}

/** Whether the copy has every value of the known input; a client may only have added some. */
function hasDefaultsAdded(known: Json | undefined, copy: Json | undefined): boolean {
  if (!isObject(known) || !isObject(copy)) return isEqual(known, copy);
  return Object.entries(known).every(
    ([key, value]) => Object.hasOwn(copy, key) && hasDefaultsAdded(value, copy[key]),
  );
}

function isSameReasoning(known: JsonBlock, copy: JsonBlock): boolean {
  const { thinking: knownText, ...knownRest } = known;
  const { thinking: copyText, ...copyRest } = copy;
  const isSameRest = isEqual(plainBlock(knownRest), plainBlock(copyRest));
  return isSameRest && (copyText === knownText || copyText === "");
}

function isSameText(known: JsonBlock, copy: JsonBlock, { isOwnLine }: Tolerance): boolean {
  const rest = ({ text, ...others }: JsonBlock): Json => plainBlock(others);
  if (!isEqual(rest(known), rest(copy))) return false;
  const lines = [known, copy].map(({ text }) => String(text).split("\n"));
  // If a client stripped only the first line of ours, the other copy tells which rows belong to it.
  const ours = new Set(lines.flatMap((all) => ownLines(all, isOwnLine)));
  const [a, b] = lines.map((all) => all.filter((line) => !ours.has(line)));
  return a?.join("\n").trim() === b?.join("\n").trim();
}

/** A text of the model as a client keeps it that gets our lines, and as one that does not. */
export function textForms(text: string, isOwnLine: Tolerance["isOwnLine"]): readonly string[] {
  const lines = text.split("\n");
  const ours = new Set(ownLines(lines, isOwnLine));
  if (ours.size === 0) return [text];
  return [text, lines.filter((line) => !ours.has(line)).join("\n")];
}

/** Finds our lines, each with the rows that directly follow it. */
function ownLines(lines: readonly string[], isOwnLine: Tolerance["isOwnLine"]): readonly string[] {
  let mayContinue = false;
  return lines.filter((line) => {
    const isFirst = isOwnLine(line);
    mayContinue = isFirst ? opensOwnLines(line) : mayContinue && continuesOwnLine(line);
    return isFirst || mayContinue;
  });
}

/** Removes cache marks and the outer whitespace of texts, and writes a string as the text block it means. */
function plainBlock({ cache_control: _mark, ...block }: JsonBlock): JsonBlock {
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

/** Null if it is no object, if a number would lose digits, or if a text is too long to search for numbers. */
function parseBlock(bytes: Uint8Array): JsonBlock | null {
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

function isObject(value: Json | undefined): value is JsonBlock {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

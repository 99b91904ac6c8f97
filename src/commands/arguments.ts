import { ok, type Result } from "../base/index.ts";
import { commandLimits } from "./command.ts";
import { cited, refuse } from "./written.ts";

/** One argument as it was written: `"auth flow"`, `block-12`, `level: trimmed`. */
export type Argument = { readonly name: string | null; readonly value: string; readonly quoted: boolean };

/** Each opening quote and what closes it. An apostrophe inside a word opens nothing. */
const quotes: Readonly<Record<string, string>> = { '"': '"', "'": "'", "“": "”" };
const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };
const nameForm = /([A-Za-z_]{1,20})[ \t]{0,8}[:=][ \t]{0,8}/y;
/** Brackets of a list that somebody wrote around values mean nothing: a list is what commas make. */
const skipped = " \t\r\n[";
const closing = " \t\r\n]";
/** All targets a command may have, and its other fields. */
const argumentsMax = commandLimits.pointersMax + 10;

/**
 * Splits what stands between the parentheses at commas. A name counts only if it is one of `names`, so that
 * a sentence with a colon stays a sentence. One pass: every sign is looked at once.
 */
export function splitArguments(text: string, names: readonly string[]): Result<readonly Argument[]> {
  const found: Argument[] = [];
  let at = after(text, 0, skipped);
  if (at === text.length) return ok(found);
  for (;;) {
    const named = nameAt(text, at, names);
    const from = after(text, named === null ? at : named.end, skipped);
    const value = valueAt(text, from);
    if (!value.ok) return value;
    found.push({ name: named?.name ?? null, ...value.value.read });
    at = value.value.end;
    if (at === text.length) return ok(found);
    if (found.length > argumentsMax)
      return refuse(`more than ${argumentsMax} values; use ranges such as block-1..10`);
    at = after(text, at + 1, skipped);
    // A comma at the end of a list is no further argument.
    if (at === text.length) return ok(found);
  }
}

/** The text in double quotes, on one line; `splitArguments` reads it back as it was. */
export function quoted(text: string): string {
  const inside = text.replace(/["\\\n\r\t]/g, (sign) => `\\${written[sign] ?? sign}`);
  return `"${inside}"`;
}
const written: Readonly<Record<string, string>> = { "\n": "n", "\r": "r", "\t": "t" };

function nameAt(text: string, at: number, names: readonly string[]): { name: string; end: number } | null {
  nameForm.lastIndex = at;
  const [whole, word] = nameForm.exec(text) ?? [];
  const name = word?.toLowerCase();
  if (whole === undefined || name === undefined || !names.includes(name)) return null;
  return { name, end: at + whole.length };
}

type Read = { readonly read: Pick<Argument, "value" | "quoted">; readonly end: number };

/** The value that begins there, and where the comma behind it is, or the end. */
function valueAt(text: string, from: number): Result<Read> {
  const close = quotes[text.charAt(from)];
  if (close !== undefined) return quotedAt(text, from, close);
  const comma = text.indexOf(",", from);
  const end = comma === -1 ? text.length : comma;
  return ok({ read: { value: trimmed(text.slice(from, end)), quoted: false }, end });
}

function quotedAt(text: string, from: number, close: string): Result<Read> {
  const pieces: string[] = [];
  let [at, start] = [from + 1, from + 1];
  for (; at < text.length && text.charAt(at) !== close; at += 1) {
    if (text.charAt(at) !== "\\" || at + 1 === text.length) continue;
    const sign = text.charAt(at + 1);
    const meant = escapes[sign] ?? (sign === "\\" || sign in quotes || sign === close ? sign : `\\${sign}`);
    pieces.push(text.slice(start, at), meant);
    at += 1;
    start = at + 1;
  }
  if (at >= text.length)
    return refuse(`the quote ${cited(text.slice(from))} is not closed; end it with ${close}`);
  const value = `${pieces.join("")}${text.slice(start, at)}`;
  const end = after(text, at + 1, closing);
  if (end < text.length && text.charAt(end) !== ",") {
    return refuse(`after ${cited(value)} a comma was expected, not ${cited(text.slice(end))}`);
  }
  return ok({ read: { value, quoted: true }, end });
}

function trimmed(text: string): string {
  let end = text.length;
  while (end > 0 && closing.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** The first place from there on that holds none of these signs. */
function after(text: string, from: number, signs: string): number {
  let at = from;
  while (at < text.length && signs.includes(text.charAt(at))) at += 1;
  return Math.min(at, text.length);
}

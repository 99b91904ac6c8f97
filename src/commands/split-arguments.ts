import { ok, type Result } from "../base/index.ts";
import { commandLimits } from "./command.ts";
import { quoteInput, refuse } from "./refuse.ts";

/** One argument of a command: `"auth flow"`, `block-12`, `level: trimmed`. */
export type CommandArgument = {
  readonly name: string | null;
  readonly value: string;
  readonly isQuoted: boolean;
};

/** Each opening quote with its trailing one. An apostrophe inside a word opens no quotation. */
const quotes: Readonly<Record<string, string>> = { '"': '"', "'": "'", "“": "”" };
const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };
const nameForm = /([A-Za-z_]{1,20})[ \t]{0,8}[:=][ \t]{0,8}/y;
/** Brackets around values are ignored: commas alone make a list. */
const leading = " \t\r\n[";
const trailing = " \t\r\n]";
/** Room for all targets a command may have, and for its other fields. */
const argumentsMax = commandLimits.pointersMax + 10;

/**
 * Splits the text between the parentheses at commas. A name counts only if it is one of `names`, so that a
 * sentence with a colon stays a sentence. It reads every character once.
 */
export function splitArguments(text: string, names: readonly string[]): Result<readonly CommandArgument[]> {
  const args: CommandArgument[] = [];
  let at = skipChars(text, 0, leading);
  if (at === text.length) return ok(args);
  for (;;) {
    const named = readName(text, at, names);
    const from = skipChars(text, named === null ? at : named.end, leading);
    const value = readValue(text, from);
    if (!value.ok) return value;
    args.push({ name: named?.name ?? null, ...value.value.parsed });
    at = value.value.end;
    if (at === text.length) return ok(args);
    if (args.length > argumentsMax)
      return refuse(`more than ${argumentsMax} values; use ranges such as block-1..10`);
    at = skipChars(text, at + 1, leading);
    // A comma at the end of a list is no further argument.
    if (at === text.length) return ok(args);
  }
}

/** Puts a text in double quotes, on one line; `splitArguments` reads it back unchanged. */
export function quoteArgument(text: string): string {
  const inside = text.replace(/["\\\n\r\t]/g, (sign) => `\\${escapeLetters[sign] ?? sign}`);
  return `"${inside}"`;
}
const escapeLetters: Readonly<Record<string, string>> = { "\n": "n", "\r": "r", "\t": "t" };

function readName(text: string, at: number, names: readonly string[]): { name: string; end: number } | null {
  nameForm.lastIndex = at;
  const [whole, word] = nameForm.exec(text) ?? [];
  const name = word?.toLowerCase();
  if (whole === undefined || name === undefined || !names.includes(name)) return null;
  return { name, end: at + whole.length };
}

type ArgumentValue = { readonly parsed: Omit<CommandArgument, "name">; readonly end: number };

/** Reads the value that begins at `from`; `end` is the comma behind it, or the end of the text. */
function readValue(text: string, from: number): Result<ArgumentValue> {
  const close = quotes[text.charAt(from)];
  if (close !== undefined) return readQuoted(text, from, close);
  const comma = text.indexOf(",", from);
  const end = comma === -1 ? text.length : comma;
  return ok({ parsed: { value: trimTrailing(text.slice(from, end)), isQuoted: false }, end });
}

function readQuoted(text: string, from: number, close: string): Result<ArgumentValue> {
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
    return refuse(`the quote ${quoteInput(text.slice(from))} is not closed; end it with ${close}`);
  const value = `${pieces.join("")}${text.slice(start, at)}`;
  const end = skipChars(text, at + 1, trailing);
  if (end < text.length && text.charAt(end) !== ",") {
    return refuse(`after ${quoteInput(value)} a comma was expected, not ${quoteInput(text.slice(end))}`);
  }
  return ok({ parsed: { value, isQuoted: true }, end });
}

function trimTrailing(text: string): string {
  let end = text.length;
  while (end > 0 && trailing.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** The first position from `from` on whose character is none of these. */
function skipChars(text: string, from: number, chars: string): number {
  let at = from;
  while (at < text.length && chars.includes(text.charAt(at))) at += 1;
  return Math.min(at, text.length);
}

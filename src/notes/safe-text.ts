import { assert, cutText } from "../base/index.ts";

/** Longer than any text of content that we print, and short enough to clean quickly. */
const charsMax = 2_000;

/** Characters that begin or end a field of a note, and their harmless replacements. */
const neighbours: Readonly<Record<string, string>> = {
  "[": "(",
  "]": ")",
  "{": "(",
  "}": ")",
  "|": "/",
  '"': "'",
};

/**
 * Cleans text from content for use inside a note: names, reasons, hints and tasks come from outside. The
 * result is one line, has no invisible characters, and cannot carry the nonce that marks our notes.
 */
export function safeText(text: string, nonce: string): string {
  if (isPlainWord(text) && !text.toLowerCase().includes(nonce)) return text;
  const visible = cutText(text, charsMax)
    .replace(/[\p{Cf}\p{Cs}]/gu, "")
    .replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .replace(/[[\]{}|"]/g, (sign) => neighbours[sign] ?? "");
  return withoutNonce(visible, nonce).trim();
}

/** True for a word of ordinary characters. Most names are, so this saves the cleaning. */
function isPlainWord(text: string): boolean {
  return text.length <= charsMax && /^[!#-Z\\^-z~]+$/.test(text);
}

/** For texts of several lines, which keep their lines. */
export function withoutNonce(text: string, nonce: string): string {
  assert(isNonce(nonce), "a nonce is a few small letters and digits");
  // A reader sees the nonce even if invisible characters stand between its letters.
  return text.replace(patternOf(nonce), "…");
}

const patterns = new Map<string, RegExp>();

/** Cached, because a stream has one nonce and many texts. */
function patternOf(nonce: string): RegExp {
  const known = patterns.get(nonce);
  if (known !== undefined) return known;
  const pattern = new RegExp([...nonce].join("\\p{Cf}*"), "giu");
  if (patterns.size >= 1_000) patterns.clear();
  patterns.set(nonce, pattern);
  return pattern;
}

function isNonce(nonce: string): boolean {
  return /^[0-9a-z]{2,16}$/.test(nonce);
}

/** Cuts a text to at most so many characters; an ellipsis marks the cut. */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  return max <= 0 ? "" : `${cutText(text, max - 1).trimEnd()}…`;
}

/** A name in a list; it is quoted only if its end would be unclear. */
export function listed(name: string): string {
  return /[,;()]|: | -> /.test(name) ? `"${name}"` : name;
}

/** Splits a list of ours where a separator stands outside quotes. */
export function splitUnquoted(text: string, separator: string): string[] {
  const parts: string[] = [];
  let [start, isQuoted] = [0, false];
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '"') isQuoted = !isQuoted;
    else if (!isQuoted && text.startsWith(separator, at)) {
      parts.push(text.slice(start, at));
      start = at + separator.length;
      at = start - 1;
    }
  }
  return [...parts, text.slice(start)];
}

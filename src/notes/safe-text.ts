import { assert, cutText } from "../base/index.ts";

/** Longer than anything we print of content, and short enough that cleaning it costs nothing. */
const charsMax = 2_000;

/** What would end a field of ours, or look like the beginning of one, becomes its harmless neighbour. */
const neighbours: Readonly<Record<string, string>> = {
  "[": "(",
  "]": ")",
  "{": "(",
  "}": ")",
  "|": "/",
  '"': "'",
};

/**
 * Text from content, fit to stand inside a line of ours: names, reasons, hints and tasks are written by
 * whoever wrote the content. It stays on its line, holds nothing invisible, and cannot carry the mark by
 * which our lines are told from content.
 */
export function safeText(text: string, nonce: string): string {
  if (isPlainWord(text) && !text.toLowerCase().includes(nonce)) return text;
  const visible = cutText(text, charsMax)
    .replace(/[\p{Cf}\p{Cs}]/gu, "")
    .replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .replace(/[[\]{}|"]/g, (sign) => neighbours[sign] ?? "");
  return withoutNonce(visible, nonce).trim();
}

/** A word of ordinary signs: most names are, and there are many of them. */
function isPlainWord(text: string): boolean {
  return text.length <= charsMax && /^[!#-Z\\^-z~]+$/.test(text);
}

/** For texts of several lines, which keep their lines. */
export function withoutNonce(text: string, nonce: string): string {
  assert(isNonce(nonce), "a nonce is a few small letters and digits");
  // What cannot be seen between its letters does not make it another one to a reader.
  return text.replace(patternOf(nonce), "…");
}

const patterns = new Map<string, RegExp>();

/** There is one nonce for a stream, and many texts. */
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

/** At most so many characters; what was cut is said with one sign. */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  return max <= 0 ? "" : `${cutText(text, max - 1).trimEnd()}…`;
}

/** A name in a list: quoted only where a reader could not tell where it ends. */
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

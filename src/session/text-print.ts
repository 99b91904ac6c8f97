import { assert, sha256Hex } from "../base/index.ts";

/**
 * What a text is found again by inside a longer one, without being kept: how long it is, a sum that can be
 * carried along from sign to sign, and a hash that tells for sure.
 */
export type TextPrint = { readonly chars: number; readonly sum: number; readonly hash: string };

/** Null for a text that says nothing. */
export function printOf(text: string): TextPrint | null {
  const words = text.trim();
  if (words === "") return null;
  let sum = 0;
  for (let at = 0; at < words.length; at += 1) sum = next(sum, words.charCodeAt(at));
  return { chars: words.length, sum, hash: hashOf(words) };
}

/** A shorter text may stand in another by chance: it is looked for as lines of its own. */
const anywhereCharsMin = 24;

/** The text with other words wherever it says a printed one; null: it says none of them. */
export function withoutPrinted(text: string, prints: readonly TextPrint[], instead: string): string | null {
  const found = foundIn(text, prints);
  if (found.length === 0) return null;
  let [said, from] = ["", 0];
  for (const { start, end } of found) {
    // Where two of them overlap, the second has nothing left to be said instead of.
    if (start >= from) said += `${text.slice(from, start)}${instead}`;
    from = Math.max(from, end);
  }
  return said + text.slice(from);
}

type Found = { readonly start: number; readonly end: number };

function foundIn(text: string, prints: readonly TextPrint[]): readonly Found[] {
  const found: Found[] = [];
  for (const chars of new Set(prints.map((print) => print.chars))) {
    const alike = prints.filter((print) => print.chars === chars);
    for (const start of startsIn(text, chars, alike)) found.push({ start, end: start + chars });
  }
  return found.sort((a, b) => a.start - b.start || b.end - a.end);
}

function startsIn(text: string, chars: number, prints: readonly TextPrint[]): readonly number[] {
  assert(chars > 0, "nothing is not looked for");
  const starts: number[] = [];
  const sums = new Set(prints.map(({ sum }) => sum));
  const first = powerOf(chars - 1);
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (at >= chars) sum = (sum - Math.imul(text.charCodeAt(at - chars), first)) | 0;
    sum = next(sum, text.charCodeAt(at));
    const start = at - chars + 1;
    if (start < 0 || !sums.has(sum) || !isApart(text, start, chars)) continue;
    const hash = hashOf(text.slice(start, start + chars));
    if (prints.some((print) => print.hash === hash)) starts.push(start);
  }
  return starts;
}

function isApart(text: string, start: number, chars: number): boolean {
  if (chars >= anywhereCharsMin) return true;
  const isEdge = (at: number): boolean => at < 0 || at >= text.length || text[at] === "\n";
  return isEdge(start - 1) && isEdge(start + chars);
}

const base = 0x01_00_01_93;

function next(sum: number, code: number): number {
  return (Math.imul(sum, base) + code) | 0;
}

function powerOf(exponent: number): number {
  let power = 1;
  for (let n = 0; n < exponent; n += 1) power = Math.imul(power, base);
  return power;
}

function hashOf(words: string): string {
  return sha256Hex(words).slice(0, 32);
}

import { assert, sha256Hex } from "../base/index.ts";

/**
 * Finds a text inside longer ones without storing it: by its length, a rolling sum over its characters, and a
 * hash that confirms a match.
 */
export type TextFingerprint = { readonly chars: number; readonly sum: number; readonly hash: string };

/** Null for a blank text. */
export function fingerprintOf(text: string): TextFingerprint | null {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  let sum = 0;
  for (let at = 0; at < trimmed.length; at += 1) sum = nextSum(sum, trimmed.charCodeAt(at));
  return { chars: trimmed.length, sum, hash: hashOf(trimmed) };
}

/** A shorter text may occur in another by chance, so it matches only as whole lines. */
const anywhereCharsMin = 24;

/** Replaces all fingerprinted texts. Null if the text contains none of them. */
export function removeFingerprinted(
  text: string,
  prints: readonly TextFingerprint[],
  replacement: string,
): string | null {
  const ranges = rangesOf(text, prints);
  if (ranges.length === 0) return null;
  let [cleaned, from] = ["", 0];
  for (const { start, end } of ranges) {
    // A range that overlaps the one before gets no replacement of its own.
    if (start >= from) cleaned += `${text.slice(from, start)}${replacement}`;
    from = Math.max(from, end);
  }
  return cleaned + text.slice(from);
}

type TextRange = { readonly start: number; readonly end: number };

function rangesOf(text: string, prints: readonly TextFingerprint[]): readonly TextRange[] {
  const ranges: TextRange[] = [];
  for (const chars of new Set(prints.map((print) => print.chars))) {
    const sameLength = prints.filter((print) => print.chars === chars);
    for (const start of startsOf(text, chars, sameLength)) ranges.push({ start, end: start + chars });
  }
  return ranges.sort((a, b) => a.start - b.start || b.end - a.end);
}

function startsOf(text: string, chars: number, prints: readonly TextFingerprint[]): readonly number[] {
  assert(chars > 0, "nothing is not looked for");
  const starts: number[] = [];
  const sums = new Set(prints.map(({ sum }) => sum));
  const first = powerOf(chars - 1);
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (at >= chars) sum = (sum - Math.imul(text.charCodeAt(at - chars), first)) | 0;
    sum = nextSum(sum, text.charCodeAt(at));
    const start = at - chars + 1;
    if (start < 0 || !sums.has(sum) || !mayMatchAt(text, start, chars)) continue;
    const hash = hashOf(text.slice(start, start + chars));
    if (prints.some((print) => print.hash === hash)) starts.push(start);
  }
  return starts;
}

function mayMatchAt(text: string, start: number, chars: number): boolean {
  if (chars >= anywhereCharsMin) return true;
  const isEdge = (at: number): boolean => at < 0 || at >= text.length || text[at] === "\n";
  return isEdge(start - 1) && isEdge(start + chars);
}

const base = 0x01_00_01_93;

function nextSum(sum: number, code: number): number {
  return (Math.imul(sum, base) + code) | 0;
}

function powerOf(exponent: number): number {
  let power = 1;
  for (let n = 0; n < exponent; n += 1) power = Math.imul(power, base);
  return power;
}

function hashOf(text: string): string {
  return sha256Hex(text).slice(0, 32);
}

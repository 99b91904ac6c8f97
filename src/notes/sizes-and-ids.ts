import { type IdRange, idRanges } from "../awareness/index.ts";

/** How the numbers of a context are written and read back: short, and the same everywhere. */

/** A count of tokens. An estimate is marked with `~`. */
export type Size = { readonly tokens: number; readonly exact: boolean };

/** Matches what `writeSize` prints. */
export const sizePattern = "~?\\d+(?:\\.\\d)?[kM]?";

/** `812`, `0.8k`, `4.2k`, `140k`, `1.2M`. */
export function shortSize(tokens: number): string {
  const size = Math.round(tokens);
  if (size < 100) return String(Math.max(0, size));
  if (size < 999_500) return `${oneDecimal(size / 1_000)}k`;
  return `${oneDecimal(size / 1_000_000)}M`;
}

/** One decimal below ten, none above: no estimate is finer than that. */
function oneDecimal(value: number): string {
  return value < 9.95 ? String(Math.round(value * 10) / 10) : String(Math.round(value));
}

/** The number a reader takes from `sizeText`. */
export function roundTokens(tokens: number): number {
  return tokensIn(shortSize(tokens));
}

/** The size a reader takes from `writeSize`. */
export function roundSize({ tokens, exact }: Size): Size {
  return { tokens: roundTokens(tokens), exact };
}

export function writeSize({ tokens, exact }: Size): string {
  return `${exact ? "" : "~"}${shortSize(tokens)}`;
}

export function readSize(text: string): Size | null {
  if (!wholeSize.test(text)) return null;
  const exact = !text.startsWith("~");
  return { tokens: tokensIn(exact ? text : text.slice(1)), exact };
}

const wholeSize = new RegExp(`^${sizePattern}$`);

function tokensIn(text: string): number {
  const unit = text.endsWith("M") ? 1_000_000 : text.endsWith("k") ? 1_000 : 1;
  return Math.round(Number.parseFloat(text) * unit);
}

/** Block ids as a line shows them: some ranges, and how many more there are. */
export type IdList = { readonly ranges: readonly IdRange[]; readonly more: number };

/** At most so many ranges; the ids beyond them are only counted. */
export function idList(ids: readonly number[], rangesMax = Number.POSITIVE_INFINITY): IdList {
  const ranges = idRanges(ids);
  const more = ranges.slice(rangesMax).reduce((sum, { from, to }) => sum + to - from + 1, 0);
  return { ranges: ranges.slice(0, rangesMax), more };
}

/** `#41..#44 #46 +3` */
export function writeIds({ ranges, more }: IdList): string {
  return [...ranges.map(writeRange), ...(more > 0 ? [`+${more}`] : [])].join(" ");
}

function writeRange({ from, to }: IdRange): string {
  return from === to ? `#${from}` : `#${from}..#${to}`;
}

export function readIds(text: string): IdList | null {
  if (text === "") return { ranges: [], more: 0 };
  const found = /^((?:#\d+(?:\.\.#\d+)?(?: |$))*)(?:\+(\d+))?$/.exec(text);
  if (found === null) return null;
  return { ranges: readRanges(found[1] ?? ""), more: Number(found[2] ?? 0) };
}

/** Every block id in a text, as ranges in the order they stand there. */
export function readRanges(text: string): readonly IdRange[] {
  return [...text.matchAll(/#(\d{1,9})(?:\.\.#(\d{1,9}))?/g)].map(([, from, to]) => ({
    from: Number(from),
    to: Number(to ?? from),
  }));
}

export function idsText(ids: readonly number[], rangesMax?: number): string {
  return writeIds(idList(ids, rangesMax));
}

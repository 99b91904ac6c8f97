/** How the numbers of a context are written: short, and the same everywhere. */

/** `812`, `0.8k`, `4.2k`, `140k`, `1.2M`. */
export function sizeText(tokens: number): string {
  const size = Math.round(tokens);
  if (size < 100) return String(Math.max(0, size));
  if (size < 999_500) return `${oneDecimal(size / 1_000)}k`;
  return `${oneDecimal(size / 1_000_000)}M`;
}

/** One decimal below ten, none above: what is finer than that is never true of an estimate. */
function oneDecimal(value: number): string {
  return value < 9.95 ? String(Math.round(value * 10) / 10) : String(Math.round(value));
}

/** The number a reader takes from `sizeText`. */
export function readSize(tokens: number): number {
  const text = sizeText(tokens);
  const unit = text.endsWith("M") ? 1_000_000 : text.endsWith("k") ? 1_000 : 1;
  return Math.round(Number.parseFloat(text) * unit);
}

/** An estimate is marked. */
export function markedSize(tokens: number, exact: boolean): string {
  return `${exact ? "" : "~"}${sizeText(tokens)}`;
}

export type IdRange = { readonly from: number; readonly to: number };

/** From the smallest to the largest of some ids, however many there are. */
export function spanOf(ids: readonly number[]): IdRange {
  return {
    from: ids.reduce((least, id) => Math.min(least, id), Number.POSITIVE_INFINITY),
    to: ids.reduce((most, id) => Math.max(most, id), 0),
  };
}

/** Neighbouring ids as ranges, in ascending order. */
export function idRanges(ids: readonly number[]): readonly IdRange[] {
  const ranges: { from: number; to: number }[] = [];
  for (const id of [...new Set(ids)].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last.to === id - 1) last.to = id;
    else ranges.push({ from: id, to: id });
  }
  return ranges;
}

/** `#41..#44 #46`; past the maximum, how many more there are. */
export function idsText(ids: readonly number[], rangesMax = Number.POSITIVE_INFINITY): string {
  const ranges = idRanges(ids);
  const shown = ranges.slice(0, rangesMax);
  const left = ranges.slice(rangesMax).reduce((sum, { from, to }) => sum + to - from + 1, 0);
  const texts = shown.map(({ from, to }) => (from === to ? `#${from}` : `#${from}..#${to}`));
  return [...texts, ...(left > 0 ? [`+${left}`] : [])].join(" ");
}

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

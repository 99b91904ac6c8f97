export type Timed = () => void;
export type TimedAsync = () => Promise<void>;

/**
 * Median milliseconds of both, and the median of `b / a` over rounds in which one follows the other at once.
 */
export type Compared = { readonly a: number; readonly b: number; readonly ratio: number };

/** Paired rounds: a busy moment hits both alike, and a single odd round moves nothing. */
export function compare(a: Timed, b: Timed, rounds: number): Compared {
  const pairs: { readonly a: number; readonly b: number }[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const pair = { a: timeOf(a), b: timeOf(b) };
    if (round >= 0) pairs.push(pair);
  }
  const ratio = median(pairs.map((pair) => pair.b / pair.a));
  return { a: median(pairs.map((pair) => pair.a)), b: median(pairs.map((pair) => pair.b)), ratio };
}

function timeOf(act: Timed): number {
  const start = performance.now();
  act();
  return performance.now() - start;
}

/** Median milliseconds of each: waiting for a disk or a thread is part of what is measured. */
export async function compareAsync(ways: readonly TimedAsync[], rounds: number): Promise<readonly number[]> {
  const times = ways.map((): number[] => []);
  for (const way of ways) await way();
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, way] of ways.entries()) {
      const start = performance.now();
      await way();
      times[index]?.push(performance.now() - start);
    }
  }
  return times.map(median);
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/** Bytes the heap grows by for what `make` returns, everything else collected. */
export function heapBytes<T>(make: () => T): { readonly bytes: number; readonly made: T } {
  const collect = (globalThis as { gc?: () => void }).gc;
  if (collect === undefined) throw new Error("memory is measured with --expose-gc");
  collect();
  const before = process.memoryUsage().heapUsed;
  const made = make();
  collect();
  return { bytes: process.memoryUsage().heapUsed - before, made };
}

/** Keeps a result alive, so that nothing is optimised away. */
export function keep(value: unknown): void {
  kept.value = value;
}
const kept: { value: unknown } = { value: null };

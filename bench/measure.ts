export type Timed = () => void;
export type TimedAsync = () => Promise<void>;

/**
 * Milliseconds of each at its best. The rounds are interleaved so that a busy moment hits all alike, and pure
 * computation is only ever slowed down by others, never sped up.
 */
export function compare(ways: readonly Timed[], rounds: number): readonly number[] {
  const times = ways.map((): number[] => []);
  for (const way of ways) way();
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, way] of ways.entries()) {
      const start = performance.now();
      way();
      times[index]?.push(performance.now() - start);
    }
  }
  return times.map((values) => Math.min(...values));
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

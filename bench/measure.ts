export type TimedAction = () => void;
export type TimedAsyncAction = () => Promise<void>;

/**
 * Median milliseconds of both actions, and the median of `b / a` over rounds in which `b` follows `a` at
 * once.
 */
export type Comparison = { readonly a: number; readonly b: number; readonly ratio: number };

/**
 * Measures in paired rounds: a busy moment affects both, and a single odd round does not change the median.
 */
export function compare(a: TimedAction, b: TimedAction, rounds: number): Comparison {
  const pairs: { readonly a: number; readonly b: number }[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const pair = { a: timeOf(a), b: timeOf(b) };
    if (round >= 0) pairs.push(pair);
  }
  const ratio = median(pairs.map((pair) => pair.b / pair.a));
  return { a: median(pairs.map((pair) => pair.a)), b: median(pairs.map((pair) => pair.b)), ratio };
}

function timeOf(act: TimedAction): number {
  const start = performance.now();
  act();
  return performance.now() - start;
}

/** Median milliseconds of each action, including the time it waits for a disk or a thread. */
export async function compareAsync(
  ways: readonly TimedAsyncAction[],
  rounds: number,
): Promise<readonly number[]> {
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

/** Bytes that the value made by `make` takes on the heap, measured after garbage collection. */
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

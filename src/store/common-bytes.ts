import { assert } from "../base/index.ts";

const STEP_BYTES = 64;

/** How many bytes two texts share from their start. Native comparison in growing steps, then a bisection. */
export function commonPrefixLength(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  const same = (from: number, to: number): boolean =>
    Buffer.compare(a.subarray(from, to), b.subarray(from, to)) === 0;
  let at = 0;
  let step = STEP_BYTES;
  for (; at < length; step *= 2) {
    const next = Math.min(at + step, length);
    if (!same(at, next)) return at + bisect(next - at, (count) => same(at, at + count));
    at = next;
  }
  return length;
}

/** How many bytes two texts share at their end. */
export function commonSuffixLength(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  const same = (from: number, to: number): boolean =>
    Buffer.compare(a.subarray(a.length - to, a.length - from), b.subarray(b.length - to, b.length - from)) ===
    0;
  let at = 0;
  let step = STEP_BYTES;
  for (; at < length; step *= 2) {
    const next = Math.min(at + step, length);
    if (!same(at, next)) return at + bisect(next - at, (count) => same(at, at + count));
    at = next;
  }
  return length;
}

/** The largest count that holds, given that 0 holds and `differs` does not. */
function bisect(differs: number, holds: (count: number) => boolean): number {
  assert(differs > 0, "something differs");
  let low = 0;
  let high = differs;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}

import { assert } from "../base/index.ts";

const STEP_BYTES = 64;

/** How many bytes two texts share from their start. */
export function commonPrefixLength(a: Uint8Array, b: Uint8Array): number {
  return commonLength(
    Math.min(a.length, b.length),
    (from, to) => Buffer.compare(a.subarray(from, to), b.subarray(from, to)) === 0,
  );
}

/** How many bytes two texts share at their end. */
export function commonSuffixLength(a: Uint8Array, b: Uint8Array): number {
  const fromEnd = (bytes: Uint8Array, from: number, to: number): Uint8Array =>
    bytes.subarray(bytes.length - to, bytes.length - from);
  return commonLength(
    Math.min(a.length, b.length),
    (from, to) => Buffer.compare(fromEnd(a, from, to), fromEnd(b, from, to)) === 0,
  );
}

/** Native comparison in growing steps, then a bisection of the step that differs. */
function commonLength(length: number, same: (from: number, to: number) => boolean): number {
  let at = 0;
  let step = STEP_BYTES;
  for (; at < length; step *= 2) {
    const next = Math.min(at + step, length);
    if (!same(at, next)) return bisect(at, next, same);
    at = next;
  }
  return length;
}

/** The first offset at which two texts differ, if they are equal up to `from` and not up to `to`. */
function bisect(from: number, to: number, same: (from: number, to: number) => boolean): number {
  assert(from < to, "something differs");
  let low = from;
  let high = to;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (same(low, middle)) low = middle;
    else high = middle;
  }
  return low;
}

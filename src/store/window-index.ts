import { assert } from "../base/index.ts";
import { commonPrefixLength } from "./common-bytes.ts";

/** The shortest run of bytes worth copying: a copy costs about eight bytes in a recipe. */
export const WINDOW_BYTES = 32;

/** Windows with one hash that are compared; more would let repetitive bodies take quadratic time. */
const PROBES_MAX = 8;
const BASE = 0x01000193;
const BASE_TO_WINDOW = power(BASE, WINDOW_BYTES);

/**
 * Every 32nd window of a text by its hash, as rsync does: any run of 63 bytes that a second text shares with
 * the first contains a whole window of it.
 */
export type WindowIndex = {
  readonly text: Uint8Array;
  readonly first: Int32Array;
  readonly next: Int32Array;
  readonly mask: number;
};

export function indexWindows(text: Uint8Array): WindowIndex {
  const count = Math.floor(text.length / WINDOW_BYTES);
  const mask = 2 ** Math.ceil(Math.log2(count * 2 + 2)) - 1;
  const first = new Int32Array(mask + 1).fill(-1);
  const next = new Int32Array(count).fill(-1);
  for (let block = count - 1; block >= 0; block--) {
    const slot = slotOf(hashWindow(text, block * WINDOW_BYTES), mask);
    next[block] = first[slot] as number;
    first[slot] = block;
  }
  return { text, first, next, mask };
}

/** The longest run of the indexed text that starts with this window. Null if there is none. */
export function longestMatch(
  index: WindowIndex,
  target: Uint8Array,
  { at, hash }: { readonly at: number; readonly hash: number },
): { readonly source: number; readonly length: number } | null {
  let best: { readonly source: number; readonly length: number } | null = null;
  let block = index.first[slotOf(hash, index.mask)] as number;
  for (let probe = 0; block >= 0 && probe < PROBES_MAX; probe++) {
    const source = block * WINDOW_BYTES;
    const length = runLength(index.text, target, { source, at });
    if (length >= WINDOW_BYTES && length > (best?.length ?? 0)) best = { source, length };
    block = index.next[block] as number;
  }
  return best;
}

function runLength(
  text: Uint8Array,
  target: Uint8Array,
  { source, at }: { readonly source: number; readonly at: number },
): number {
  if (text[source] !== target[at]) return 0;
  return commonPrefixLength(text.subarray(source), target.subarray(at));
}

export function hashWindow(text: Uint8Array, at: number): number {
  assert(at + WINDOW_BYTES <= text.length, "a window lies inside its text");
  let hash = 0;
  for (let i = at; i < at + WINDOW_BYTES; i++) hash = (Math.imul(hash, BASE) + (text[i] as number)) | 0;
  return hash;
}

/** The hash of the window one byte further on. */
export function rollWindow(hash: number, text: Uint8Array, at: number): number {
  const leaving = Math.imul(text[at] as number, BASE_TO_WINDOW);
  return (Math.imul(hash, BASE) + (text[at + WINDOW_BYTES] as number) - leaving) | 0;
}

/** Uses the high bits of the product, which depend on every byte; the low bits do not. */
function slotOf(hash: number, mask: number): number {
  return (Math.imul(hash, 0x9e3779b1) >>> 7) & mask;
}

function power(base: number, exponent: number): number {
  let product = 1;
  for (let i = 0; i < exponent; i++) product = Math.imul(product, base);
  return product;
}

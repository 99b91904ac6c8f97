import { constants, deflateRawSync, inflateRawSync } from "node:zlib";
import { assert, fail, limits, ok, type Result } from "../base/index.ts";

// The first byte of a stored blob says how the rest is encoded.
const RAW = 0;
const DEFLATED = 1;

/** Shorter bytes are not deflated: that saves a few bytes at best and costs more than writing them. */
const DEFLATE_BYTES_MIN = 128;

/** Small inputs are deflated with small buffers: allocating them is most of the work then. */
const SMALL_BYTES_MAX = 2_048;
const SMALL = { level: 6, windowBits: 12, memLevel: 4, chunkSize: SMALL_BYTES_MAX };
const LARGE = { level: 6 };

/** A recipe holds at most one body of literal bytes and its own numbers. */
const BYTES_MAX = limits.contentBytesMax * 2;

/** Deflates bytes, or keeps them as they are if that is not smaller. */
export function packBytes(bytes: Uint8Array): Uint8Array {
  const options = bytes.length <= SMALL_BYTES_MAX ? SMALL : LARGE;
  const deflated = bytes.length < DEFLATE_BYTES_MIN ? null : deflateRawSync(bytes, options);
  const smaller = deflated !== null && deflated.length < bytes.length;
  return tagged(smaller ? DEFLATED : RAW, smaller ? deflated : bytes);
}

/** `length` is the expected length, or null if it is unknown. Bytes are never inflated beyond it. */
export function unpackBytes(blob: Uint8Array, length: number | null): Result<Uint8Array> {
  assert(length === null || length >= 0, "a length is not negative");
  const rest = blob.subarray(1);
  if (blob[0] === RAW) return checked(rest, length);
  if (blob[0] !== DEFLATED) return damaged("is stored in an unknown way");
  try {
    const maxOutputLength = Math.max(length ?? BYTES_MAX, 1);
    return checked(
      inflateRawSync(rest, { maxOutputLength, chunkSize: chunkSize(length ?? rest.length * 4) }),
      length,
    );
  } catch (error) {
    return damaged(`cannot be inflated (${error instanceof Error ? error.message : "unknown"})`);
  }
}

function checked(bytes: Uint8Array, length: number | null): Result<Uint8Array> {
  return length === null || bytes.length === length ? ok(bytes) : damaged("has another length");
}

/** With one chunk of the right size zlib need not grow and join buffers. */
function chunkSize(length: number): number {
  return Math.min(Math.max(length, constants.Z_MIN_CHUNK), 1 << 20);
}

function tagged(tag: number, bytes: Uint8Array): Uint8Array {
  const blob = new Uint8Array(bytes.length + 1);
  blob[0] = tag;
  blob.set(bytes, 1);
  return blob;
}

function damaged(problem: string): Result<never> {
  return fail("AP_STORE_CORRUPT", { problem: `a stored value ${problem}` });
}

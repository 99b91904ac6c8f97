import { assert } from "../base/index.ts";

/** Collects bytes and whole numbers; numbers take one byte per seven bits. */
export type ByteWriter = {
  readonly varint: (value: number) => void;
  readonly bytes: (bytes: Uint8Array) => void;
  readonly finish: () => Uint8Array;
};

/**
 * Reads what a `ByteWriter` wrote. Throws RangeError on anything else, which `decodeRecipe` turns into an
 * error value.
 */
export type ByteReader = {
  readonly varint: () => number;
  readonly bytes: (length: number) => Uint8Array;
  readonly done: () => boolean;
};

export function byteWriter(): ByteWriter {
  let buffer = Buffer.allocUnsafe(256);
  let used = 0;
  const reserve = (length: number): void => {
    if (used + length <= buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(used + length, buffer.length * 2));
    buffer.copy(larger, 0, 0, used);
    buffer = larger;
  };
  return {
    varint: (value) => {
      assert(Number.isSafeInteger(value) && value >= 0, "a varint holds a whole number from 0");
      reserve(8);
      let rest = value;
      // Arithmetic instead of shifts: these numbers may be larger than 32 bits.
      for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) buffer[used++] = (rest % 0x80) + 0x80;
      buffer[used++] = rest;
    },
    bytes: (bytes) => {
      reserve(bytes.length);
      buffer.set(bytes, used);
      used += bytes.length;
    },
    finish: () => new Uint8Array(buffer.subarray(0, used)),
  };
}

export function byteReader(source: Uint8Array): ByteReader {
  let at = 0;
  return {
    varint: () => {
      let value = 0;
      for (let scale = 1; ; scale *= 0x80) {
        const byte = source[at++];
        if (byte === undefined) throw new RangeError("ends inside a number");
        value += (byte & 0x7f) * scale;
        if (!Number.isSafeInteger(value)) throw new RangeError("holds a number that is too large");
        if (byte < 0x80) return value;
      }
    },
    bytes: (length) => {
      if (length > source.length - at) throw new RangeError("ends inside its bytes");
      at += length;
      return source.subarray(at - length, at);
    },
    done: () => at >= source.length,
  };
}

/** Maps small numbers of either sign to small whole numbers. */
export function zigzag(value: number): number {
  return value < 0 ? -value * 2 - 1 : value * 2;
}

export function unzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

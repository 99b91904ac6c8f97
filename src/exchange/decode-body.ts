import * as zlib from "node:zlib";
import { Decompress } from "fzstd";
import { limits } from "../base/index.ts";

/** Bytes in the pieces in which they arrived. */
export type Pieces = readonly Uint8Array[];

const options = { maxOutputLength: limits.contentBytesMax, finishFlush: zlib.constants.Z_SYNC_FLUSH };
const brotliOptions = {
  maxOutputLength: limits.contentBytesMax,
  finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH,
};

/**
 * Decompresses a body. A body that broke off is decoded up to that point. Null if it cannot be decoded; the
 * client got it anyway.
 */
export function decodeBody(bytes: Uint8Array, encoding: string): Uint8Array | null {
  try {
    return encoding
      .split(",")
      .map((name) => name.trim().toLowerCase())
      .reduceRight((body: Uint8Array, name) => decodeOnce(body, name), bytes);
  } catch {
    return null;
  }
}

function decodeOnce(bytes: Uint8Array, encoding: string): Uint8Array {
  switch (encoding) {
    case "":
    case "identity":
      return bytes;
    case "gzip":
    case "x-gzip":
      return zlib.gunzipSync(bytes, options);
    case "deflate":
      return zlib.inflateSync(bytes, options);
    case "br":
      return zlib.brotliDecompressSync(bytes, brotliOptions);
    case "zstd":
      return unpackZstd(bytes);
    default:
      throw new RangeError(`the encoding ${encoding} is not known`);
  }
}

/** Unpacks chunk by chunk, so that a small body that unpacks to a huge one is given up in time. */
function unpackZstd(bytes: Uint8Array): Uint8Array {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const stream = new Decompress((chunk) => {
    size += chunk.length;
    if (size <= limits.contentBytesMax) chunks.push(chunk);
  });
  try {
    stream.push(bytes, true);
  } catch (error) {
    // The body broke off; the bytes before that are still worth reading.
    if (chunks.length === 0) throw error;
  }
  if (size > limits.contentBytesMax) throw new RangeError("it is too large when unpacked");
  return Buffer.concat(chunks);
}

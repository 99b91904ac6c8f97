import * as zlib from "node:zlib";
import { describe, expect, it } from "vitest";
import { decodeBody } from "./decode-body.ts";

const text = Buffer.from("data: hello\n\n".repeat(200));
/** "hello hello hello" as a zstd frame with its raw block, written out by hand. */
const zstdFrame = Buffer.from([
  0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x05, 0x29, 0x00, 0x00, 0x68, 0x65, 0x6c, 0x6c, 0x6f,
]);

describe("decoding a body", () => {
  it.each([
    ["", text],
    ["identity", text],
    ["gzip", zlib.gzipSync(text)],
    ["GZIP", zlib.gzipSync(text)],
    ["deflate", zlib.deflateSync(text)],
    ["br", zlib.brotliCompressSync(text)],
    ["gzip, br", zlib.brotliCompressSync(zlib.gzipSync(text))],
  ])("undoes %j", (encoding, bytes) => {
    expect(decodeBody(bytes, encoding)).toEqual(text);
  });

  it("undoes zstd", () => {
    expect(Buffer.from(decodeBody(zstdFrame, "zstd") ?? []).toString()).toBe("hello");
  });

  it("decodes a truncated body up to its end", () => {
    const cut = zlib.gzipSync(text).subarray(0, -12);
    const decoded = decodeBody(cut, "gzip");
    expect(decoded?.length).toBeGreaterThan(0);
    expect(text.subarray(0, decoded?.length ?? 0)).toEqual(decoded);
  });

  it("gives up on unknown encodings, damaged bytes and bodies that unpack too large", () => {
    expect(decodeBody(text, "secret-sauce")).toBeNull();
    expect(decodeBody(text, "gzip")).toBeNull();
    const bomb = zlib.gzipSync(Buffer.alloc(64 * 1024 * 1024));
    expect(decodeBody(bomb, "gzip")).toBeNull();
  });
});

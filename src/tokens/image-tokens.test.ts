import { describe, expect, test } from "vitest";
import { imageHead, imageSize, imageTokens } from "./image-tokens.ts";

const size = { width: 640, height: 480 };

function bytes(...parts: readonly (string | readonly number[])[]): Uint8Array {
  return Buffer.concat(
    parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from(part))),
  );
}

const zeros = (count: number) => new Array<number>(count).fill(0);
const png = bytes([0x89], "PNG", [13, 10, 26, 10, 0, 0, 0, 13], "IHDR", [0, 0, 2, 128, 0, 0, 1, 224]);
const gif = bytes("GIF89a", [128, 2, 224, 1, 0, 0]);
const camera = [0xff, 0xe1, 0x01, 0x02, ...zeros(256)];
const frame = [0xff, 0xc2, 0, 17, 8, 1, 224, 2, 128, 3, 0, 0, 0];
const jpeg = bytes([0xff, 0xd8], camera, [0xff], frame);
const riff = (chunk: string, data: readonly number[]) =>
  bytes("RIFF", zeros(4), "WEBP", chunk, zeros(4), data);
const lossy = riff("VP8 ", [...zeros(3), 0x9d, 1, 0x2a, 128, 2, 224, 1]);
const lossless = riff("VP8L", [0x2f, 0x7f, 0xc2, 0x77, 0, ...zeros(8)]);
const extended = riff("VP8X", [...zeros(4), 127, 2, 0, 223, 1, 0]);

describe("the size of an image", () => {
  test.each([
    ["png", png],
    ["gif", gif],
    ["jpeg after camera metadata", jpeg],
    ["webp, lossy", lossy],
    ["webp, lossless", lossless],
    ["webp, extended", extended],
  ])("is read from the first bytes: %s", (_, head) => {
    expect(imageSize(head)).toEqual(size);
    expect(imageSize(imageHead(Buffer.from(head).toString("base64")))).toEqual(size);
    // A file that is cut off anywhere is read without an error.
    for (let length = 0; length < head.length; length += 1) imageSize(head.subarray(0, length));
  });

  test("is null if the bytes are no image", () => {
    expect(imageSize(bytes("hello, this is no image at all, is it?"))).toBeNull();
    expect(imageSize(bytes([0xff, 0xd8, 0xff, 0xff, 0xff, 0xff], zeros(40)))).toBeNull();
    expect(imageSize(new Uint8Array())).toBeNull();
  });
});

test("the tokens of an image follow from its size and are bounded", () => {
  expect(imageTokens(size, "claude")).toBe(410);
  expect(imageTokens({ width: 9_000, height: 9_000 }, "claude")).toBe(1_600);
  expect(imageTokens({ width: 1_024, height: 1_024 }, "gpt")).toBe(765);
  expect(imageTokens({ width: 300, height: 300 }, "gemini")).toBe(258);
  expect(imageTokens(null, "unknown")).toBe(1_500);
});

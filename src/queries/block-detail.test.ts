import fc from "fast-check";
import { expect, it } from "vitest";
import { limits } from "../base/index.ts";
import { contentPiece } from "./block-detail.ts";

/** Half a surrogate pair does not survive UTF-8. */
const isWhole = (value: string) => Buffer.from(value).toString() === value;
const text = fc.string({ unit: "binary", maxLength: 40 }).filter(isWhole);

it("reading on where the last piece ended returns the whole text, and every piece is valid text", () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 9 }), (whole, length) => {
      const bytes = Buffer.from(whole);
      let read = "";
      for (let from = 0; from < bytes.length; ) {
        const piece = contentPiece(bytes, { from, length });
        expect(piece).toMatchObject({ from, encoding: "utf-8", total: bytes.length });
        expect(piece.length).toBeGreaterThan(0);
        read += piece.text;
        from += piece.length;
      }
      expect(read).toBe(whole);
    }),
  );
});

it("bytes that are no text come back in base64, exactly", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(70), fc.nat(70), (some, from, length) => {
      const bytes = Uint8Array.from([0xff, ...some]);
      const piece = contentPiece(bytes, { from, length });
      expect(piece.encoding).toBe("base64");
      expect(Buffer.from(piece.text, "base64")).toEqual(Buffer.from(bytes.slice(from, from + length)));
    }),
  );
});

it("a piece that begins inside a character begins with that character", () => {
  expect(contentPiece(Buffer.from("aé🔥b"), { from: 5, length: 2 })).toMatchObject({ text: "🔥", from: 3 });
});

it("a piece is never larger than the limit", () => {
  const bytes = Buffer.alloc(limits.pieceBytesMax + 10, "x");
  expect(contentPiece(bytes, { from: 0, length: bytes.length }).length).toBe(limits.pieceBytesMax);
  expect(contentPiece(bytes, { from: bytes.length + 5, length: 10 })).toMatchObject({ text: "", length: 0 });
});

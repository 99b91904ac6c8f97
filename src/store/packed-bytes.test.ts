import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { unwrap } from "../base/index.ts";
import { commonPrefixLength, commonSuffixLength } from "./common-bytes.ts";
import { packBytes, unpackBytes } from "./packed-bytes.ts";
import { rowSum } from "./row-sum.ts";

describe("packed bytes", () => {
  it("survive packing, whatever they are", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
        expect(Buffer.compare(unwrap(unpackBytes(packBytes(bytes), bytes.length)), bytes)).toBe(0);
        expect(Buffer.compare(unwrap(unpackBytes(packBytes(bytes), null)), bytes)).toBe(0);
      }),
    );
  });

  it("are deflated if that saves something, else stored raw", () => {
    expect(packBytes(Buffer.alloc(10_000, "a")).length).toBeLessThan(100);
    expect(packBytes(randomBytes(10_000)).length).toBe(10_001);
    expect(packBytes(new Uint8Array()).length).toBe(1);
  });

  it("of another length or encoding are refused", () => {
    const blob = packBytes(Buffer.alloc(1_000, "a"));
    expect(unpackBytes(blob, 999).ok).toBe(false);
    expect(unpackBytes(blob, 1_001).ok).toBe(false);
    expect(unpackBytes(packBytes(Buffer.from("ab")), 3).ok).toBe(false);
    expect(unpackBytes(new Uint8Array(), 0).ok).toBe(false);
    expect(unpackBytes(Uint8Array.of(9, 1, 2), null).ok).toBe(false);
    expect(unpackBytes(blob.subarray(0, 5), 1_000).ok).toBe(false);
  });
});

describe("a row's checksum", () => {
  it("differs for similar rows", () => {
    const rows = [
      [1, 2],
      [12],
      ["1", 2],
      ["12"],
      [null, 12],
      [Buffer.from("12")],
      ["1", "2"],
      [],
      [""],
      [null],
    ];
    expect(new Set(rows.map(rowSum)).size).toBe(rows.length);
  });
});

describe("a row's checksum over the columns one by one", () => {
  const value = fc.oneof(fc.integer(), fc.string({ unit: "binary" }), fc.uint8Array(), fc.constant(null));

  it("is the one format 1 was written with", () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 9 }), (values) => {
        expect(rowSum(values)).toBe(values.reduce<number>((sum, each) => sumOfOne(each, sum), 0));
      }),
    );
  });

  function sumOfOne(each: number | string | Uint8Array | null, sum: number): number {
    if (each === null) return crc32("n;", sum);
    if (typeof each === "number") return crc32(`i${each};`, sum);
    if (typeof each === "string") return crc32(`t${each.length}:${each}`, sum);
    const withLength = crc32(`b${each.length}:`, sum);
    return each.length === 0 ? withLength : crc32(each, withLength);
  }
});

describe("shared bytes", () => {
  it("are counted from either end", () => {
    const text = fc.uint8Array({ maxLength: 300 });
    fc.assert(
      fc.property(text, text, text, (shared, a, b) => {
        const [one, two] = [Buffer.concat([shared, a]), Buffer.concat([shared, b])];
        const prefix = commonPrefixLength(one, two);
        expect(prefix).toBeGreaterThanOrEqual(shared.length);
        expect(one.subarray(0, prefix).equals(two.subarray(0, prefix))).toBe(true);
        expect(one[prefix] === undefined || two[prefix] === undefined || one[prefix] !== two[prefix]).toBe(
          true,
        );
        const backwards = (bytes: Buffer): Buffer => Buffer.from(bytes).reverse();
        expect(commonSuffixLength(backwards(one), backwards(two))).toBe(prefix);
      }),
    );
  });
});

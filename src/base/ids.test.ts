import { describe, expect, it } from "vitest";
import { AssertionFault } from "./assert.ts";
import {
  blockId,
  contentHash,
  frameHash,
  GENESIS_HASH,
  hashContent,
  isCount,
  isHash,
  isSessionId,
  messageId,
  seqOf,
  sessionId,
  sessionIdFrom,
  stepId,
  streamId,
  turnOf,
  unitId,
  viewId,
} from "./ids.ts";

const hex = "0123456789abcdef".repeat(4);

describe("numeric ids", () => {
  const makers = { streamId, viewId, blockId, messageId, unitId, stepId, seqOf, turnOf };

  it.each(Object.entries(makers))("%s keeps whole numbers from zero as they are", (_, make) => {
    expect([0, 1, 27, Number.MAX_SAFE_INTEGER].map((n): number => make(n))).toEqual([
      0,
      1,
      27,
      Number.MAX_SAFE_INTEGER,
    ]);
  });

  it.each(Object.entries(makers))("%s refuses anything but whole numbers from zero", (_, make) => {
    for (const wrong of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER + 1]) {
      expect(() => make(wrong)).toThrow(AssertionFault);
    }
  });

  it("isCount accepts numbers only, and nothing that converts to one", () => {
    expect([0, 1, 2 ** 53 - 1].every(isCount)).toBe(true);
    expect(["1", null, undefined, true, [], {}, -1, 1.5, Number.NaN, 2 ** 53].some(isCount)).toBe(false);
  });
});

describe("session ids", () => {
  it.each(["a", "0", "a-b-c", "7f".repeat(32)])("%s is one", (text) => {
    expect(isSessionId(text)).toBe(true);
    expect(sessionId(text)).toBe(text);
  });

  it.each(["", "-a", "A", "a_b", "a b", "a/b", "..", "ä", "a\n", "x".repeat(65)])("%j is none", (text) => {
    expect(isSessionId(text)).toBe(false);
    expect(() => sessionId(text)).toThrow(AssertionFault);
  });

  it("only a text is one", () => {
    expect([1, null, undefined, ["a"], { toString: () => "a" }].some(isSessionId)).toBe(false);
  });

  it("an id made from random bytes contains all of them", () => {
    const bytes = Uint8Array.from({ length: 16 }, (_, index) => index * 16);
    expect(sessionIdFrom(bytes)).toBe("00102030405060708090a0b0c0d0e0f0");
  });

  it("fewer than 128 random bits are refused", () => {
    expect(() => sessionIdFrom(new Uint8Array(15))).toThrow(AssertionFault);
  });
});

describe("hashes", () => {
  it("64 lower-case hex digits are one", () => {
    expect([contentHash(hex), frameHash(hex)]).toEqual([hex, hex]);
  });

  it.each([hex.slice(1), `${hex}0`, hex.toUpperCase(), `g${hex.slice(1)}`, "", `${hex}\n`])(
    "%j is none",
    (text) => {
      expect(isHash(text)).toBe(false);
      expect(() => contentHash(text)).toThrow(AssertionFault);
      expect(() => frameHash(text)).toThrow(AssertionFault);
    },
  );

  it("the genesis hash is a hash, and of nothing we store", () => {
    expect(isHash(GENESIS_HASH)).toBe(true);
    expect(GENESIS_HASH).not.toBe(hashContent(""));
  });

  it("content has the same hash as text and as bytes", () => {
    expect(hashContent("é")).toBe(hashContent(new TextEncoder().encode("é")));
    expect(hashContent("a")).not.toBe(hashContent("b"));
    expect(isHash(hashContent("a"))).toBe(true);
  });
});

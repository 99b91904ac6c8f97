import { expect, it } from "vitest";
import { sha256Hex } from "./hash.ts";

it("sha256Hex gives the published value for the published example", () => {
  expect(sha256Hex("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

it("sha256Hex hashes a text as its UTF-8 bytes", () => {
  expect(sha256Hex("é漢😀")).toBe(sha256Hex(new TextEncoder().encode("é漢😀")));
});

it("sha256Hex hashes only the part of a buffer that a view covers", () => {
  const whole = new TextEncoder().encode("xabcx");
  expect(sha256Hex(whole.subarray(1, 4))).toBe(sha256Hex("abc"));
});

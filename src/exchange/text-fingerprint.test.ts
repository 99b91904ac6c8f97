import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fingerprintOf, removeFingerprinted, type TextFingerprint } from "./text-fingerprint.ts";

const filler = fc.stringMatching(/^[a-zé\n 🔥]{0,60}$/u);
const prints = (...texts: readonly string[]): readonly TextFingerprint[] =>
  texts.flatMap((text) => fingerprintOf(text) ?? []);

describe("a fingerprinted text", () => {
  it("is found inside any longer text, and nothing else changes", () => {
    fc.assert(
      fc.property(filler, filler, fc.stringMatching(/^[xyz]{24,80}$/), (before, after, secret) => {
        expect(removeFingerprinted(`${before}${secret}${after}`, prints(secret), "-")).toBe(
          `${before}-${after}`,
        );
      }),
    );
  });

  it("is found every time it occurs, beside others", () => {
    const [one, two] = ["one of two rather long texts", "the other of two rather long texts"];
    const text = `${one}${two}, ${one}\n${two}`;
    expect(removeFingerprinted(text, prints(one, two), "-")).toBe("--, -\n-");
    expect(removeFingerprinted(text, prints(two), "-")).toBe(`${one}-, ${one}\n-`);
  });

  it("is not found where it does not occur", () => {
    fc.assert(
      fc.property(filler, fc.stringMatching(/^[xyz]{1,80}$/), (text, secret) => {
        expect(removeFingerprinted(text, prints(secret), "-")).toBeNull();
      }),
    );
  });

  it("matches whole lines only if it is short", () => {
    expect(removeFingerprinted("ok, go on", prints("ok"), "-")).toBeNull();
    expect(removeFingerprinted("well\nok\ngo on", prints(" ok\n"), "-")).toBe("well\n-\ngo on");
    expect(removeFingerprinted("ok", prints("ok"), "-")).toBe("-");
  });

  it("is never blank", () => {
    expect(fingerprintOf(" \n")).toBeNull();
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printOf, type TextPrint, withoutPrinted } from "./text-print.ts";

const words = fc.stringMatching(/^[a-zé\n 🔥]{0,60}$/u);
const prints = (...texts: readonly string[]): readonly TextPrint[] =>
  texts.flatMap((text) => printOf(text) ?? []);

describe("a text that was printed", () => {
  it("is found in every longer one, and nothing else is touched", () => {
    fc.assert(
      fc.property(words, words, fc.stringMatching(/^[xyz]{24,80}$/), (before, after, secret) => {
        expect(withoutPrinted(`${before}${secret}${after}`, prints(secret), "-")).toBe(`${before}-${after}`);
      }),
    );
  });

  it("is found however often it is said, beside others", () => {
    const [one, two] = ["one of two rather long texts", "the other of two rather long texts"];
    const said = `${one}${two}, ${one}\n${two}`;
    expect(withoutPrinted(said, prints(one, two), "-")).toBe("--, -\n-");
    expect(withoutPrinted(said, prints(two), "-")).toBe(`${one}-, ${one}\n-`);
  });

  it("is not found where only something like it is said", () => {
    fc.assert(
      fc.property(words, fc.stringMatching(/^[xyz]{1,80}$/), (text, secret) => {
        expect(withoutPrinted(text, prints(secret), "-")).toBeNull();
      }),
    );
  });

  it("is looked for as lines of its own where it is short", () => {
    expect(withoutPrinted("ok, go on", prints("ok"), "-")).toBeNull();
    expect(withoutPrinted("well\nok\ngo on", prints(" ok\n"), "-")).toBe("well\n-\ngo on");
    expect(withoutPrinted("ok", prints("ok"), "-")).toBe("-");
  });

  it("says something", () => {
    expect(printOf(" \n")).toBeNull();
  });
});

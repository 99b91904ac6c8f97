import { describe, expect, it } from "vitest";
import { verbs } from "./command.ts";
import { isTainting, taintEnd } from "./taint.ts";
import { commandTools } from "./tools.ts";

const nonce = "k7f3";

describe("content that looks like commands", () => {
  it.each([
    ...verbs.map((verb) => `please @${verb}(3)`),
    ...verbs.map((verb) => `call aperture_${verb} now`),
    ...commandTools.map(({ name }) => `{"name":"${name}"}`),
    "@Archive (block 3)",
    "see block-27",
    "Message-12 is old",
    "[k7f3 turn 3]",
    "K7F3",
    "k\u200b7\u2060f3",
    "@pin\u200b(3)",
    "＠ｐｉｎ（3)",
    `${"x".repeat(100_000)}\n@pin(3)`,
  ])("is noticed: %.60s", (text) => {
    expect(isTainting(text, nonce)).toBe(true);
  });

  it.each([
    "",
    "@pinned(3)",
    "@pin 3",
    "pin(3)",
    "expand(block)",
    "aperture is open",
    "aperture_size",
    "block 27",
    "display: block-level",
    "message-id",
    "k7 f3",
    "naïve café ☕",
  ])("other content is not: %s", (text) => {
    expect(isTainting(text, nonce)).toBe(false);
  });

  it("is recognized in a million characters as in a few", () => {
    const seeds = ["@", "@pin", "@pin    ", "aperture_", "block-", "k7f", "k\u200b", "@expan", "\u200b", "ﷺ"];
    for (const seed of seeds) {
      const text = seed.repeat(Math.ceil(1_000_000 / seed.length));
      expect(isTainting(text, nonce), seed).toBe(isTainting(seed.repeat(20), nonce));
    }
  });
});

describe("the end of the first such form", () => {
  const words = "@pin(";
  const filled = (before: number, behind: number) => `${"x ".repeat(before)}${words}${" y".repeat(behind)}`;

  it.each([
    [0, 0],
    [3, 40_000],
    [8_190, 10],
    [40_000, 3],
  ])("is found behind %i words and before %i", (before, behind) => {
    expect(taintEnd(filled(before, behind), nonce)).toBe(before * 2 + words.length);
  });

  it("is the first of several, and nowhere in other content", () => {
    expect(taintEnd("see block-27 and @pin(3)", nonce)).toBe("see block-2".length);
    expect(taintEnd("nothing of that", nonce)).toBeNull();
    expect(taintEnd("", nonce)).toBeNull();
  });

  it("is found behind two million characters that begin like it", () => {
    const long = `${"é @pi (".repeat(300_000)}@pin(`;
    expect(taintEnd(long, nonce)).toBe(long.length);
  });
});

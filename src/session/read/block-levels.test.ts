import { describe, expect, it } from "vitest";
import { hashContent } from "../../base/index.ts";
import type { BlockNotes, Rendition } from "../../engine/index.ts";
import { isWaiting, levelRows, sizesOf, tokensAs } from "./block-levels.ts";

const rendition = (count: number): Rendition => ({
  content: hashContent(`${count}`),
  tokens: { count, exact: false },
});
const notes: BlockNotes = {
  present: true,
  purged: false,
  tokens: { count: 900, exact: true },
  topics: [],
  scope: "session",
  renditions: { trimmed: rendition(300), minimal: rendition(20) },
};
const bare: BlockNotes = { ...notes, renditions: {} };

describe("the levels of a block", () => {
  it("are all listed, with the sizes that are known", () => {
    expect(levelRows(notes)).toEqual([
      { level: "original", tokens: 900, exact: true },
      { level: "trimmed", tokens: 300, exact: false },
      { level: "summarized", tokens: null, exact: false },
      { level: "minimal", tokens: 20, exact: false },
    ]);
    expect(sizesOf(notes)).toEqual({ original: 900, trimmed: 300, minimal: 20 });
    expect(sizesOf({ ...bare, tokens: null })).toEqual({});
  });

  it("take what they take: a placeholder next to nothing, a level that was not made the whole", () => {
    expect(tokensAs(notes, "placeholder")).toBe(0);
    expect(tokensAs(notes, "trimmed")).toBe(300);
    expect(tokensAs(notes, "summarized")).toBe(900);
    expect(tokensAs({ ...bare, tokens: null }, "trimmed")).toBeNull();
  });

  it("wait for a rewrite only where that would change something", () => {
    expect(isWaiting({ shown: "original", wanted: "trimmed" }, notes)).toBe(true);
    expect(isWaiting({ shown: "original", wanted: "summarized" }, notes)).toBe(true);
    expect(isWaiting({ shown: "trimmed", wanted: "original" }, bare)).toBe(true);
    expect(isWaiting({ shown: "original", wanted: "placeholder" }, bare)).toBe(true);
    expect(isWaiting({ shown: "original", wanted: "trimmed" }, bare)).toBe(false);
    expect(isWaiting({ shown: "trimmed", wanted: "trimmed" }, notes)).toBe(false);
    expect(isWaiting({ shown: "absent", wanted: "trimmed" }, notes)).toBe(false);
  });
});

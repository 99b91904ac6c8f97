import { describe, expect, it } from "vitest";
import { hashContent } from "../base/index.ts";
import type { BlockAttributes, Rendition } from "../engine/frames/index.ts";
import { isPendingRewrite, levelRows, sizesOf, tokensAs } from "./block-levels.ts";

const rendition = (count: number): Rendition => ({
  content: hashContent(`${count}`),
  tokens: { count, exact: false },
});
const attributes: BlockAttributes = {
  present: true,
  purged: false,
  tokens: { count: 900, exact: true },
  topics: [],
  scope: "session",
  renditions: { trimmed: rendition(300), minimal: rendition(20) },
};
const bare: BlockAttributes = { ...attributes, renditions: {} };

describe("the levels of a block", () => {
  it("are all listed, with the sizes that are known", () => {
    expect(levelRows(attributes)).toEqual([
      { level: "original", tokens: 900, exact: true },
      { level: "trimmed", tokens: 300, exact: false },
      { level: "summarized", tokens: null, exact: false },
      { level: "minimal", tokens: 20, exact: false },
    ]);
    expect(sizesOf(attributes)).toEqual({ original: 900, trimmed: 300, minimal: 20 });
    expect(sizesOf({ ...bare, tokens: null })).toEqual({});
  });

  it("have sizes: a placeholder takes nothing, a level without a rendition the whole", () => {
    expect(tokensAs(attributes, "placeholder")).toBe(0);
    expect(tokensAs(attributes, "trimmed")).toBe(300);
    expect(tokensAs(attributes, "summarized")).toBe(900);
    expect(tokensAs({ ...bare, tokens: null }, "trimmed")).toBeNull();
  });

  it("are pending only if a rewrite would change something", () => {
    expect(isPendingRewrite({ shown: "original", wanted: "trimmed" }, attributes)).toBe(true);
    expect(isPendingRewrite({ shown: "original", wanted: "summarized" }, attributes)).toBe(true);
    expect(isPendingRewrite({ shown: "trimmed", wanted: "original" }, bare)).toBe(true);
    expect(isPendingRewrite({ shown: "original", wanted: "placeholder" }, bare)).toBe(true);
    expect(isPendingRewrite({ shown: "original", wanted: "trimmed" }, bare)).toBe(false);
    expect(isPendingRewrite({ shown: "trimmed", wanted: "trimmed" }, attributes)).toBe(false);
    expect(isPendingRewrite({ shown: "absent", wanted: "trimmed" }, attributes)).toBe(false);
  });
});

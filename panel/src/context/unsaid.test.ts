import { describe, expect, it } from "vitest";
import { type Said, unsaidIn } from "./unsaid.ts";

const nothing: Said = new Map();
const row = (step: number, said: string | null, more = {}) => ({
  step,
  seq: step * 10,
  done: true,
  said,
  ...more,
});

describe("what is said of steps", () => {
  it("is what came since somebody looks, once", () => {
    const rows = [row(1, "pinned #3"), row(2, "archived 3 blocks")];
    const first = unsaidIn(nothing, rows, 15);
    expect(first.fresh).toEqual([rows[1]]);
    expect(unsaidIn(first.said, rows, 15).fresh).toEqual([]);
  });

  it("is said anew when a step has grown, also where it began before somebody looked", () => {
    const first = unsaidIn(nothing, [row(1, "pinned #3"), row(2, "archived 3 blocks")], 15);
    const grown = [row(1, "pinned #3 and #4"), row(2, "archived 3 blocks and expanded 1")];
    expect(unsaidIn(first.said, grown, 15).fresh).toEqual(grown);
  });

  it("is not said again for what it frees, or because its words cannot be read any more", () => {
    const { said } = unsaidIn(nothing, [row(2, "archived 3 blocks", { frees: 10 })], 0);
    expect(unsaidIn(said, [row(2, "archived 3 blocks", { frees: 12 })], 0).fresh).toEqual([]);
    const unread = unsaidIn(said, [row(2, null)], 0);
    expect(unread.fresh).toEqual([]);
    expect(unsaidIn(unread.said, [row(2, "archived 3 blocks")], 0).fresh).toEqual([]);
  });

  it("is neither that a step was taken back nor that it is done again", () => {
    const { said } = unsaidIn(nothing, [row(2, "pinned #3", { done: false })], 0);
    expect(unsaidIn(said, [row(2, "pinned #3")], 0).fresh).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { type AnnouncedSteps, findNewSteps } from "./new-steps.ts";

const none: AnnouncedSteps = new Map();
const row = (step: number, said: string | null, more = {}) => ({
  step,
  seq: step * 10,
  done: true,
  said,
  ...more,
});

describe("a step", () => {
  it("is announced once, if it came after the page was opened", () => {
    const rows = [row(1, "pinned #3"), row(2, "archived 3 blocks")];
    const first = findNewSteps(none, rows, 15);
    expect(first.fresh).toEqual([rows[1]]);
    expect(findNewSteps(first.announced, rows, 15).fresh).toEqual([]);
  });

  it("is announced again when it has grown", () => {
    const first = findNewSteps(none, [row(1, "pinned #3"), row(2, "archived 3 blocks")], 15);
    const grown = [row(1, "pinned #3 and #4"), row(2, "archived 3 blocks and expanded 1")];
    expect(findNewSteps(first.announced, grown, 15).fresh).toEqual(grown);
  });

  it("is not announced again for a new token count or a missing text", () => {
    const { announced } = findNewSteps(none, [row(2, "archived 3 blocks", { frees: 10 })], 0);
    expect(findNewSteps(announced, [row(2, "archived 3 blocks", { frees: 12 })], 0).fresh).toEqual([]);
    const unread = findNewSteps(announced, [row(2, null)], 0);
    expect(unread.fresh).toEqual([]);
    expect(findNewSteps(unread.announced, [row(2, "archived 3 blocks")], 0).fresh).toEqual([]);
  });

  it("is not announced again by undo and redo", () => {
    const { announced } = findNewSteps(none, [row(2, "pinned #3", { done: false })], 0);
    expect(findNewSteps(announced, [row(2, "pinned #3")], 0).fresh).toEqual([]);
  });
});

import { describe, expect, test } from "vitest";
import { changesSinceLines, ownWordsText } from "./command-result.ts";

describe("changes since a turn", () => {
  test("are a line each, without the session's mark", () => {
    const report =
      '[---- since turn 3: you pinned #17; #18 superseded by #20; user archived #4 (-2k, "old; done")]';
    expect(changesSinceLines(report)).toEqual([
      "since turn 3",
      "  the model pinned #17",
      "  #18 superseded by #20",
      '  user archived #4 (-2k, "old; done")',
    ]);
  });

  test("are one line if nothing has changed", () => {
    expect(changesSinceLines("[---- nothing has changed since turn 3]")).toEqual([
      "nothing has changed since turn 3",
    ]);
  });
});

test("the model's own words are named, one or several", () => {
  expect(ownWordsText([4])).toBe("#4 is still sent in full: the model's own words are never shortened.");
  expect(ownWordsText([4, 9])).toMatch(/^#4 #9 are still sent in full/);
});

import { describe, expect, it } from "vitest";
import { deltaExamples } from "../../../test/support/delta-examples.ts";
import { blockId } from "../../base/index.ts";
import type { Delta } from "../../engine/index.ts";
import { actWords, blocksIn, saidWords } from "./act-words.ts";

const permits: Extract<Delta, { type: "permission-set" }> = deltaExamples["permission-set"];

describe("what was done, in words", () => {
  it.each<[string, Delta]>([
    ["allowed archive by model in this turn", permits],
    ["denied archive by model once", { ...permits, to: { rule: "deny", scope: "once", until: null } }],
    ["took back what was said about archive by model", { ...permits, from: permits.to, to: null }],
    ["set the mode to ask", deltaExamples["mode-set"]],
    ["set the mode as configured", { type: "mode-set", from: "ask", to: null }],
  ])("%s", (words, delta) => {
    expect(actWords([delta])).toBe(words);
    expect(blocksIn([delta])).toEqual([]);
  });

  it("in few words, many blocks are counted", () => {
    const archived = [1, 2, 3].map((block) => ({ ...deltaExamples["archive-set"], block: blockId(block) }));
    const pinned = { ...deltaExamples["pin-set"], block: blockId(31) };
    expect(saidWords([...archived, pinned])).toBe("archived 3 blocks and pinned #31");
    expect(saidWords([...archived, pinned, deltaExamples["mode-set"]])).toBe(
      "archived 3 blocks, pinned #31 and set the mode to ask",
    );
    expect(saidWords([])).toBe("");
  });

  it("what was done to blocks comes first", () => {
    const words = actWords([deltaExamples["mode-set"], deltaExamples["archive-set"]]);
    expect(words).toBe("archived #7, set the mode to ask");
  });
});

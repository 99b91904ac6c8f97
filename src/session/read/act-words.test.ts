import { describe, expect, it } from "vitest";
import { deltaExamples } from "../../../test/support/delta-examples.ts";
import type { Delta } from "../../engine/index.ts";
import { actWords, blocksIn } from "./act-words.ts";

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

  it("what was done to blocks comes first", () => {
    const words = actWords([deltaExamples["mode-set"], deltaExamples["archive-set"]]);
    expect(words).toBe("archived #7, set the mode to ask");
  });
});

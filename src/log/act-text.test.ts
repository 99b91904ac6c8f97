import { describe, expect, it } from "vitest";
import { deltaExamples } from "../../test/support/delta-examples.ts";
import { blockId } from "../base/index.ts";
import type { Delta } from "../engine/frames/index.ts";
import { actBlocks, describeActs, summarizeActs } from "./act-text.ts";

const permits: Extract<Delta, { type: "permission-set" }> = deltaExamples["permission-set"];

describe("the text of acts", () => {
  it.each<[string, Delta]>([
    ["allowed archive by model in this turn", permits],
    ["denied archive by model once", { ...permits, to: { rule: "deny", scope: "once", until: null } }],
    ["removed the rule for archive by model", { ...permits, from: permits.to, to: null }],
    ["set the mode to ask", deltaExamples["mode-set"]],
    ["set the mode as configured", { type: "mode-set", from: "ask", to: null }],
  ])("%s", (text, delta) => {
    expect(describeActs([delta])).toBe(text);
    expect(actBlocks([delta])).toEqual([]);
  });

  it("the summary counts several blocks of one verb", () => {
    const archived = [1, 2, 3].map((block) => ({ ...deltaExamples["archive-set"], block: blockId(block) }));
    const pinned = { ...deltaExamples["pin-set"], block: blockId(31) };
    expect(summarizeActs([...archived, pinned])).toBe("archived 3 blocks and pinned #31");
    expect(summarizeActs([...archived, pinned, deltaExamples["mode-set"]])).toBe(
      "archived 3 blocks, pinned #31 and set the mode to ask",
    );
    expect(summarizeActs([])).toBe("");
  });

  it("acts on blocks come before changes of rules", () => {
    const text = describeActs([deltaExamples["mode-set"], deltaExamples["archive-set"]]);
    expect(text).toBe("archived #7, set the mode to ask");
  });
});

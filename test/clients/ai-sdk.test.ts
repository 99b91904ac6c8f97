import { expect } from "vitest";
import { sdkSuite } from "./sdk-suite.ts";
import { bodyOf } from "./tap.ts";

const sums = "the sums are 3, 7 and 11";

sdkSuite(
  {
    program: "test/clients/ai-sdk-child.mjs",
    modules: ["ai", "@ai-sdk/anthropic"],
    expected: {
      plain: "a plain answer: ä, 漢字, 🙂",
      loop: sums,
      "second turn": "the next answer",
      "streamed loop": `I add these${sums}`,
      "streamed second turn": "the next answer",
    },
  },
  ({ near, refusals }) => {
    expect(refusals).toEqual([]);
    expect(near.length).toBe(1 + 3 + 1 + 3 + 1);
    expect(near.filter((exchange) => bodyOf(exchange)?.["stream"] === true).length).toBe(4);
  },
);

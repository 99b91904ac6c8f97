import { expect } from "vitest";
import { sdkSuite } from "./sdk-suite.ts";
import { bodyOf } from "./tap.ts";

const sums = "the sums are 3, 7 and 11";
const plain = "a plain answer: ä, 漢字, 🙂";

sdkSuite(
  {
    program: "test/clients/anthropic-sdk-child.mjs",
    modules: ["@anthropic-ai/sdk"],
    expected: {
      plain,
      streamed: plain,
      loop: sums,
      "streamed loop": sums,
      counted: true,
      runner: sums,
      "streamed runner": sums,
      refused: "400 invalid_request_error",
    },
  },
  ({ near, refusals }) => {
    // The runner asks for a conversation that the server keeps, is refused, and then sends all of it.
    const threaded = near.filter((exchange) => bodyOf(exchange)?.["thread"] !== undefined);
    expect(threaded.map(({ status }) => status)).toEqual([400, 400]);
    expect(refusals.length).toBe(threaded.length + 1);
    expect(near.length).toBe(2 + 3 + 3 + 1 + 4 + 4 + 1);
  },
);

// Checks the test kit: a command of the model goes through planner and recorder without a socket.
import { expect, test } from "vitest";
import type { ModelReply } from "../../src/testing/index.ts";
import { CommandKit } from "../support/command-kit.ts";

test.each([true, false])("a call of our tools is executed and hidden, streamed: %s", async (isStreamed) => {
  const replies: ModelReply["content"][] = [
    [
      { type: "text", text: "one" },
      { type: "tool_use", name: "read", input: {} },
    ],
    [{ type: "tool_use", name: "aperture_manage", input: { verb: "pin", target: "5" } }],
    [{ type: "text", text: "two" }],
    [{ type: "text", text: "three" }],
  ];
  const kit = new CommandKit({ model: () => ({ content: replies.shift() ?? [] }), isStreamed });
  await kit.say("hello");
  await kit.results("a file");
  await kit.say("go on");
  expect(kit.problems()).toEqual([]);
  expect(kit.sent).toHaveLength(4);
  expect(JSON.stringify(kit.history)).not.toContain("aperture");
  const frames = await kit.commandFrames();
  expect(frames.map(({ actor, deltas }) => [actor, deltas.map(({ type }) => type)])).toEqual([
    ["model", ["pin-set", "pin-set", "pin-set"]],
  ]);
  expect(kit.sent[2]?.body).toContain("#5, #6, #7 pinned.");
});

// One answer made of several samplings looks to a client like any other answer.
import { describe, expect, test } from "vitest";
import { prefixBreaks } from "../support/test-client.ts";
import {
  call,
  closeAfterAll,
  forms,
  newTalker,
  ours,
  playTurns,
  promptOf,
  scene,
  shapeOf,
  text,
  theirs,
  think,
} from "./relay-kit.ts";

closeAfterAll();

describe.each(forms)("an answer %s", (_, more) => {
  test("blocks are numbered without gaps, although some are hidden", async () => {
    const played = await scene([
      [think("a"), ours(), text("one"), ours("diff")],
      [ours(), think("b"), text("two"), theirs(), ours(), theirs(2)],
      [text("done")],
    ]);
    const [first] = await playTurns(played, newTalker(more), 2);
    expect(first === undefined ? [] : shapeOf(first)).toEqual([
      "thinking a",
      "text one",
      "thinking b",
      "text two",
      "tool_use look",
      "tool_use look",
    ]);
    expect(first?.stop).toBe("tool_use");
    expect(prefixBreaks(played.bodies())).toBe(0);
  });

  test.each([
    ["behind", [theirs(), ours()]],
    ["before", [ours(), theirs()]],
    ["on both sides of", [ours(), theirs(), ours("diff")]],
  ])("results of our calls %s the client's are sent with the client's results", async (_name, reply) => {
    const played = await scene([reply, [text("two"), theirs(2)], [text("three")]]);
    await playTurns(played, newTalker(more), 3);
    const sent = played.bodies()[1]?.toString() ?? "";
    expect(sent.slice(sent.indexOf('"tool_result"'))).toContain("CONTEXT MANIFEST");
    expect(sent).not.toContain('"is_error":true');
    expect(played.bodies()).toHaveLength(3);
    expect(prefixBreaks(played.bodies())).toBe(0);
  });
});

describe.each(forms)("the figures and tools of an answer %s", (_, more) => {
  test("usage has the last prompt, all output, and each sampling as an iteration", async () => {
    const played = await scene([[text("one"), ours()], [text("two"), ours()], [text("three")]]);
    const [first] = await playTurns(played, newTalker(more), 1);
    const sampled = played.exchanges().map(({ usage }) => usage);
    const outputs = sampled.map((usage) => usage?.output_tokens ?? 0);
    expect(sampled).toHaveLength(3);
    expect(promptOf(first?.usage)).toBe(promptOf(sampled.at(-1)));
    expect(first?.usage["output_tokens"]).toBe(outputs.reduce((sum, each) => sum + each, 0));
    const iterations = first?.usage["iterations"] as readonly Record<string, unknown>[];
    expect(iterations.map((each) => [promptOf(each), each["output_tokens"]])).toEqual(
      sampled.map((usage) => [promptOf(usage), usage?.output_tokens]),
    );
  });

  test.each([
    ["any", { type: "any" }],
    ["tool", { type: "tool", name: "look" }],
    ["none", { type: "none" }],
    ["one at a time", { type: "auto", disable_parallel_tool_use: true }],
    ["any, one at a time", { type: "any", disable_parallel_tool_use: true }],
  ])("tool_choice holds for every sampling: %s", async (kind, choice) => {
    const mayCall = kind !== "none";
    const played = await scene([
      mayCall && kind !== "tool" ? [ours()] : [text("no call")],
      [text("now"), ...(mayCall ? [theirs()] : [])],
      [text("end")],
    ]);
    const talker = newTalker({ ...more, tool_choice: choice }, { model: "claude-opus-4-6" });
    const [first] = await playTurns(played, talker, 1);
    for (const body of played.bodies()) expect(JSON.parse(body.toString())["tool_choice"]).toEqual(choice);
    if (kind.includes("any")) expect(first?.stop).toBe("tool_use");
    if (kind.includes("one at a time"))
      expect(first?.content.filter(({ type }) => type === "tool_use")).toHaveLength(1);
  });

  test("a tool of ours that was never offered is hidden too", async () => {
    const played = await scene([[text("one"), call("aperture_manifest")], [text("two")]]);
    const [first] = await playTurns(played, newTalker(more), 1);
    expect(first === undefined ? [] : shapeOf(first)).toEqual(["text one", "text two"]);
  });
});

describe.each(forms)("the end of an answer %s", (_, more) => {
  test.each(["refusal", "pause_turn", "max_tokens", "stop_sequence"])(
    "a later sampling that ends with %s ends the answer with it",
    async (stopReason) => {
      const played = await scene([
        [text("one"), ours()],
        { content: [text("two")], stopReason },
        [text("after")],
      ]);
      const talker = newTalker(more);
      const [first] = await playTurns(played, talker, 2);
      expect([first?.stop, first && shapeOf(first)]).toEqual([stopReason, ["text one", "text two"]]);
      expect(prefixBreaks(played.bodies())).toBe(0);
    },
  );

  test.each(["refusal", "max_tokens", "stop_sequence", "model_context_window_exceeded"])(
    "a first sampling that calls our tools and ends with %s is not continued",
    async (stopReason) => {
      const played = await scene([{ content: [text("one"), ours()], stopReason }, [text("after")]]);
      const [first] = await playTurns(played, newTalker(more), 2);
      expect([first?.stop, first && shapeOf(first)]).toEqual([stopReason, ["text one"]]);
      expect(played.exchanges()).toHaveLength(2);
      // The calls are answered with the next user message.
      expect(played.bodies()[1]?.toString()).toContain("CONTEXT MANIFEST");
    },
  );

  const again = [ours()];
  test.each([
    ["no text at all", [again, again, again, again, again]],
    ["no text at the end", [again, []]],
    ["only reasoning", [[think("a"), ours()], [think("b"), ours()], again, again, again]],
    ["reasoning at the end", [[text("one"), ours()], [think("b"), ours()], again, again, again]],
    ["cut off", [{ content: [ours()], stopReason: "max_tokens" }]],
  ])("no answer is empty: %s", async (_name, replies) => {
    const played = await scene([...replies, [text("after")], [text("end")]]);
    const talker = newTalker(more);
    const [first] = await playTurns(played, talker, 3);
    expect(first?.content.at(-1)).toEqual({ type: "text", text: "(no answer)" });
    expect(["end_turn", "max_tokens"]).toContain(first?.stop);
    expect(prefixBreaks(played.bodies())).toBe(0);
    // The model never reads words it has not said, and gets the results of its calls.
    const last = JSON.parse(played.bodies().at(-1)?.toString() ?? "{}") as { messages: unknown };
    expect(JSON.stringify(last.messages)).not.toContain("(no answer)");
    const calls = JSON.stringify(last.messages).match(/"name":"aperture_/g)?.length;
    expect(calls).toBe(replies.flat().filter((each) => JSON.stringify(each).includes("aperture_")).length);
  });

  test("reasoning at the end is followed by text, or the client could not send it back", async () => {
    const played = await scene([[think("a"), ours()], [think("b")], [text("after")], [text("end")]]);
    const [first] = await playTurns(played, newTalker(more), 3);
    expect(first && shapeOf(first)).toEqual(["thinking a", "thinking b", "text (no answer)"]);
    expect(prefixBreaks(played.bodies())).toBe(0);
  });
});

// One answer made of several samplings looks to a client like any other answer.
import { describe, expect, test } from "vitest";
import { prefixBreaks } from "../support/talker.ts";
import {
  call,
  endsScenes,
  forms,
  ours,
  promptOf,
  scene,
  shapeOf,
  talk,
  text,
  theirs,
  think,
  turns,
} from "./relay-kit.ts";

endsScenes();

describe.each(forms)("an answer %s", (_, more) => {
  test("blocks are numbered from the first on, whatever was hidden between them", async () => {
    const given = await scene([
      [think("a"), ours(), text("one"), ours("diff")],
      [ours(), think("b"), text("two"), theirs(), ours(), theirs(2)],
      [text("done")],
    ]);
    const [first] = await turns(given, talk(more), 2);
    expect(first === undefined ? [] : shapeOf(first)).toEqual([
      "thinking a",
      "text one",
      "thinking b",
      "text two",
      "tool_use look",
      "tool_use look",
    ]);
    expect(first?.stop).toBe("tool_use");
    expect(prefixBreaks(given.bodies())).toBe(0);
  });

  test.each([
    ["behind", [theirs(), ours()]],
    ["before", [ours(), theirs()]],
    ["on both sides of", [ours(), theirs(), ours("diff")]],
  ])("what calls of ours came to %s the client's is told with the client's results", async (_name, said) => {
    const given = await scene([said, [text("two"), theirs(2)], [text("three")]]);
    await turns(given, talk(more), 3);
    const sent = given.bodies()[1]?.toString() ?? "";
    expect(sent.slice(sent.indexOf('"tool_result"'))).toContain("CONTEXT MANIFEST");
    expect(sent).not.toContain('"is_error":true');
    expect(given.bodies()).toHaveLength(3);
    expect(prefixBreaks(given.bodies())).toBe(0);
  });
});

describe.each(forms)("what counts for the client of an answer %s", (_, more) => {
  test("usage is the last prompt, all that was written, and each sampling by itself", async () => {
    const given = await scene([[text("one"), ours()], [text("two"), ours()], [text("three")]]);
    const [first] = await turns(given, talk(more), 1);
    const sampled = given.exchanges().map(({ usage }) => usage);
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
  ])("what the client says of its tools holds for every sampling: %s", async (kind, choice) => {
    const mayCall = kind !== "none";
    const given = await scene([
      mayCall && kind !== "tool" ? [ours()] : [text("no call")],
      [text("now"), ...(mayCall ? [theirs()] : [])],
      [text("end")],
    ]);
    const asked = talk({ ...more, tool_choice: choice }, { model: "claude-opus-4-6" });
    const [first] = await turns(given, asked, 1);
    for (const body of given.bodies()) expect(JSON.parse(body.toString())["tool_choice"]).toEqual(choice);
    if (kind.includes("any")) expect(first?.stop).toBe("tool_use");
    if (kind.includes("one at a time"))
      expect(first?.content.filter(({ type }) => type === "tool_use")).toHaveLength(1);
  });

  test("a tool of ours that was never offered is hidden too", async () => {
    const given = await scene([[text("one"), call("aperture_manifest")], [text("two")]]);
    const [first] = await turns(given, talk(more), 1);
    expect(first === undefined ? [] : shapeOf(first)).toEqual(["text one", "text two"]);
  });
});

describe.each(forms)("the end of an answer %s", (_, more) => {
  test.each(["refusal", "pause_turn", "max_tokens", "stop_sequence"])(
    "a later sampling that ends with %s ends the answer with it",
    async (stopReason) => {
      const given = await scene([
        [text("one"), ours()],
        { content: [text("two")], stopReason },
        [text("after")],
      ]);
      const talker = talk(more);
      const [first] = await turns(given, talker, 2);
      expect([first?.stop, first && shapeOf(first)]).toEqual([stopReason, ["text one", "text two"]]);
      expect(prefixBreaks(given.bodies())).toBe(0);
    },
  );

  test.each(["refusal", "max_tokens", "stop_sequence", "model_context_window_exceeded"])(
    "a first sampling that calls us and ends with %s is not gone on with",
    async (stopReason) => {
      const given = await scene([{ content: [text("one"), ours()], stopReason }, [text("after")]]);
      const [first] = await turns(given, talk(more), 2);
      expect([first?.stop, first && shapeOf(first)]).toEqual([stopReason, ["text one"]]);
      expect(given.exchanges()).toHaveLength(2);
      // What was called is answered with what the user says next.
      expect(given.bodies()[1]?.toString()).toContain("CONTEXT MANIFEST");
    },
  );

  const again = [ours()];
  test.each([
    ["nothing is said at all", [again, again, again, again, again]],
    ["nothing is said in the end", [again, []]],
    ["it only thinks", [[think("a"), ours()], [think("b"), ours()], again, again, again]],
    ["it thinks in the end", [[text("one"), ours()], [think("b"), ours()], again, again, again]],
    ["it is cut off", [{ content: [ours()], stopReason: "max_tokens" }]],
  ])("no answer is empty: %s", async (_name, replies) => {
    const given = await scene([...replies, [text("after")], [text("end")]]);
    const talker = talk(more);
    const [first] = await turns(given, talker, 3);
    expect(first?.content.at(-1)).toEqual({ type: "text", text: "(no answer)" });
    expect(["end_turn", "max_tokens"]).toContain(first?.stop);
    expect(prefixBreaks(given.bodies())).toBe(0);
    // The model never reads words that it has not said, and is told what its calls came to.
    const last = JSON.parse(given.bodies().at(-1)?.toString() ?? "{}") as { messages: unknown };
    expect(JSON.stringify(last.messages)).not.toContain("(no answer)");
    const calls = JSON.stringify(last.messages).match(/"name":"aperture_/g)?.length;
    expect(calls).toBe(replies.flat().filter((each) => JSON.stringify(each).includes("aperture_")).length);
  });

  test("reasoning at the end is followed by something, or it could not be sent back", async () => {
    const given = await scene([[think("a"), ours()], [think("b")], [text("after")], [text("end")]]);
    const [first] = await turns(given, talk(more), 3);
    expect(first && shapeOf(first)).toEqual(["thinking a", "thinking b", "text (no answer)"]);
    expect(prefixBreaks(given.bodies())).toBe(0);
  });
});

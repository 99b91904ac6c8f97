import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { fail, ok } from "../../src/base/index.ts";
import {
  createSpace,
  defineTool,
  humanProvider,
  type Provider,
  scriptedProvider,
  toolCall,
  withRetries,
} from "../../src/runtime/index.ts";
import { call, say } from "../../src/testing/index.ts";
import { agentOf, promptText, strictProvider } from "./strict-provider.ts";

const usage = { input: 1, cacheRead: 0, cacheWrite: 0, output: 1 };
const none = { type: "object", properties: {} } as const;
const word = { type: "object", properties: { word: { type: "string" } }, required: ["word"] } as const;

describe("the tool loop", () => {
  it("shows every earlier round, also in the next run", async () => {
    const provider = strictProvider((request, n) => {
      if (n < 3)
        return {
          content: [
            { type: "text", text: `Round ${n}.` },
            { type: "tool_use", name: "look", input: { word: `w${n}` } },
          ],
        };
      return say(request.messages.length > 8 ? "As before." : "Done.");
    });
    const look = defineTool({
      name: "look",
      description: "Looks.",
      input: word,
      run: ({ word: said }) => `found ${said}`,
    });
    const space = await createSpace({ agents: [agentOf(provider, { tools: [look] })] });
    const desk = space.stream("desk");
    await desk.say("bob", "look thrice");
    await desk.activate("ada");
    await desk.say("bob", "and?");
    await desk.activate("ada");
    expect(provider.refusals).toEqual([]);
    const last = promptText(provider.exchanges.at(-1)?.request ?? expect.fail());
    for (const round of [0, 1, 2]) {
      expect(last).toContain(`Round ${round}.`);
      expect(last).toContain(`found w${round}`);
    }
    expect(last).toContain("Done.");
    await space.close();
  });

  it("makes the calls of one answer at once, and waits for all of them", async () => {
    let [atOnce, most] = [0, 0];
    const slow = defineTool({
      name: "slow",
      description: "Takes a while.",
      input: word,
      run: async ({ word: said }) => {
        atOnce += 1;
        most = Math.max(most, atOnce);
        await pause(50);
        atOnce -= 1;
        return said;
      },
    });
    const provider = scriptedProvider([
      ["a", "b", "c"].map((one) => toolCall("slow", { word: one })),
      "All.",
    ]);
    const space = await createSpace({ agents: [agentOf(provider, { tools: [slow] })] });
    await space.stream("desk").say("bob", "go");
    await space.stream("desk").activate("ada");
    expect(most).toBe(3);
    const results = provider.requests[1]?.messages
      .at(-1)
      ?.content.filter(({ type }) => type === "tool_result");
    expect(results?.map(({ content }) => content).sort()).toEqual(["a", "b", "c"]);
    await space.close();
  });

  it("tells the agent about an unknown tool, a bad input, an error and a timeout", async () => {
    const throws = defineTool({
      name: "throws",
      description: "Throws.",
      input: none,
      run: () => {
        throw new Error("no paper");
      },
    });
    const stuck = defineTool({
      name: "stuck",
      description: "Never ends.",
      input: none,
      timeoutMs: 20,
      run: () => new Promise(() => undefined),
    });
    const look = defineTool({
      name: "look",
      description: "Looks.",
      input: word,
      run: ({ word: said }) => said,
    });
    const calls = [
      toolCall("nothing"),
      toolCall("look", { words: "x" }),
      toolCall("throws"),
      toolCall("stuck"),
    ];
    const provider = scriptedProvider([calls, "I see."]);
    const space = await createSpace({ agents: [agentOf(provider, { tools: [throws, stuck, look] })] });
    await space.stream("desk").say("bob", "go");
    await space.stream("desk").activate("ada");
    const results =
      provider.requests[1]?.messages.at(-1)?.content.filter(({ type }) => type === "tool_result") ?? [];
    const texts = results.map(({ content, is_error }) => `${is_error} ${content}`).join("\n");
    expect(texts).toContain("true There is no tool nothing.");
    expect(texts).toContain("true This call cannot be made: word is missing.");
    expect(texts).toContain("true no paper");
    expect(texts).toContain("true This call took more than 20 ms.");
    await space.close();
  });

  it("ends when it is cancelled, and the provider accepts the next prompt", async () => {
    const provider = strictProvider((_, n) => (n === 0 ? call("stuck", {}) : say("Fine.")));
    const stuck = defineTool({
      name: "stuck",
      description: "Never ends.",
      input: none,
      run: () => new Promise(() => undefined),
    });
    const space = await createSpace({ agents: [agentOf(provider, { tools: [stuck] })] });
    const desk = space.stream("desk");
    await desk.say("bob", "go");
    const started = new Promise((resolve) => space.on("tool", resolve));
    const run = desk.activate("ada");
    await started;
    await space.cancel({ agent: "ada", stream: "desk" });
    await run;
    expect(space.pending()).toEqual([]);
    await desk.say("bob", "never mind");
    await desk.activate("ada");
    expect(provider.refusals).toEqual([]);
    expect(promptText(provider.exchanges.at(-1)?.request ?? expect.fail())).toContain(
      "This call was cancelled.",
    );
    await space.close();
  });

  it("requires text after the last round, then stops with a notice", async () => {
    const provider = scriptedProvider(() => [toolCall("look", { word: "again" })]);
    const look = defineTool({ name: "look", description: "Looks.", input: word, run: () => "seen" });
    const space = await createSpace({ agents: [agentOf(provider, { tools: [look], roundsMax: 3 })] });
    const notices: string[] = [];
    space.on("notice", ({ text }) => notices.push(text));
    await space.stream("desk").say("bob", "go");
    await space.stream("desk").activate("ada");
    expect(provider.requests.map(({ toolChoice }) => toolChoice)).toEqual(["auto", "auto", "auto", "none"]);
    expect(notices).toEqual([expect.stringContaining("called tools in 4 rounds")]);
    await space.close();
  });

  it("turns a provider's error into a notice, and the next activation works", async () => {
    const provider = scriptedProvider((_, n) => {
      if (n === 0) throw new Error("the cable is out");
      return "Back.";
    });
    const space = await createSpace({ agents: [agentOf(provider)] });
    const notices: string[] = [];
    space.on("notice", ({ text }) => notices.push(text));
    const desk = space.stream("desk");
    await desk.say("bob", "hello");
    await desk.activate("ada");
    expect(notices).toEqual(["ada could not answer: Internal error: the cable is out."]);
    await desk.activate("ada");
    expect(promptText(provider.requests.at(-1) ?? expect.fail())).toContain("the cable is out");
    await space.close();
  });
});

describe("memory commands", () => {
  it("are built in: a memory lasts, archiving waits for the user, recall finds a text that left the window", async () => {
    const provider = strictProvider((_, n) => {
      if (n === 0)
        return {
          content: [
            {
              type: "tool_use",
              name: "aperture_note",
              input: { verb: "create", text: "The harbour key hangs in the shed.", topic: "key" },
            },
          ],
        };
      if (n === 2) return call("aperture_archive", { target: "1", reason: "answered" });
      if (n === 8) return call("aperture_read", { verb: "recall", target: "lighthouse" });
      return say(`Noted ${n}.`);
    });
    const agent = agentOf(provider, { window: { frames: 8, step: 4 } });
    const space = await createSpace({ agents: [agent] });
    const desk = space.stream("desk");
    const ask = async (text: string): Promise<string> => {
      await desk.say("bob", text);
      await desk.activate("ada");
      return promptText(provider.exchanges.at(-1)?.request ?? expect.fail());
    };
    await ask("The lighthouse was painted in 1931. Where is the key?");
    expect(await ask("Drop the lighthouse.")).toMatch(/#1\b/);
    let last = "";
    for (let turn = 0; turn < 5; turn += 1) last = await ask(`Turn ${turn}.`);
    expect(provider.refusals).toEqual([]);
    expect(last).toMatch(/memory #\d+, yours: The harbour key/);
    expect(last).toContain("The harbour key hangs in the shed.");
    expect(await space.approvals()).toMatchObject([{ verb: "archive", blocks: [1] }]);
    const prompts = provider.exchanges.map(({ request }) => promptText(request));
    expect(prompts[8]).not.toContain("painted in 1931");
    expect(prompts[9]).toContain("painted in 1931");
    await space.close();
  });
});

describe("an incomplete answer", () => {
  const write = (made: string[]) =>
    defineTool({
      name: "write",
      description: "Writes.",
      input: word,
      run: ({ word: said }) => {
        made.push(said);
        return "written";
      },
    });

  it.each(["max_tokens", "stop_sequence", "refusal", "model_context_window_exceeded"])(
    "that stopped with %s makes no call, and the agent is told",
    async (stop) => {
      const made: string[] = [];
      const cut = {
        content: [toolCall("write", { word: "half" }), toolCall("aperture_note", { verb: "create" })],
        stop,
      };
      const provider = scriptedProvider([cut, [toolCall("write", { word: "whole" })], "Done."]);
      const space = await createSpace({ agents: [agentOf(provider, { tools: [write(made)] })] });
      await space.stream("desk").say("bob", "go");
      await space.stream("desk").activate("ada");
      expect(made).toEqual(["whole"]);
      const results = provider.requests[1]?.messages.at(-1)?.content.filter(({ is_error }) => is_error);
      expect(results?.map(({ content }) => content)).toEqual(
        Array(2).fill(expect.stringContaining("This call was not made: your answer was cut off")),
      );
      await space.close();
    },
  );

  it("becomes a notice in the stream if it ends the run", async () => {
    const provider = scriptedProvider([
      { content: [{ type: "text", text: "It was a dark and" }], stop: "max_tokens" },
      { content: [], stop: "refusal" },
      { content: [] },
    ]);
    const space = await createSpace({ agents: [agentOf(provider, { maxTokens: 5 })] });
    const notices: string[] = [];
    space.on("notice", ({ text }) => notices.push(text));
    for (let turn = 0; turn < 3; turn += 1) await space.stream("desk").activate("ada");
    expect(notices).toEqual([
      "ada was cut off: an answer may have 5 tokens.",
      "ada refused to answer.",
      "ada had nothing to say.",
    ]);
    await space.close();
  });
});

describe("a silent provider", () => {
  it("is given up after the timeout with a notice, and asked again the next time", async () => {
    let attempts = 0;
    const provider: Provider = {
      name: "deaf",
      ask: async (_, { signal, onText }) => {
        attempts += 1;
        for (let word = 0; attempts === 2 && word < 6; word += 1) {
          await pause(20);
          onText("word ");
        }
        if (attempts === 2)
          return ok({ content: [{ type: "text", text: "Slowly." }], stop: "end_turn", usage });
        // The provider notices the abort and returns an error, which is no answer either.
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        return fail("AP_PROVIDER_CANCELLED", { provider: "deaf" });
      },
    };
    const space = await createSpace({ agents: [agentOf(provider, { answerTimeoutMs: 60 })] });
    const notices: string[] = [];
    const messages: string[] = [];
    space.on("notice", ({ text }) => notices.push(text));
    space.on("said", ({ text }) => messages.push(text));
    await space.stream("desk").activate("ada");
    expect(notices).toEqual([
      "ada could not answer: The provider deaf sent nothing for 60 ms; the call was cancelled.",
    ]);
    // As long as text arrives, an answer may take longer than the timeout.
    await space.stream("desk").activate("ada");
    expect(messages).toEqual(["Slowly."]);
    await space.close();
  });

  it("that is a person has no timeout", () => {
    expect(humanProvider(async () => "Yes.").answerTimeoutMs).toBe(Number.POSITIVE_INFINITY);
    expect(withRetries(humanProvider(async () => "Yes.")).answerTimeoutMs).toBe(Number.POSITIVE_INFINITY);
  });
});

import { describe, expect, it } from "vitest";
import { createSpace, scriptedProvider } from "../../src/runtime/index.ts";
import { agentOf, promptText } from "./strict-provider.ts";

async function quietSpace(agent = agentOf(scriptedProvider(() => "Yes."))) {
  return await createSpace({ agents: [agent] });
}

/** The prompt an agent would get in a stream, as text. */
async function readPrompt(
  space: Awaited<ReturnType<typeof createSpace>>,
  stream: string,
  agent = "ada",
): Promise<string> {
  const { system, messages } = await space.preview(agent, stream);
  return promptText({ system, messages } as never);
}

describe("the prompt of a stream", () => {
  it("is complete beside a busy stream", async () => {
    const space = await quietSpace();
    const [busy, quiet] = [space.stream("busy"), space.stream("quiet")];
    for (let turn = 0; turn < 40; turn += 1) {
      await quiet.say("bob", `quiet ${turn}.`);
      for (let noise = 0; noise < 20; noise += 1) await busy.say("carol", `noise ${turn} ${noise}.`);
    }
    const text = await readPrompt(space, "quiet");
    for (let turn = 0; turn < 40; turn += 1) expect(text).toContain(`quiet ${turn}.`);
    expect(text).not.toContain("noise");
    await space.close();
  });

  it("shows messages of its parent up to the fork, none after it, and system texts of the space", async () => {
    const space = await quietSpace();
    await space.record([{ type: "told", text: "House rule: be brief." }]);
    const lobby = space.stream("lobby");
    await lobby.say("bob", "before the fork");
    const side = lobby.fork("side");
    await lobby.say("bob", "after the fork");
    await side.say("carol", "only here");
    const [inSide, inLobby] = [await readPrompt(space, "side"), await readPrompt(space, "lobby")];
    expect(inSide).toContain("before the fork");
    expect(inSide).toContain("only here");
    expect(inSide).not.toContain("after the fork");
    expect(inLobby).not.toContain("only here");
    for (const text of [inSide, inLobby]) expect(text).toContain("House rule: be brief.");
    await space.close();
  });

  it("shows the agent's own answers as the assistant's, all others as the user's under the speaker's name", async () => {
    const [ada, eve] = [scriptedProvider(["I am ada."]), scriptedProvider(["I am eve."])];
    const space = await createSpace({ agents: [agentOf(ada), agentOf(eve, { name: "eve" })] });
    const lobby = space.stream("lobby");
    await lobby.say("bob", "who is here?");
    await lobby.activate("ada");
    await lobby.activate("eve");
    const { messages } = await space.preview("ada", "lobby");
    const spoken = messages.flatMap(({ role, content }) =>
      content.map((block) => `${role}: ${block["text"]}`),
    );
    expect(spoken).toContain("assistant: I am ada.");
    expect(spoken).toContainEqual(
      expect.stringMatching(/^user: \[\w+ agent eve, message \d+ #\d+\]\nI am eve\.$/),
    );
    await space.close();
  });

  it("names the frames of each message, and the message of each frame", async () => {
    const space = await quietSpace();
    const lobby = space.stream("lobby");
    await lobby.say("bob", "one");
    await lobby.activate("ada");
    await lobby.say("bob", "two");
    const { messages, frameToMessageIndex, renderedFrames } = await space.preview("ada", "lobby");
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect([...frameToMessageIndex.values()]).toEqual([0, 1, 2]);
    expect(renderedFrames).toEqual([...frameToMessageIndex.keys()]);
    for (const [frame, index] of frameToMessageIndex) {
      const { from, to } = messages[index]?.sourceFrames ?? { from: 0, to: 0 };
      expect(from <= frame && frame <= to).toBe(true);
    }
    expect(messages.flatMap(({ blockIds }) => blockIds)).toEqual([
      ...new Set(messages.flatMap((m) => m.blockIds)),
    ]);
    await space.close();
  });

  it("shows messages of other streams only to an agent that wants them, each in one line", async () => {
    const space = await createSpace({
      agents: [
        agentOf(
          scriptedProvider(() => "Yes."),
          { peripheralNotes: 1 },
        ),
        agentOf(
          scriptedProvider(() => "No."),
          { name: "eve" },
        ),
      ],
    });
    await space.stream("lobby").say("bob", "first here");
    await space.stream("elsewhere").say("carol", "early there");
    await space.stream("elsewhere").say("carol", "something there");
    expect(await readPrompt(space, "lobby")).toMatch(/elsewhere, in elsewhere: carol: something there\]/);
    expect(await readPrompt(space, "lobby")).not.toContain("early there");
    expect(await readPrompt(space, "lobby", "eve")).not.toContain("something there");
    await space.close();
  });
});

describe("an ambient block", () => {
  it("stands in the tail once in each form, and its removal is shown", async () => {
    const provider = scriptedProvider(() => "Seen.");
    const space = await quietSpace(agentOf(provider));
    const desk = space.stream("desk");
    await desk.around("open file", "line one");
    await space.record([{ type: "around", name: "build", text: "green" }]);
    const ask = async (text: string): Promise<string> => {
      await desk.say("bob", text);
      await desk.activate("ada");
      const { messages = [] } = provider.requests.at(-1) ?? {};
      return JSON.stringify(messages.at(-1));
    };
    const first = await ask("look");
    expect(first).toMatch(/open file, #\d+, as it is now/);
    expect(first).toContain("green");
    expect(await ask("again")).not.toContain("line one");
    await desk.around("open file", "line two");
    const changed = await ask("and now?");
    expect(changed).toContain("line two");
    expect(changed).not.toContain("green");
    await desk.around("open file", null);
    expect(await ask("gone?")).toMatch(/open file: no longer there/);
    await desk.around("open file", "line two");
    expect(await ask("back?")).toContain("line two");
    await space.close();
  });

  it("of a scope is shown only while the scope is open", async () => {
    const space = await quietSpace();
    const desk = space.stream("desk");
    await desk.say("bob", "hello");
    await desk.around("review guide", "check the names", { during: "review" });
    expect(await readPrompt(space, "desk")).not.toContain("check the names");
    await desk.scope("review", true);
    expect(await readPrompt(space, "desk")).toContain("check the names");
    await desk.scope("review", false);
    expect(await readPrompt(space, "desk")).not.toContain("check the names");
    await space.close();
  });

  it("an ephemeral message is shown to the agent that its frame activates, and to no agent that comes later", async () => {
    const provider = scriptedProvider(() => "Heard.");
    const space = await quietSpace(agentOf(provider));
    const desk = space.stream("desk");
    await space.record([
      { type: "said", stream: "desk", speaker: "bob", text: "by voice, in a noisy room", ephemeral: true },
      { type: "said", stream: "desk", speaker: "bob", text: "call me" },
      { type: "activate", stream: "desk", agent: "ada" },
    ]);
    await space.idle();
    await desk.say("bob", "later");
    await desk.activate("ada");
    expect(promptText(provider.requests[0] ?? expect.fail())).toContain("by voice, in a noisy room");
    // A new agent sees what the log shows now, not what was sent to another agent.
    space.add(
      agentOf(
        scriptedProvider(() => "Hm."),
        { name: "fresh" },
      ),
    );
    expect(await readPrompt(space, "desk", "fresh")).not.toContain("by voice");
    await space.close();
  });
});

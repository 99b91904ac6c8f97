import { afterEach, describe, expect, it } from "vitest";
import { unwrap } from "../../src/base/index.ts";
import { pricesOf } from "../../src/config/index.ts";
import type { Frame } from "../../src/engine/frames/index.ts";
import { stateRow } from "../../src/queries/state-row.ts";
import {
  createSpace,
  defineTool,
  humanProvider,
  type Space,
  scriptedProvider,
  toolCall,
  whenMentioned,
} from "../../src/runtime/index.ts";
import { agentOf, promptText } from "./strict-provider.ts";

const open: Space[] = [];

async function spaceOf(...options: Parameters<typeof createSpace>): Promise<Space> {
  const space = await createSpace(...options);
  open.push(space);
  return space;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((space) => space.close()));
});

const add = defineTool({
  name: "add",
  description: "Adds two numbers.",
  input: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
  run: ({ a, b }) => `${a + b}`,
});

describe("a space", () => {
  it("emits every event from a message to the agent's answer, in order", async () => {
    const provider = scriptedProvider([
      [{ type: "text", text: "Let me see." }, toolCall("add", { a: 1, b: 2 })],
      "It is 3.",
    ]);
    const space = await spaceOf({
      agents: [agentOf(provider, { tools: [add], wakes: whenMentioned("ada") })],
    });
    const events: string[] = [];
    for (const type of ["said", "heard", "tool", "finished"] as const) {
      space.on(type, ({ type: what, ...rest }) =>
        events.push(
          `${what} ${Object.values(rest)
            .filter((one) => typeof one === "string")
            .join(" ")}`,
        ),
      );
    }
    const lobby = space.stream("lobby");
    await lobby.say("bob", "hello all");
    await lobby.say("bob", "ada, what is 1 + 2?");
    await space.idle();
    expect(events).toEqual([
      "said lobby bob hello all",
      "said lobby bob ada, what is 1 + 2?",
      "heard lobby ada Let me see.",
      "said lobby ada Let me see.",
      "tool lobby ada add started",
      "tool lobby ada add done",
      "heard lobby ada It is 3.",
      "said lobby ada It is 3.",
      "finished lobby ada done",
    ]);
  });

  it("wakes only an agent that is mentioned", () => {
    const wakes = whenMentioned("ada");
    const isWoken = (text: string, speaker = "bob"): boolean => wakes({ stream: "lobby", speaker, text });
    expect([isWoken("ada, hello"), isWoken("hello @Ada!"), isWoken("is ADA here?")]).toEqual([
      true,
      true,
      true,
    ]);
    expect([isWoken("canada"), isWoken("adage"), isWoken("nobody"), isWoken("ada speaks", "ada")]).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  it("records the inputs of an adapter, one frame per event", async () => {
    const provider = scriptedProvider(() => "Noted.");
    const space = await spaceOf({ agents: [agentOf(provider)] });
    space.stream("mail");
    const receive = space.attach<{ from: string; subject: string }>({
      name: "mail",
      read: ({ from, subject }) => [
        { type: "around", stream: "mail", name: "inbox", text: `latest: ${subject}` },
        { type: "said", stream: "mail", speaker: from, text: subject, untrusted: true },
        { type: "activate", stream: "mail", agent: "ada" },
      ],
    });
    const before = space.moment.seq;
    const frames: Frame[] = [];
    space.on("frame", ({ frame }) => frames.push(frame));
    await receive({ from: "carol", subject: "The lock is stuck" });
    const addedSeq = space.moment.state.blocks.last?.block.addedSeq;
    expect(addedSeq).toBe(before + 1);
    expect(frames[0]?.cause.reason).toBe("mail");
    await space.idle();
    expect(promptText(provider.requests[0] ?? expect.fail())).toContain("latest: The lock is stuck");
  });

  it("shows an agent the reason of its activation once", async () => {
    const provider = scriptedProvider([[toolCall("add", { a: 1, b: 2 })], "Done."]);
    const space = await spaceOf({ agents: [agentOf(provider, { tools: [add] })] });
    await space.stream("desk").say("bob", "hello");
    await space.stream("desk").activate("ada", { reason: "the build is red] [x" });
    const reasons = provider.requests.map(
      (request) => promptText(request).split("you are asked to act: ").length - 1,
    );
    expect(reasons).toEqual([1, 1]);
    expect(promptText(provider.requests[0] ?? expect.fail())).toContain("the build is red");
  });

  it("lets a person answer instead of a model", async () => {
    const human = humanProvider(async ({ messages }) => `I read ${messages.length} message.`);
    const space = await spaceOf({ agents: [agentOf(human)] });
    const messages: string[] = [];
    space.on("said", ({ speaker, text }) => messages.push(`${speaker}: ${text}`));
    await space.stream("desk").say("bob", "hello");
    await space.stream("desk").activate("ada");
    expect(messages).toContain("ada: I read 1 message.");
  });

  it("sums up the cost by the providers' counts and the models' prices", async () => {
    const usage = { input: 1_000, cacheRead: 10_000, cacheWrite: 2_000, output: 100 };
    const answer = { content: [{ type: "text", text: "Yes." }], usage };
    const space = await spaceOf({
      agents: [
        agentOf(scriptedProvider([answer, answer])),
        agentOf(scriptedProvider([answer]), { name: "eve", model: "nobody-knows-1" }),
      ],
    });
    await space.stream("desk").activate("ada");
    await space.stream("side").activate("ada");
    const { inputUsd, output, read, cache } = pricesOf("claude-sonnet-5");
    const turn = 1_000 + 10_000 * read + 2_000 * cache.write + 100 * output;
    const usd = (turn * (inputUsd ?? Number.NaN)) / 1_000_000;
    expect(space.spend({ stream: "side" })).toEqual({ turns: 1, usage, usd: expect.closeTo(usd, 9) });
    expect(space.spend({ agent: "ada" })).toMatchObject({ turns: 2, usd: expect.closeTo(2 * usd, 9) });
    await space.stream("desk").activate("eve");
    expect(space.spend()).toMatchObject({ turns: 3, usd: null, usage: { cacheRead: 30_000 } });
  });

  it("rejects wrong use with a clear error and records nothing", async () => {
    const space = await spaceOf({ agents: [agentOf(scriptedProvider(() => "Yes."))] });
    expect(() => space.add(agentOf(scriptedProvider([])))).toThrow("This space already has an agent ada.");
    expect(() => space.add(agentOf(scriptedProvider([]), { name: "eve", tools: [add, add] }))).toThrow(
      "another of that name",
    );
    await expect(space.preview("ada", "nowhere")).rejects.toThrow("There is no stream nowhere.");
    const seq = space.moment.seq;
    await expect(
      space.record([{ type: "said", stream: "nowhere", speaker: "bob", text: "?" }]),
    ).rejects.toThrow("nowhere");
    await expect(space.stream("desk").activate("nobody")).rejects.toThrow(
      "There is no agent nobody in this space; known agents: ada.",
    );
    expect(space.moment.seq).toBe(seq + 1);
    await space.close();
    await expect(space.stream("desk").say("bob", "late")).rejects.toThrow("This space is closed.");
  });

  it("is a session like any other: its state shows the stream an agent is in", async () => {
    const space = await spaceOf({ agents: [agentOf(scriptedProvider(() => "Yes."))] });
    space.stream("empty");
    await space.stream("desk").say("bob", "hello");
    await space.stream("desk").activate("ada");
    const { stream, blocks, model } = unwrap(stateRow(space.moment, undefined, { windowOf: () => 200_000 }));
    expect(space.moment.state.streams.get(stream ?? 0)?.name).toBe("desk");
    expect(blocks.map(({ kind }) => kind)).toEqual(["user", "assistant"]);
    expect(model).toBe("claude-sonnet-5");
  });

  it("continues its runs when it is opened again", async () => {
    const { openMemoryStore } = await import("../../src/store/index.ts");
    const store = openMemoryStore();
    let release: (words: string) => void = () => undefined;
    const slow = humanProvider(
      () =>
        new Promise<string>((resolve) => {
          release = resolve;
        }),
    );
    const first = await createSpace({ store, name: "left", agents: [agentOf(slow)] });
    await first.stream("desk").say("bob", "hello");
    const run = first.stream("desk").activate("ada");
    void run.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const closed = first.close();
    release("too late");
    await closed;
    const provider = scriptedProvider(() => "Here I am.");
    const again = await spaceOf({ store, name: "left", agents: [agentOf(provider)] });
    await again.idle();
    expect(provider.requests).toHaveLength(1);
    expect(promptText(provider.requests[0] ?? expect.fail())).toContain("hello");
    expect(again.pending()).toEqual([]);
  });
});

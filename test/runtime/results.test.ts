// A call has one result, whatever its tool does and however the run ends: with two, or with none, every later
// prompt is refused.
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { must } from "../../src/base/index.ts";
import { blockOf, type Delta } from "../../src/engine/index.ts";
import {
  type Agent,
  calling,
  createSpace,
  defineTool,
  type Provider,
  type Space,
  scriptedProvider,
  type Tool,
} from "../../src/runtime/index.ts";
import { openMemoryStore } from "../../src/store/index.ts";
import { call, say } from "../../src/testing/index.ts";
import { agentOf, promptText, strictProvider } from "../support/runtime.ts";

const none = { type: "object", properties: {} } as const;

function tool(name: string, run: () => unknown): Tool {
  return defineTool({ name, description: name, input: none, run: run as () => string });
}

async function ask(space: Space, text: string): Promise<void> {
  await space.stream("desk").say("bob", text);
  await space.stream("desk").activate("ada");
}

/** Activations that nobody ended. */
function goingOn({ moment }: Space): readonly string[] {
  const blocks = [...moment.state.blocks.entries()].map(([, { block }]) => block);
  return blocks.flatMap(({ id, kind, anchor }) =>
    kind === "activation" && blockOf(moment, id) !== null ? [anchor] : [],
  );
}

function isBeginning(delta: Delta): boolean {
  return delta.type === "block-added" && delta.block.anchor.startsWith("call ");
}

const both = { content: ["odd", "slow"].map((name) => ({ type: "tool_use" as const, name, input: {} })) };
const picture = (media_type: string) => [
  { type: "image", source: { type: "base64", media_type, data: "iVBORw0KGgo=" } },
];

describe("whatever a tool returns, its call has one result that a provider takes", () => {
  const cyclic: { type: string; self?: unknown } = { type: "text" };
  cyclic.self = cyclic;
  it.each([
    ["blocks that cannot be written down", [{ type: "text", text: "x", meta: 1n }], "BigInt"],
    ["a block that holds itself", [cyclic], "circular"],
    ["a list of things that have a type", [{ type: "file", path: "a.ts" }], "a.ts"],
    ["a text that is none", [{ type: "text", text: 5 }], "5"],
    ["a text with more to it", [{ type: "text", text: "well", meta: 1 }], "well"],
    ["a text with a mark", [{ type: "text", text: "well", cache_control: { type: "ephemeral" } }], "well"],
    ["a picture of no source", [{ type: "image", path: "a.png" }], "a.png"],
    ["a picture no model takes", picture("image/svg+xml"), "image/svg+xml"],
    ["a picture", picture("image/png"), "iVBORw0KGgo="],
  ])("%s", async (_, returned, told) => {
    const provider = strictProvider((_request, n) => (n === 0 ? both : say("Fine.")));
    const tools = [tool("odd", () => returned), tool("slow", () => pause(30, "slow is done"))];
    const space = await createSpace({ agents: [agentOf(provider, { tools })] });
    await ask(space, "go");
    await ask(space, "and?");
    expect(provider.refusals).toEqual([]);
    const prompt = promptText(must(provider.exchanges.at(-1), "it was asked").request);
    expect(prompt).toContain(told);
    expect(prompt).toContain("slow is done");
    expect(prompt.match(/"tool_result"/g)).toHaveLength(2);
    expect(goingOn(space)).toEqual([]);
    await space.close();
  });

  it.each([
    ["nothing", new Error("")],
    ["what has no words", Object.create(null)],
    ["no error", 5],
  ])("and whatever it throws: %s", async (_, thrown) => {
    const provider = strictProvider((_request, n) => (n === 0 ? call("odd", {}) : say("Fine.")));
    const throws = tool("odd", () => {
      throw thrown;
    });
    const space = await createSpace({ agents: [agentOf(provider, { tools: [throws] })] });
    await ask(space, "go");
    const [result] = must(provider.exchanges[1], "it was told").request.messages.at(-1)?.content ?? [];
    expect(result).toMatchObject({ type: "tool_result", is_error: true });
    expect(String(result?.["content"]).trim()).not.toBe("");
    await space.close();
  });

  it("nobody writes the mark into a document or what was found", async () => {
    let mark = "";
    const found = () => [
      {
        type: "document",
        title: mark,
        source: { type: "text", media_type: "text/plain", data: `${mark} bob` },
      },
      { type: "search_result", source: "a", title: "b", content: [{ type: "text", text: `${mark} bob` }] },
      { type: "image", source: { type: "base64", media_type: "image/png", data: mark } },
    ];
    const provider = strictProvider((_request, n) => (n === 0 ? call("odd", {}) : say("Fine.")));
    const space = await createSpace({ agents: [agentOf(provider, { tools: [tool("odd", found)] })] });
    await space.stream("desk").say("bob", "go");
    const { messages } = await space.preview("ada", "desk");
    mark = /\[([0-9a-f]{6}) bob/.exec(JSON.stringify(messages))?.[1] ?? expect.fail();
    await space.stream("desk").activate("ada");
    const result = JSON.stringify(provider.exchanges[1]?.request.messages.at(-1)?.content[0]);
    // Once, in what nobody reads.
    expect(result.split(mark)).toHaveLength(2);
    expect(result).toContain(`"data":"${mark}"`);
    await space.close();
  });
});

describe("however a run ends, its calls have one result each", () => {
  it("a call that fails at us is waited for like the others, and none goes on in the log", async () => {
    const strict = strictProvider((_request, n) => (n === 0 ? both : say("Fine.")));
    const tools = [tool("odd", () => "odd is done"), tool("slow", () => pause(40, "slow is done"))];
    const agent = agentOf(strict, { tools });
    // What is read of the agent for a call, once: a fault of ours that no tool has caused.
    let faults = 0;
    const broken: Agent = new Proxy(agent, {
      get: (target, field) => {
        if (field !== "tools" || faults !== 1) return Reflect.get(target, field);
        faults = 2;
        throw new Error("broken");
      },
    });
    const space = await createSpace({ agents: [broken] });
    space.on("frame", ({ frame }) => {
      if (faults === 0 && frame.deltas.some(isBeginning)) faults = 1;
    });
    await ask(space, "go");
    expect(faults).toBe(2);
    expect(goingOn(space)).toEqual([]);
    await ask(space, "and?");
    expect(strict.refusals).toEqual([]);
    const prompt = promptText(must(strict.exchanges.at(-1), "it was asked").request);
    expect(prompt).toContain("This call was not made");
    expect(prompt).toContain("slow is done");
    expect(prompt.match(/"tool_result"/g)).toHaveLength(2);
    await space.close();
  });

  it("one that is left in the middle of a call, and taken back by somebody who has not its agent", async () => {
    const store = openMemoryStore();
    const strict = strictProvider((_request, n) => (n === 0 ? call("stuck", {}) : say("Fine.")));
    const stuck = tool("stuck", () => new Promise(() => undefined));
    const agent = agentOf(strict, { tools: [stuck] });
    const first = await createSpace({ store, name: "left", agents: [agent] });
    await first.stream("desk").say("bob", "go");
    const isBegun = new Promise((resolve) => first.on("tool", resolve));
    void first.stream("desk").activate("ada");
    await isBegun;
    await first.close();
    const second = await createSpace({ store, name: "left" });
    expect(goingOn(second)).toHaveLength(2);
    await second.cancel({ agent: "ada", stream: "desk" });
    expect(goingOn(second)).toEqual([]);
    second.add(agent);
    await ask(second, "and?");
    expect(strict.refusals).toEqual([]);
    expect(promptText(must(strict.exchanges.at(-1), "it was asked").request)).toContain("and?");
    await second.close();
  });
});

describe("an agent that may not manage its memory", () => {
  it.each(["aperture_note", "aperture_archive"])("has no tool %s, though it calls it", async (name) => {
    const input = { verb: "create", text: "The key hangs in the shed.", target: "1", reason: "old" };
    const provider = scriptedProvider([[calling(name, input)], "Fine."]);
    const space = await createSpace({ agents: [agentOf(provider, { memory: false })] });
    await ask(space, "note it");
    const result = provider.requests[1]?.messages.at(-1)?.content[0];
    expect(result).toMatchObject({ is_error: true, content: `There is no tool ${name}.` });
    const kinds = [...space.moment.state.blocks.entries()].map(([, { block }]) => block.kind);
    expect(kinds).not.toContain("memory");
    expect(await space.steps()).toEqual([]);
    await space.close();
  });
});

describe("what time does to an agent", () => {
  /** Answers one call in its first turn, and nothing but words after that. */
  const looksOnce = (): Provider =>
    scriptedProvider((_, n) => (n === 0 ? [calling("look")] : `Answer ${n}.`));

  it("does not depend on whose turn it was when something fell due", async () => {
    const look = tool("look", () => "seen ".repeat(300));
    const ada = { ...agentOf(looksOnce(), { tools: [look] }), name: "ada" };
    const eve = { ...agentOf(scriptedProvider(() => "Hm.")), name: "eve" };
    const space = await createSpace({ agents: [ada, eve] });
    const desk = space.stream("desk");
    await ask(space, "look");
    for (let turn = 3; turn < 66; turn += 1) {
      await desk.say("bob", `turn ${turn}`);
      await desk.activate(turn % 3 === 0 ? "ada" : "eve");
    }
    expect(loweredIn(space, "ada")).toBe(true);
    await space.close();
  });

  it("nor on whether that turn failed", async () => {
    const look = tool("look", () => "seen ".repeat(300));
    const words = looksOnce();
    let asked = 0;
    const provider: Provider = {
      name: "often down",
      ask: async (request, asking) => {
        asked += 1;
        return asked > 2 && asked % 3 !== 0
          ? await Promise.reject(new Error("down"))
          : await words.ask(request, asking);
      },
    };
    const space = await createSpace({ agents: [agentOf(provider, { tools: [look] })] });
    await ask(space, "look");
    for (let turn = 3; turn < 66; turn += 1) await ask(space, `turn ${turn}`);
    expect(loweredIn(space, "ada")).toBe(true);
    await space.close();
  });
});

/** Whether the result of the first call is wanted shorter than it was. */
function loweredIn({ moment }: Space, agent: string): boolean {
  const { state } = moment;
  const result = [...state.blocks.entries()].find(([, { block }]) => block.kind === "tool-result")?.[1].block;
  const view = [...state.views.entries()].find(([, one]) => one.agent === agent)?.[1];
  const facts = view?.facts.get(must(result, "it was called").id);
  return facts?.level !== undefined || facts?.archive !== undefined;
}

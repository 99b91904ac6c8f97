// A call has one result, whatever its tool does and however the run ends: with two or none, every later
// prompt is refused.
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { must } from "../../src/base/index.ts";
import type { Delta } from "../../src/engine/frames/index.ts";
import { blockOf } from "../../src/engine/moment/index.ts";
import {
  type Agent,
  createSpace,
  defineTool,
  type Provider,
  type Space,
  scriptedProvider,
  type Tool,
  toolCall,
} from "../../src/runtime/index.ts";
import { openMemoryStore } from "../../src/store/index.ts";
import { call, say } from "../../src/testing/index.ts";
import { agentOf, promptText, strictProvider } from "./strict-provider.ts";

const none = { type: "object", properties: {} } as const;

function tool(name: string, run: () => unknown): Tool {
  return defineTool({ name, description: name, input: none, run: run as () => string });
}

async function ask(space: Space, text: string): Promise<void> {
  await space.stream("desk").say("bob", text);
  await space.stream("desk").activate("ada");
}

/** The anchors of activations that were not removed. */
function openActivations({ moment }: Space): readonly string[] {
  const blocks = [...moment.state.blocks.entries()].map(([, { block }]) => block);
  return blocks.flatMap(({ id, kind, anchor }) =>
    kind === "activation" && blockOf(moment, id) !== null ? [anchor] : [],
  );
}

function isCallStart(delta: Delta): boolean {
  return delta.type === "block-added" && delta.block.anchor.startsWith("call ");
}

const both = { content: ["odd", "slow"].map((name) => ({ type: "tool_use" as const, name, input: {} })) };
const picture = (media_type: string) => [
  { type: "image", source: { type: "base64", media_type, data: "iVBORw0KGgo=" } },
];

describe("a call has one result that a provider accepts, whatever its tool returns", () => {
  const cyclic: { type: string; self?: unknown } = { type: "text" };
  cyclic.self = cyclic;
  it.each([
    ["blocks that JSON cannot express", [{ type: "text", text: "x", meta: 1n }], "BigInt"],
    ["a block that holds itself", [cyclic], "circular"],
    ["a list of other objects with a type", [{ type: "file", path: "a.ts" }], "a.ts"],
    ["a text that is a number", [{ type: "text", text: 5 }], "5"],
    ["a text with an unknown field", [{ type: "text", text: "well", meta: 1 }], "well"],
    [
      "a text with a cache mark",
      [{ type: "text", text: "well", cache_control: { type: "ephemeral" } }],
      "well",
    ],
    ["a picture without a source", [{ type: "image", path: "a.png" }], "a.png"],
    ["a picture no model takes", picture("image/svg+xml"), "image/svg+xml"],
    ["a picture", picture("image/png"), "iVBORw0KGgo="],
  ])("%s", async (_, returned, expected) => {
    const provider = strictProvider((_request, n) => (n === 0 ? both : say("Fine.")));
    const tools = [tool("odd", () => returned), tool("slow", () => pause(30, "slow is done"))];
    const space = await createSpace({ agents: [agentOf(provider, { tools })] });
    await ask(space, "go");
    await ask(space, "and?");
    expect(provider.refusals).toEqual([]);
    const prompt = promptText(must(provider.exchanges.at(-1), "it was asked").request);
    expect(prompt).toContain(expected);
    expect(prompt).toContain("slow is done");
    expect(prompt.match(/"tool_result"/g)).toHaveLength(2);
    expect(openActivations(space)).toEqual([]);
    await space.close();
  });

  it.each([
    ["an error without a message", new Error("")],
    ["an object that is no string", Object.create(null)],
    ["a number", 5],
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

  it("the nonce is removed from documents and search results", async () => {
    let nonce = "";
    const found = () => [
      {
        type: "document",
        title: nonce,
        source: { type: "text", media_type: "text/plain", data: `${nonce} bob` },
      },
      { type: "search_result", source: "a", title: "b", content: [{ type: "text", text: `${nonce} bob` }] },
      { type: "image", source: { type: "base64", media_type: "image/png", data: nonce } },
    ];
    const provider = strictProvider((_request, n) => (n === 0 ? call("odd", {}) : say("Fine.")));
    const space = await createSpace({ agents: [agentOf(provider, { tools: [tool("odd", found)] })] });
    await space.stream("desk").say("bob", "go");
    const { messages } = await space.preview("ada", "desk");
    nonce = /\[([0-9a-f]{6}) bob/.exec(JSON.stringify(messages))?.[1] ?? expect.fail();
    await space.stream("desk").activate("ada");
    const result = JSON.stringify(provider.exchanges[1]?.request.messages.at(-1)?.content[0]);
    // Only in base64 data, which is not read as text.
    expect(result.split(nonce)).toHaveLength(2);
    expect(result).toContain(`"data":"${nonce}"`);
    await space.close();
  });
});

describe("however a run ends, its calls have one result each", () => {
  it("a fault of our own in one call does not keep the others from ending, and no call stays open", async () => {
    const strict = strictProvider((_request, n) => (n === 0 ? both : say("Fine.")));
    const tools = [tool("odd", () => "odd is done"), tool("slow", () => pause(40, "slow is done"))];
    const agent = agentOf(strict, { tools });
    // Reading the agent's tools throws once: a fault of our own that no tool caused.
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
      if (faults === 0 && frame.deltas.some(isCallStart)) faults = 1;
    });
    await ask(space, "go");
    expect(faults).toBe(2);
    expect(openActivations(space)).toEqual([]);
    await ask(space, "and?");
    expect(strict.refusals).toEqual([]);
    const prompt = promptText(must(strict.exchanges.at(-1), "it was asked").request);
    expect(prompt).toContain("This call was not made");
    expect(prompt).toContain("slow is done");
    expect(prompt.match(/"tool_result"/g)).toHaveLength(2);
    await space.close();
  });

  it("a run that is left in the middle of a call can be cancelled in a space without its agent", async () => {
    const store = openMemoryStore();
    const strict = strictProvider((_request, n) => (n === 0 ? call("stuck", {}) : say("Fine.")));
    const stuck = tool("stuck", () => new Promise(() => undefined));
    const agent = agentOf(strict, { tools: [stuck] });
    const first = await createSpace({ store, name: "left", agents: [agent] });
    await first.stream("desk").say("bob", "go");
    const isStarted = new Promise((resolve) => first.on("tool", resolve));
    void first.stream("desk").activate("ada");
    await isStarted;
    await first.close();
    const second = await createSpace({ store, name: "left" });
    expect(openActivations(second)).toHaveLength(2);
    await second.cancel({ agent: "ada", stream: "desk" });
    expect(openActivations(second)).toEqual([]);
    second.add(agent);
    await ask(second, "and?");
    expect(strict.refusals).toEqual([]);
    const prompt = promptText(must(strict.exchanges.at(-1), "it was asked").request);
    expect(prompt).toContain("and?");
    expect(prompt.match(/"tool_result"/g)).toHaveLength(1);
    await second.close();
  });
});

describe("an agent that may not manage its context", () => {
  it.each(["aperture_note", "aperture_archive"])("has no tool %s, although it calls it", async (name) => {
    const input = { verb: "create", text: "The key hangs in the shed.", target: "1", reason: "old" };
    const provider = scriptedProvider([[toolCall(name, input)], "Fine."]);
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

describe("the expiry of an agent's blocks", () => {
  /** Calls a tool in its first turn, and answers in text after that. */
  const looksOnce = (): Provider =>
    scriptedProvider((_, n) => (n === 0 ? [toolCall("look")] : `Answer ${n}.`));

  it("does not depend on which agent had the turn when a block was due", async () => {
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
    expect(isLoweredFor(space, "ada")).toBe(true);
    await space.close();
  });

  it("does not depend on whether that turn failed", async () => {
    const look = tool("look", () => "seen ".repeat(300));
    const inner = looksOnce();
    let attempts = 0;
    const provider: Provider = {
      name: "often down",
      ask: async (request, askOptions) => {
        attempts += 1;
        return attempts > 2 && attempts % 3 !== 0
          ? await Promise.reject(new Error("down"))
          : await inner.ask(request, askOptions);
      },
    };
    const space = await createSpace({ agents: [agentOf(provider, { tools: [look] })] });
    await ask(space, "look");
    for (let turn = 3; turn < 66; turn += 1) await ask(space, `turn ${turn}`);
    expect(isLoweredFor(space, "ada")).toBe(true);
    await space.close();
  });
});

/** True if the agent's view wants the result of the first call shorter. */
function isLoweredFor({ moment }: Space, agent: string): boolean {
  const { state } = moment;
  const result = [...state.blocks.entries()].find(([, { block }]) => block.kind === "tool-result")?.[1].block;
  const view = [...state.views.entries()].find(([, one]) => one.agent === agent)?.[1];
  const facts = view?.facts.get(must(result, "it was called").id);
  return facts?.level !== undefined || facts?.archive !== undefined;
}

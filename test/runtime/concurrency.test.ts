// Concurrency: a listener of a frame may act before the frame is fully applied, and a turn may come while a
// preview is rendered.
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createSpace, defineTool, scriptedProvider, toolCall } from "../../src/runtime/index.ts";
import { openMemoryStore, type Store } from "../../src/store/index.ts";
import { say } from "../../src/testing/index.ts";
import { crashStore } from "./crash-store.ts";
import { agentOf, strictProvider } from "./strict-provider.ts";

const none = { type: "object", properties: {} } as const;

describe("a listener that acts on a frame at once", () => {
  it("does not start a run twice", async () => {
    let made = 0;
    const look = defineTool({
      name: "look",
      description: "Looks.",
      input: none,
      run: async () => {
        made += 1;
        return await pause(20, "seen");
      },
    });
    const provider = scriptedProvider(({ messages }) =>
      JSON.stringify(messages).includes("tool_result") ? "Done." : [toolCall("look")],
    );
    const space = await createSpace({ agents: [agentOf(provider, { tools: [look] })] });
    const journal = space.stream("journal");
    space.on("frame", ({ frame }) => {
      const isNew = frame.deltas.some(({ type }) => type === "view-opened");
      if (isNew) void journal.say("clerk", "somebody is new here");
    });
    await space.stream("desk").say("bob", "go");
    await space.stream("desk").activate("ada");
    expect([made, provider.requests.length]).toEqual([1, 2]);
    await space.close();
  });

  it("does not open a stream twice", async () => {
    const space = await createSpace();
    space.on("frame", ({ frame }) => {
      if (frame.deltas.some(({ type }) => type === "stream-opened")) space.stream("desk");
    });
    space.stream("desk");
    const names = [...space.moment.state.streams.entries()].map(([, { name }]) => name);
    expect(names.filter((name) => name === "desk")).toHaveLength(1);
    await space.close();
  });
});

describe("a log that refuses the first frame of a run", () => {
  it("ends the run as failed, and it starts again with the next input", async () => {
    const store = crashStore();
    const provider = scriptedProvider(() => "Fine.");
    const space = await createSpace({ store, name: "refused", agents: [agentOf(provider)] });
    const desk = space.stream("desk");
    const ends: string[] = [];
    space.on("finished", ({ is }) => ends.push(is));
    space.on("frame", ({ frame }) => {
      if (JSON.stringify(frame.deltas).includes('"activation"')) store.refuses = true;
    });
    await desk.activate("ada");
    expect([ends, provider.requests.length]).toEqual([["failed"], 0]);
    store.refuses = false;
    await desk.say("bob", "hello");
    await space.idle();
    expect(provider.requests).toHaveLength(1);
    await space.close();
  });
});

describe("a preview while a run starts", () => {
  /** Each read waits for the next of these times. */
  function slowStore(store: Store, waitsMs: number[]): Store {
    const content: Store["content"] = async (hash) => {
      await pause(waitsMs.shift() ?? 0);
      return await store.content(hash);
    };
    return { ...store, content };
  }

  it.each([[[]], [[40]], [[0, 40]], [[0, 0, 40]], [[20, 0, 60]], [[0, 0, 0, 0, 50]]])(
    "takes nothing from the prompt: reads that wait %j",
    async (waitsMs) => {
      const store = openMemoryStore();
      const before = await createSpace({
        store,
        name: "slow",
        agents: [agentOf(strictProvider(() => say("Yes.")))],
      });
      await before.stream("desk").say("bob", "word 0;");
      await before.stream("desk").activate("ada");
      await before.close();
      const provider = strictProvider(() => say("Fine."));
      const agents = [agentOf(provider)];
      const space = await createSpace({ store: slowStore(store, [...waitsMs]), name: "slow", agents });
      const looks = [space.preview("ada", "desk")];
      await space.stream("desk").say("bob", "word 1;");
      const first = space.stream("desk").activate("ada");
      looks.push(space.preview("ada", "desk"));
      await first;
      for (const look of looks) await look;
      await space.stream("desk").say("bob", "word 2;");
      await space.stream("desk").activate("ada");
      expect(provider.refusals).toEqual([]);
      const last = JSON.stringify(provider.exchanges.at(-1)?.request.messages);
      for (const word of [0, 1, 2]) expect(last.split(`word ${word};`)).toHaveLength(2);
      await space.close();
    },
  );
});

describe("however busy other streams are", () => {
  it("a prompt is sent, even if it is larger than the content cache", async () => {
    const inner = openMemoryStore();
    const content: Store["content"] = async (hash) => {
      await pause(3);
      return await inner.content(hash);
    };
    const provider = scriptedProvider(() => "Fine.");
    const store = { ...inner, content };
    const space = await createSpace({ store, name: "busy", agents: [agentOf(provider)] });
    const desk = space.stream("desk");
    for (let at = 0; at < 9; at += 1) {
      const source = { type: "base64", media_type: "image/png", data: `${at}`.repeat(5_000_000) };
      await desk.say("bob", `picture ${at}`, { media: [{ type: "image", source }] });
    }
    let isOver = false;
    const run = desk.activate("ada").then(() => {
      isOver = true;
    });
    while (!isOver) {
      await space.stream("market").say("carol", "fish");
      await pause(1);
    }
    await run;
    const [request, ...more] = provider.requests;
    expect(more).toEqual([]);
    const pictures = request?.messages.flatMap(({ content }) =>
      content.filter(({ type }) => type === "image"),
    );
    expect(pictures).toHaveLength(9);
    await space.close();
  }, 60_000);
});

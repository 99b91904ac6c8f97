import { describe, expect, it } from "vitest";
import { must } from "../../src/base/index.ts";
import {
  createSpace,
  defineTool,
  type RenderedContext,
  scriptedProvider,
  toolCall,
} from "../../src/runtime/index.ts";
import { openMemoryStore } from "../../src/store/index.ts";
import { agentOf } from "./strict-provider.ts";

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object", properties: {} },
  run: () => [
    { type: "text", text: "seen" },
    { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
  ],
});

function checkedContext(context: RenderedContext): RenderedContext {
  const { chunks, messages, system, tools, totalTokens } = context;
  expect(chunks.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(totalTokens);
  expect(chunks.every(({ text, tokens }) => text !== "" && tokens > 0)).toBe(true);
  const spoken = chunks.filter(({ role }) => role === "user" || role === "assistant");
  const blocks = messages.flatMap(({ role, content }) => content.map((block) => ({ role, block })));
  expect(spoken.map(({ role, text }) => ({ role, text }))).toEqual(
    blocks.map(({ role, block }) => ({
      role,
      text: block.type === "text" ? block["text"] : JSON.stringify(block),
    })),
  );
  expect(spoken.flatMap(({ blockIds }) => blockIds)).toEqual(messages.flatMap(({ blockIds }) => blockIds));
  const front = chunks.filter(({ role }) => role === "system").map(({ text }) => text);
  expect(front).toEqual(system.map(({ text }) => text));
  expect(chunks.filter(({ role }) => role === "tools").map(({ text }) => text)).toEqual([
    JSON.stringify(tools),
  ]);
  return context;
}

describe("the chunks of a rendered context", () => {
  it("are the whole prompt in order, with the tokens and blocks of each piece", async () => {
    const store = openMemoryStore();
    const provider = scriptedProvider((_, n) => (n === 0 ? [toolCall("look")] : `Answer ${n}.`));
    const agents = [agentOf(provider, { tools: [look], window: { frames: 8, step: 4 } })];
    const space = await createSpace({ store, name: "chunks", agents });
    const desk = space.stream("desk");
    await desk.around("board", "The lock is open.");
    for (let turn = 0; turn < 8; turn += 1) {
      await desk.say("bob", `turn ${turn}`);
      checkedContext(await space.preview("ada", "desk"));
      await desk.activate("ada");
    }
    await desk.say("bob", "the last word");
    const before = checkedContext(await space.preview("ada", "desk"));
    const chunk = must(
      before.chunks.find(({ text }) => text.includes("the last word")),
      "it is shown",
    );
    const { block } = must(space.moment.state.blocks.get(must(chunk.blockIds[0], "it is a block")), "known");
    expect(block).toMatchObject({ kind: "user", speaker: "bob" });
    await space.close();
    // The context restored from the log is the same.
    const again = await createSpace({ store, name: "chunks", agents });
    expect(checkedContext(await again.preview("ada", "desk")).chunks.slice(0, -1)).toEqual(
      before.chunks.slice(0, -1),
    );
    await again.close();
  });

  it("add up to the tokens that the budget limits", async () => {
    const provider = scriptedProvider(() => "Yes.");
    const space = await createSpace({ agents: [agentOf(provider, { memory: false, budgetTokens: 1_200 })] });
    const desk = space.stream("desk");
    for (let turn = 0; turn < 30; turn += 1) {
      await desk.say("bob", `turn ${turn} ${"word ".repeat(60)}`);
      const { totalTokens, chunks } = await space.preview("ada", "desk");
      expect(chunks.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(totalTokens);
      expect(totalTokens).toBeLessThanOrEqual(1_200);
      await desk.activate("ada");
    }
    await space.close();
  });
});

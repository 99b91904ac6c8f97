import { describe, expect, it } from "vitest";
import { must } from "../../src/base/index.ts";
import type { BlockKind } from "../../src/engine/frames/index.ts";
import { blockViewOf, factValue, type Moment, staleTurns } from "../../src/engine/moment/index.ts";
import {
  type Agent,
  createSpace,
  defineTool,
  type ModelRequest,
  type ScriptedReply,
  scriptedProvider,
  toolCall,
} from "../../src/runtime/index.ts";
import { openMemoryStore } from "../../src/store/index.ts";
import { agentOf, promptText, promptUnits } from "./strict-provider.ts";

const minuteMs = 60_000;
/** A window and a budget that never decide anything. */
const longTalk = { window: { frames: 1_000, step: 500 }, budgetTokens: 1_000_000 };
const filler = "The keys of the lock hang in the shed. ".repeat(100);

function blocksOf({ state }: Moment, wanted: BlockKind) {
  return [...state.blocks.entries()].map(([, { block }]) => block).filter(({ kind }) => kind === wanted);
}
const table = Array.from({ length: 100 }, (_, at) => `height ${at}: ${at * 7} cm at the north lock`).join(
  "\n",
);

const look = defineTool({
  name: "look",
  description: "Looks at a table.",
  input: { type: "object", properties: { page: { type: "integer" } }, required: ["page"] },
  run: ({ page }) => `page ${page}\n${table}`,
});

/** A desk with one agent and a clock that the test moves. */
async function openDesk(
  script: (request: ModelRequest, n: number) => ScriptedReply,
  rest: Partial<Agent> = {},
) {
  let nowMs = 1_800_000_000_000;
  const store = openMemoryStore();
  const provider = scriptedProvider(script);
  const open = (more: Partial<Agent> = {}) =>
    createSpace({
      store,
      name: "policy",
      agents: [agentOf(provider, { tools: [look], ...rest, ...more })],
      clock: { now: () => nowMs },
    });
  let space = await open();
  const ask = async (text: string): Promise<string> => {
    await space.stream("desk").say("bob", text);
    await space.stream("desk").activate("ada");
    return promptText(must(provider.requests.at(-1), "it was asked"));
  };
  return {
    provider,
    ask,
    wait: (ms: number): void => {
      nowMs += ms;
    },
    reopen: async (more: Partial<Agent> = {}): Promise<void> => {
      await space.close();
      space = await open(more);
      space.stream("desk");
    },
    moment: () => space.moment,
    view: () => must(space.moment.state.views.get(1), "ada has a view"),
    preview: () => space.preview("ada", "desk"),
    close: () => space.close(),
  };
}

/** Looks at the table, archives the result later, and otherwise only answers. The result is block 5. */
function archivesTheTable(_: ModelRequest, n: number): ScriptedReply {
  if (n === 0) return [toolCall("look", { page: 1 })];
  return n === 3 ? [toolCall("aperture_archive", { target: "5", reason: "read" })] : "Noted.";
}

describe("policy for agents of the runtime", () => {
  it("an archived block leaves at the first cold turn, and not before", async () => {
    const desk = await openDesk(archivesTheTable);
    await desk.ask("What does the table say?");
    // With so much after the table, a rewrite does not pay as long as the cache is warm.
    await desk.ask(`Read this as well. ${"The keys of the lock hang in the shed. ".repeat(4_000)}`);
    await desk.ask("Put it away.");
    expect(await desk.ask("And now?")).toContain("height 99");
    const epochs = desk.view().epochs.size;
    desk.wait(6 * minuteMs);
    const cold = await desk.ask("Good morning.");
    expect(cold).not.toContain("height 99");
    expect(cold).toMatch(/#\d+ result .*pruned \(read\)/);
    expect(desk.view().epochs.size).toBe(epochs + 1);
    expect(desk.view().epochs.last).toMatchObject({ reason: "cold" });
    await desk.close();
  });

  it("a restart in between changes nothing: the idle time is read from the log", async () => {
    const desk = await openDesk(archivesTheTable);
    await desk.ask("What does the table say?");
    // With so much after the table, a rewrite does not pay as long as the cache is warm.
    await desk.ask(`Read this as well. ${"The keys of the lock hang in the shed. ".repeat(4_000)}`);
    await desk.ask("Put it away.");
    await desk.reopen();
    const before = promptUnits(must(desk.provider.requests.at(-1), "it was asked"));
    expect(await desk.ask("And now?")).toContain("height 99");
    const warm = promptUnits(must(desk.provider.requests.at(-1), "it was asked"));
    expect(warm.slice(0, before.length)).toEqual(before);
    desk.wait(6 * minuteMs);
    await desk.reopen();
    expect(await desk.ask("Good morning.")).not.toContain("height 99");
    await desk.reopen();
    const shown = await desk.ask("Still there?");
    expect(shown).not.toContain("height 99");
    expect(shown).toMatch(/#\d+ result .*pruned \(read\)/);
    await desk.close();
  });

  it("a result that is not used for a while is trimmed, and leaves whole at the next cold turn", async () => {
    const desk = await openDesk((_, n) => (n === 0 ? [toolCall("look", { page: 1 })] : "Yes."), longTalk);
    await desk.ask("What does the table say?");
    for (let turn = 0; turn < staleTurns; turn += 1) await desk.ask(`And ${turn}? ${filler}`);
    expect(await desk.ask("Now?")).toContain("height 50:");
    desk.wait(6 * minuteMs);
    const cold = await desk.ask("Good morning.");
    expect(cold).not.toContain("height 50:");
    expect(cold).toMatch(/#5 trimmed, whole ~/);
    await desk.close();
  });

  it("the result of a repeated call supersedes the one before", async () => {
    const desk = await openDesk((_, n) => (n % 2 === 0 && n < 4 ? [toolCall("look", { page: 1 })] : "Yes."));
    await desk.ask("What does the table say?");
    await desk.ask("And now?");
    const [older] = blocksOf(desk.moment(), "tool-result");
    const blockView = must(
      blockViewOf(desk.moment(), desk.view(), must(older, "one each").id),
      "it is there",
    );
    expect(factValue(blockView, "supersession")).not.toBeNull();
    await desk.close();
  });

  it("another model rewrites at once: its cache is empty", async () => {
    const desk = await openDesk(archivesTheTable, longTalk);
    await desk.ask("What does the table say?");
    await desk.ask(`Read this as well. ${filler.repeat(40)}`);
    await desk.ask("Put it away.");
    expect(await desk.ask("And now?")).toContain("height 99");
    await desk.reopen({ model: "claude-opus-4-1" });
    expect(await desk.ask("And now?")).not.toContain("height 99");
    expect(desk.view().epochs.last).toMatchObject({ reason: "model" });
    await desk.close();
  });

  it("under pressure old results become placeholders before any frame leaves", async () => {
    const desk = await openDesk((_, n) => (n % 2 === 0 ? [toolCall("look", { page: n })] : "Yes."), {
      budgetTokens: 12_000,
    });
    for (let turn = 0; turn < 8; turn += 1) await desk.ask(`Question ${turn}`);
    const { messages } = await desk.preview();
    const text = JSON.stringify(messages);
    for (let turn = 0; turn < 8; turn += 1) expect(text).toContain(`Question ${turn}`);
    expect(text).toMatch(/#\d+ result .*pruned \(window pressure\)/);
    expect(desk.view().epochs.last).toMatchObject({ reason: "pressure" });
    await desk.close();
  });

  it("an archived block that the last message seems to need is offered", async () => {
    const desk = await openDesk(archivesTheTable);
    await desk.ask("What does the table say?");
    await desk.ask("Read on.");
    await desk.ask("Put it away.");
    desk.wait(6 * minuteMs);
    await desk.ask("Good morning.");
    expect(await desk.ask("Which height is there, in metres, at the north lock?")).toMatch(
      /hint: archived and maybe relevant: #5 /,
    );
    await desk.close();
  });

  it("a memory that the agent says again is marked as outdated", async () => {
    const said = "The key of the harbour gate hangs in the shed behind the north lock.";
    const desk = await openDesk((_, n) =>
      n === 0 ? [toolCall("aperture_note", { verb: "create", text: said })] : n === 1 ? "Noted." : said,
    );
    const outdated = (): readonly boolean[] =>
      blocksOf(desk.moment(), "memory").map(
        ({ id }) =>
          factValue(must(blockViewOf(desk.moment(), desk.view(), id), "it is there"), "supersession") !==
          null,
      );
    await desk.ask("Remember where the key is.");
    expect(outdated()).toEqual([false]);
    await desk.ask("Where is it?");
    expect(outdated()).toEqual([true]);
    await desk.close();
  });

  it("an agent without memory tools keeps its blocks, because it could not ask for them again", async () => {
    const desk = await openDesk((_, n) => (n === 0 ? [toolCall("look", { page: 1 })] : "Yes."), {
      memory: false,
      ...longTalk,
    });
    await desk.ask("What does the table say?");
    for (let turn = 0; turn < staleTurns + 2; turn += 1) await desk.ask(`And ${turn}?`);
    desk.wait(6 * minuteMs);
    expect(await desk.ask("Good morning.")).toContain("height 50:");
    await desk.close();
  });
});

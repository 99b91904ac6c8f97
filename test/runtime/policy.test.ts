import { describe, expect, it } from "vitest";
import { must } from "../../src/base/index.ts";
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
  const agents = [agentOf(provider, { tools: [look], ...rest })];
  const open = () => createSpace({ store, name: "policy", agents, clock: { now: () => nowMs } });
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
    reopen: async (): Promise<void> => {
      await space.close();
      space = await open();
      space.stream("desk");
    },
    view: () => must(space.moment.state.views.get(1), "ada has a view"),
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
});

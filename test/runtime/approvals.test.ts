import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { must } from "../../src/base/index.ts";
import { blockOf } from "../../src/engine/moment/index.ts";
import {
  type Agent,
  createSpace,
  type EventOf,
  type ScriptedReply,
  type Space,
  scriptedProvider,
  toolCall,
} from "../../src/runtime/index.ts";
import { openMemoryStore } from "../../src/store/index.ts";
import { agentOf, promptText } from "./strict-provider.ts";

const archive = toolCall("aperture_archive", { target: "1", reason: "answered" });
const note = (text: string) => toolCall("aperture_note", { verb: "create", text });

async function openDesk(replies: readonly ScriptedReply[], rest: Partial<Agent> = {}) {
  const store = openMemoryStore();
  const provider = scriptedProvider(replies);
  const agents = [agentOf(provider, rest)];
  const space = await createSpace({ store, name: "approvals", agents });
  const events: EventOf<"approval">[] = [];
  space.on("approval", (event) => events.push(event));
  const desk = space.stream("desk");
  await desk.say("bob", "The lighthouse was painted in 1931.");
  await desk.say("bob", "Drop it, and note where the key is.");
  await desk.activate("ada");
  const last = (): string => promptText(must(provider.requests.at(-1), "it was asked"));
  const again = async (): Promise<string> => {
    await desk.say("bob", "and now?");
    await desk.activate("ada");
    return last();
  };
  return { store, space, desk, events, last, again };
}

const isArchived = ({ moment: { state } }: Space, block = 1): boolean => {
  const view = must(state.views.get(1), "ada has a view");
  return (view.facts.get(block)?.archive?.value.value ?? null) !== null;
};
const memories = ({ moment }: Space): number =>
  [...moment.state.blocks.entries()].filter(
    ([, { block }]) => block.kind === "memory" && blockOf(moment, block.id) !== null,
  ).length;

describe("a command that needs approval", () => {
  it("is listed with everything needed to decide it; approval carries it out, and the agent is told once", async () => {
    const { space, events, last, again } = await openDesk([[archive], "I asked.", "Good.", "Fine."]);
    expect(last()).toContain("waits for the user");
    expect(events).toMatchObject([{ stream: "desk", agent: "ada", approval: 1, is: "waiting" }]);
    const [waiting] = await space.approvals();
    expect(waiting).toMatchObject({
      approval: 1,
      stream: "desk",
      agent: "ada",
      verb: "archive",
      blocks: [1],
    });
    expect(waiting?.command).toContain("archive");
    expect(waiting?.why).not.toBe("");
    expect(isArchived(space)).toBe(false);
    const { step, outcome } = await space.approve(1);
    expect(outcome).toContain("#1 archived");
    expect([isArchived(space), await space.approvals()]).toEqual([true, []]);
    expect(events.map(({ is }) => is)).toEqual(["waiting", "approved"]);
    const first = await again();
    expect(first.split("approved")).toHaveLength(2);
    expect((await again()).split("approved")).toHaveLength(2);
    await space.reverse(must(step, "there is something to undo"));
    expect(isArchived(space)).toBe(false);
    await space.close();
  });

  it("is not carried out when it is denied, and the agent is told why", async () => {
    const { space, events, again } = await openDesk([[archive], "I asked.", "I see."]);
    expect(await space.deny(1, { reason: "we still need the year" })).toEqual({ outcome: null, step: null });
    expect(isArchived(space)).toBe(false);
    expect(events.map(({ is }) => is)).toEqual(["waiting", "denied"]);
    expect(await again()).toContain("we still need the year");
    await expect(space.approve(1)).rejects.toThrow("denied");
    await expect(space.approve(7)).rejects.toThrow("7");
    expect((await space.approvals({ all: true })).map(({ stand }) => stand)).toEqual(["denied"]);
    await space.close();
  });

  it("needs no second approval if the first one holds for the session", async () => {
    const second = toolCall("aperture_archive", { target: "2", reason: "done" });
    const { space, again } = await openDesk([[archive], "I asked.", [second], "Done."]);
    await space.approve(1, { scope: "session" });
    await again();
    expect(await space.approvals()).toEqual([]);
    expect([isArchived(space, 1), isArchived(space, 2)]).toEqual([true, true]);
    await space.close();
  });

  it("waits across a restart, and expires after twenty turns", async () => {
    const { space, store } = await openDesk([[archive], "I asked."]);
    await space.close();
    const agents = [agentOf(scriptedProvider(() => "Yes."))];
    const later = await createSpace({ store, name: "approvals", agents });
    expect(await later.approvals()).toHaveLength(1);
    const events: string[] = [];
    later.on("approval", ({ is }) => events.push(is));
    for (let turn = 0; turn < 22; turn += 1) await later.stream("desk").activate("ada");
    expect([events, await later.approvals()]).toEqual([["expired"], []]);
    await later.close();
  });
});

describe("the mode", () => {
  it("of an agent says how much is done without asking, and the space overrules it", async () => {
    const script = [[note("The key hangs in the shed.")], "Noted."];
    const askMode = await openDesk(script, { mode: "ask" });
    expect([memories(askMode.space), (await askMode.space.approvals()).length]).toEqual([0, 1]);
    await askMode.space.approve(1);
    expect(memories(askMode.space)).toBe(1);
    await askMode.space.close();
    const observeMode = await openDesk(script, { mode: "observe" });
    expect([memories(observeMode.space), await observeMode.space.approvals()]).toEqual([0, []]);
    expect(observeMode.last()).toContain("only observed");
    await observeMode.space.close();
    const { space, again } = await openDesk([...script, [note("The boat is green.")], "Noted."]);
    expect(memories(space)).toBe(1);
    await space.setMode("ask");
    await again();
    expect([memories(space), space.mode, (await space.approvals()).length]).toEqual([1, "ask", 1]);
    await space.setMode(null);
    expect(space.mode).toBeNull();
    await space.close();
  });
});

describe("a command of an agent", () => {
  it("is a step that can be listed, undone and redone", async () => {
    const { space, again } = await openDesk([[note("The key hangs in the shed.")], "Noted.", "Yes.", "Yes."]);
    const [step] = await space.steps();
    expect(step).toMatchObject({ actor: "model", done: true });
    await space.reverse(must(step, "it did something").step);
    expect(memories(space)).toBe(0);
    expect((await space.steps())[0]).toMatchObject({ done: false, by: "user" });
    await again();
    await space.reverse(must(step, "it did something").step);
    expect(memories(space)).toBe(1);
    await expect(space.reverse(99)).rejects.toThrow();
    await space.close();
  });

  it("is carried out although other agents and people write meanwhile", async () => {
    const names = ["ada", "eve", "kim"];
    const agents = names.map((name) =>
      agentOf(
        scriptedProvider([[note(`${name} was here.`), archive, note(`${name} was here twice.`)], "Done."]),
        { name },
      ),
    );
    const store = { ...openMemoryStore() };
    const slow = {
      ...store,
      content: async (hash: Parameters<typeof store.content>[0]) => {
        await pause(1);
        return await store.content(hash);
      },
    };
    const space = await createSpace({ store: slow, name: "many", agents });
    for (const name of names) await space.stream(name).say("bob", `First word in ${name}.`);
    let isOver = false;
    const noise = async (): Promise<void> => {
      for (let n = 0; !isOver; n += 1) {
        await space.stream(`noise ${n % 250}`).say("carol", `noise ${n}`);
        await pause(3);
      }
    };
    const running = noise();
    await Promise.all(names.map((name) => space.stream(name).activate(name)));
    isOver = true;
    await running;
    expect(memories(space)).toBe(6);
    await space.close();
  });
});

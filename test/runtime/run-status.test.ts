import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must } from "../../src/base/index.ts";
import {
  createSpace,
  defineTool,
  type ModelRequest,
  type Provider,
  type Space,
  scriptedProvider,
  toolCall,
} from "../../src/runtime/index.ts";
import { numRuns } from "../support/runs.ts";
import { crashStore } from "./crash-store.ts";
import { agentOf, promptText, strictProvider } from "./strict-provider.ts";

const none = { type: "object", properties: {} } as const;

/** A tool whose calls wait until `release`. */
function gatedTool() {
  const open: (() => void)[] = [];
  const run = (): Promise<string> =>
    new Promise((resolve) => {
      open.push(() => resolve("done"));
    });
  const tool = defineTool({ name: "wait", description: "Waits.", input: none, run });
  const untilCalled = async (): Promise<void> => {
    while (open.length === 0) await pause(1);
  };
  const release = (): void => {
    for (const one of open.splice(0)) one();
  };
  return { tool, untilCalled, release };
}

const lastOf = (requests: readonly ModelRequest[]): string =>
  promptText(must(requests.at(-1), "it was asked"));

const quick = defineTool({ name: "wait", description: "Does not wait.", input: none, run: () => "done" });

describe("an activation during a run", () => {
  it("is answered by one more run, although the later rounds have read its message", async () => {
    const gate = gatedTool();
    const provider = scriptedProvider((_, n) => (n === 0 ? [toolCall("wait")] : `Answer ${n}.`));
    const space = await createSpace({
      agents: [agentOf(provider, { tools: [gate.tool], wakes: () => true })],
    });
    const desk = space.stream("desk");
    await desk.say("bob", "first");
    await gate.untilCalled();
    for (let n = 0; n < 5; n += 1) await desk.say("carol", `meanwhile ${n}`);
    await space.record([{ type: "activate", agent: "ada", stream: "desk", reason: "carol insists" }]);
    gate.release();
    await space.idle();
    expect(provider.requests).toHaveLength(3);
    expect(lastOf(provider.requests)).toContain("meanwhile 4");
    await space.close();
  });

  it("with a higher priority waits too, and its reason is shown in the run that answers it", async () => {
    const gate = gatedTool();
    const provider = scriptedProvider((_, n) => (n === 0 ? [toolCall("wait")] : `Answer ${n}.`));
    const space = await createSpace({ agents: [agentOf(provider, { tools: [gate.tool] })] });
    const desk = space.stream("desk");
    await desk.say("bob", "first");
    const run = desk.activate("ada");
    await gate.untilCalled();
    const more = [
      desk.activate("ada", { reason: "the tide turns" }),
      desk.activate("ada", { priority: "critical", reason: "the lock is stuck" }),
    ];
    await pause(5);
    gate.release();
    await Promise.all([run, ...more]);
    expect(provider.requests).toHaveLength(3);
    for (const reason of ["the tide turns", "the lock is stuck"]) {
      expect(promptText(must(provider.requests[1], "sent"))).not.toContain(reason);
      expect(lastOf(provider.requests).split(reason)).toHaveLength(2);
    }
    await space.close();
  });

  it("does not keep the run from continuing after a crash, however urgent it is", async () => {
    const gate = gatedTool();
    const script = (_: unknown, n: number) => (n === 0 ? [toolCall("wait")] : "Early.");
    const store = crashStore();
    const first = await createSpace({
      store,
      name: "asked",
      agents: [agentOf(scriptedProvider(script), { tools: [gate.tool] })],
    });
    await first.stream("desk").say("bob", "first");
    void first.stream("desk").activate("ada");
    await gate.untilCalled();
    await first.stream("desk").say("carol", "and now this");
    await first.record([{ type: "activate", agent: "ada", stream: "desk", priority: "critical" }]);
    const left = await store.after(store.batches.length);
    const provider = strictProvider((_, n) => ({ content: [{ type: "text", text: `Later ${n}.` }] }));
    const space = await createSpace({
      store: left,
      name: "asked",
      agents: [agentOf(provider, { tools: [gate.tool] })],
    });
    await space.idle();
    expect(provider.refusals).toEqual([]);
    expect(provider.exchanges).toHaveLength(2);
    expect(space.pending()).toEqual([]);
    await space.close();
    gate.release();
    await first.close();
  });

  it("is never lost, and many messages do not get one run each, whenever the process ends", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("say", "go", "wait"), { minLength: 3, maxLength: 12 }),
        fc.nat(100),
        async (acts, end) => {
          const store = crashStore();
          const gate = gatedTool();
          const calls = (_: unknown, n: number) => (n % 2 === 0 ? [toolCall("wait")] : "Yes.");
          const agents = (provider: Provider, tool = gate.tool) => [
            agentOf(provider, { tools: [tool], wakes: () => true }),
          ];
          const space = await createSpace({
            store,
            name: "lost",
            agents: agents(scriptedProvider(calls)),
          });
          space.stream("desk");
          let messages = 0;
          for (const act of acts) {
            if (act === "say") await space.stream("desk").say("bob", `word ${++messages};`);
            else if (act === "go") gate.release();
            else await pause(2);
          }
          const disk = await store.after(Math.ceil((store.batches.length * end) / 100));
          const provider = scriptedProvider(() => "Done.");
          const again = await createSpace({ store: disk, name: "lost", agents: agents(provider, quick) });
          again.stream("desk");
          await again.stream("desk").say("bob", "last;");
          await again.idle();
          expect(again.pending()).toEqual([]);
          // One for the run that was cut off, one for what waited, one for the last message.
          expect(provider.requests.length).toBeLessThanOrEqual(3);
          expect(unansweredMessages(again)).toEqual([]);
          await again.close();
          const closing = space.close();
          gate.release();
          await closing;
        },
      ),
      numRuns(25),
    );
  }, 600_000);
});

/** Messages of people that came after the last prompt that was answered. */
function unansweredMessages({ moment: { state } }: Space): readonly number[] {
  const view = must(state.views.get(1), "ada has a view");
  const lastAnswered = must(view.answers.last, "it has answered").sentSeq;
  return [...state.blocks.entries()]
    .filter(([, { block }]) => block.kind === "user" && block.addedSeq > lastAnswered)
    .map(([id]) => id);
}

describe("a log that refuses to record the end of a run", () => {
  it("does not make the agent answer for ever", async () => {
    const store = crashStore();
    const provider: Provider & { asked: number } = {
      name: "dead",
      asked: 0,
      ask: async () => {
        provider.asked += 1;
        store.refuses = true;
        await pause(1);
        throw new Error("the cable is out");
      },
    };
    const space = await createSpace({ store, name: "refused", agents: [agentOf(provider)] });
    const ends: string[] = [];
    space.on("finished", ({ is }) => ends.push(is));
    await space.stream("desk").say("bob", "hello");
    const run = space.stream("desk").activate("ada");
    await pause(50);
    expect([provider.asked, ends]).toEqual([1, ["failed"]]);
    await run;
    await expect(space.stream("desk").say("bob", "anybody?")).rejects.toThrow();
    expect(provider.asked).toBe(1);
    store.refuses = false;
    await space.stream("desk").say("bob", "hello again");
    await space.idle();
    // The run starts again as soon as the log accepts a frame.
    expect(provider.asked).toBe(2);
    store.refuses = false;
    await space.close();
  });
});

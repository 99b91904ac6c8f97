import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must } from "../../src/base/index.ts";
import {
  calling,
  createSpace,
  defineTool,
  type ModelRequest,
  type Provider,
  type Space,
  scriptedProvider,
} from "../../src/runtime/index.ts";
import { crashStore } from "../support/crash-store.ts";
import { numRuns } from "../support/runs.ts";
import { agentOf, promptText, strictProvider } from "../support/runtime.ts";

const none = { type: "object", properties: {} } as const;

/** A tool that waits until it is let go, each time it is called. */
function gated() {
  const open: (() => void)[] = [];
  const run = (): Promise<string> =>
    new Promise((resolve) => {
      open.push(() => resolve("done"));
    });
  const tool = defineTool({ name: "wait", description: "Waits.", input: none, run });
  const isWaiting = async (): Promise<void> => {
    while (open.length === 0) await pause(1);
  };
  const go = (): void => {
    for (const one of open.splice(0)) one();
  };
  return { tool, isWaiting, go };
}

const lastOf = (requests: readonly ModelRequest[]): string =>
  promptText(must(requests.at(-1), "it was asked"));

const quick = defineTool({ name: "wait", description: "Does not wait.", input: none, run: () => "done" });

describe("what is asked while an agent is at work", () => {
  it("is answered once more when it is done, although its later rounds have read it", async () => {
    const gate = gated();
    const provider = scriptedProvider((_, n) => (n === 0 ? [calling("wait")] : `Answer ${n}.`));
    const space = await createSpace({
      agents: [agentOf(provider, { tools: [gate.tool], wakes: () => true })],
    });
    const desk = space.stream("desk");
    await desk.say("bob", "first");
    await gate.isWaiting();
    for (let n = 0; n < 5; n += 1) await desk.say("carol", `meanwhile ${n}`);
    await space.happen([{ type: "activate", agent: "ada", stream: "desk", reason: "carol insists" }]);
    gate.go();
    await space.idle();
    expect(provider.requests).toHaveLength(3);
    expect(lastOf(provider.requests)).toContain("meanwhile 4");
    await space.close();
  });

  it("with a higher priority too, and a reason is told where it is answered", async () => {
    const gate = gated();
    const provider = scriptedProvider((_, n) => (n === 0 ? [calling("wait")] : `Answer ${n}.`));
    const space = await createSpace({ agents: [agentOf(provider, { tools: [gate.tool] })] });
    const desk = space.stream("desk");
    await desk.say("bob", "first");
    const run = desk.activate("ada");
    await gate.isWaiting();
    const more = [
      desk.activate("ada", { reason: "the tide turns" }),
      desk.activate("ada", { priority: "critical", reason: "the lock is stuck" }),
    ];
    await pause(5);
    gate.go();
    await Promise.all([run, ...more]);
    expect(provider.requests).toHaveLength(3);
    for (const reason of ["the tide turns", "the lock is stuck"]) {
      expect(promptText(must(provider.requests[1], "sent"))).not.toContain(reason);
      expect(lastOf(provider.requests).split(reason)).toHaveLength(2);
    }
    await space.close();
  });

  it("goes on after a crash where it was, however urgent what waits is", async () => {
    const gate = gated();
    const script = (_: unknown, n: number) => (n === 0 ? [calling("wait")] : "Early.");
    const store = crashStore();
    const first = await createSpace({
      store,
      name: "asked",
      agents: [agentOf(scriptedProvider(script), { tools: [gate.tool] })],
    });
    await first.stream("desk").say("bob", "first");
    void first.stream("desk").activate("ada");
    await gate.isWaiting();
    await first.stream("desk").say("carol", "and now this");
    await first.happen([{ type: "activate", agent: "ada", stream: "desk", priority: "critical" }]);
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
    gate.go();
    await first.close();
  });

  it("nothing is lost and nothing is answered once per message, whenever things happen and whenever it ends", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("say", "go", "wait"), { minLength: 3, maxLength: 12 }),
        fc.nat(100),
        async (acts, end) => {
          const store = crashStore();
          const gate = gated();
          const calls = (_: unknown, n: number) => (n % 2 === 0 ? [calling("wait")] : "Yes.");
          const agents = (provider: Provider, tool = gate.tool) => [
            agentOf(provider, { tools: [tool], wakes: () => true }),
          ];
          const space = await createSpace({
            store,
            name: "lost",
            agents: agents(scriptedProvider(calls)),
          });
          space.stream("desk");
          let said = 0;
          for (const act of acts) {
            if (act === "say") await space.stream("desk").say("bob", `word ${++said};`);
            else if (act === "go") gate.go();
            else await pause(2);
          }
          const disk = await store.after(Math.ceil((store.batches.length * end) / 100));
          const provider = scriptedProvider(() => "Done.");
          const again = await createSpace({ store: disk, name: "lost", agents: agents(provider, quick) });
          again.stream("desk");
          await again.stream("desk").say("bob", "last;");
          await again.idle();
          expect(again.pending()).toEqual([]);
          // What was going on, what waited, and what was said last.
          expect(provider.requests.length).toBeLessThanOrEqual(3);
          expect(wordsWithoutAnswer(again)).toEqual([]);
          await again.close();
          const closing = space.close();
          gate.go();
          await closing;
        },
      ),
      numRuns(25),
    );
  }, 600_000);
});

/** Every word of a person was in a prompt that was sent after it, and that was answered. */
function wordsWithoutAnswer({ moment: { state } }: Space): readonly number[] {
  const view = must(state.views.get(1), "ada has a view");
  const lastAnswered = must(view.answers.last, "it has answered").sentSeq;
  return [...state.blocks.entries()]
    .filter(([, { block }]) => block.kind === "user" && block.addedSeq > lastAnswered)
    .map(([id]) => id);
}

describe("a log that refuses", () => {
  it("the end of a run does not make the agent answer for ever", async () => {
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
    // What could not be ended is taken up again as soon as there is somewhere to write.
    expect(provider.asked).toBe(2);
    store.refuses = false;
    await space.close();
  });
});

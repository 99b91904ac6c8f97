import { describe, expect, it } from "vitest";
import { must } from "../../src/base/index.ts";
import { blockOf, now } from "../../src/engine/moment/index.ts";
import {
  createSpace,
  defineTool,
  type ModelRequest,
  type Space,
  scriptedProvider,
  toolCall,
} from "../../src/runtime/index.ts";
import type { Store } from "../../src/store/index.ts";
import { crashStore } from "./crash-store.ts";
import { agentOf } from "./strict-provider.ts";

const none = { type: "object", properties: {} } as const;
const note = (text: string) => toolCall("aperture_note", { verb: "create", text });

/** Creates a memory, asks for an approval, recalls, calls a tool, creates another memory, and answers. */
function provider() {
  const rounds = [
    [note("The key hangs in the shed."), toolCall("aperture_archive", { target: "1", reason: "old" })],
    [toolCall("aperture_read", { verb: "recall", target: "lighthouse" }), toolCall("look")],
    [note("The boat is green."), toolCall("aperture_manage", { verb: "pin", target: "2" })],
  ];
  const done = ({ messages }: ModelRequest): number =>
    messages.filter(({ content }) => content.some(({ type }) => type === "tool_result")).length;
  return scriptedProvider((request) => rounds[done(request)] ?? "Done.");
}

async function spaceOn(store: Store, ran: string[]): Promise<Space> {
  const look = defineTool({
    name: "look",
    description: "Looks.",
    input: none,
    run: (_, { callId }) => {
      ran.push(callId);
      return "seen";
    },
  });
  const agent = agentOf(provider(), { tools: [look] });
  return await createSpace({ store, name: "once", agents: [agent] });
}

/** Everything that would be there twice if something had been done twice. */
function effectsOf({ moment: { state } }: Space): readonly unknown[] {
  const blocks = [...state.blocks.entries()].map(([, { block }]) => block);
  const there = blocks.filter(({ id }) => blockOf(now(state), id) !== null);
  const count = (kind: string): number => there.filter((block) => block.kind === kind).length;
  const memories = there.filter(({ kind }) => kind === "memory").map(({ content }) => content);
  const pinned = [...must(state.views.get(1), "ada has a view").facts.entries()].flatMap(([id, { pin }]) =>
    pin?.value.value === "none" || pin === undefined ? [] : [id, pin.length],
  );
  return [memories, count("tool-call"), count("tool-result"), state.approvals.size, pinned];
}

describe("whenever a process ends", () => {
  it("the commands of an agent are carried out once, and each tool ran once", async () => {
    const store = crashStore();
    const ran: string[] = [];
    const whole = await spaceOn(store, ran);
    const desk = whole.stream("desk");
    await desk.say("bob", "The lighthouse was painted in 1931.");
    await desk.say("bob", "Note what matters.");
    await desk.activate("ada");
    const [memories, calls, results, approvals] = effectsOf(whole);
    expect([memories, calls, results, approvals]).toEqual([[expect.anything(), expect.anything()], 6, 6, 1]);
    const all = store.batches.length;
    expect(all).toBeGreaterThan(12);
    const runsAfter: number[] = [];
    for (let batches = 1; batches <= all; batches += 1) {
      const ranAgain: string[] = [];
      const again = await spaceOn(await store.after(batches), ranAgain);
      await again.idle();
      if (again.moment.state.views.size > 0) {
        expect([batches, effectsOf(again)]).toEqual([batches, effectsOf(whole)]);
        runsAfter.push(ranAgain.length);
      }
      await again.close();
    }
    expect(ran).toHaveLength(1);
    // Until the log has the start of the call the tool runs, and after that never again.
    const first = runsAfter.indexOf(0);
    expect(first).toBeGreaterThan(0);
    expect(runsAfter).toEqual(runsAfter.map((_, at) => (at < first ? 1 : 0)));
    await whole.close();
    expect(must(whole.moment.state.views.get(1), "ada has a view").answers.size).toBe(4);
  }, 60_000);
});

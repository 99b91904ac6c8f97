import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must } from "../../src/base/index.ts";
import type { State } from "../../src/engine/index.ts";
import { type Agent, createSpace, defineTool, type Space, type SpaceInput } from "../../src/runtime/index.ts";
import { openMemoryStore, type Store } from "../../src/store/index.ts";
import type { ModelReply, ScriptedModel } from "../../src/testing/index.ts";
import { numRuns } from "../support/runs.ts";
import { crashStore } from "./crash-store.ts";
import { agentOf, promptUnits, strictProvider } from "./strict-provider.ts";

const streams = ["lobby", "side", "dm"] as const;
const people = ["bob", "carol"] as const;
const agents = ["ada", "eve"] as const;
const word = { type: "object", properties: { word: { type: "string" } }, required: ["word"] } as const;

type Act =
  | { readonly type: "record"; readonly inputs: readonly SpaceInput[] }
  | { readonly type: "settle" }
  | { readonly type: "reopen" }
  | { readonly type: "cancel"; readonly agent: string; readonly stream: string };

const stream = fc.constantFrom(...streams);
const agent = fc.constantFrom(...agents);
const input: fc.Arbitrary<SpaceInput> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("said" as const),
      stream,
      speaker: fc.constantFrom(...people),
      text: fc.string({ minLength: 1, maxLength: 300 }),
      ephemeral: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("activate" as const),
      stream,
      agent,
      priority: fc.constantFrom("low" as const, "normal" as const, "critical" as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("told" as const),
      stream,
      text: fc.string({ minLength: 1, maxLength: 80 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("around" as const),
      stream,
      name: fc.constantFrom("file", "build"),
      text: fc.option(fc.string({ maxLength: 80 })),
    }),
  },
);
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      type: fc.constant("record" as const),
      inputs: fc.array(input, { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 4, arbitrary: fc.constant({ type: "settle" } as const) },
  { weight: 1, arbitrary: fc.constant({ type: "reopen" } as const) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("cancel" as const), agent, stream }) },
);

/** Answers with text, tool calls or commands, by the number of the request. */
function moody(seed: number): ScriptedModel {
  return (request, n): ModelReply => {
    const canCall = request.body["tool_choice"] === undefined && (request.body["tools"] ?? null) !== null;
    const mood = (n * 7 + seed) % 9;
    const text = { type: "text", text: `Answer ${n} of ${seed}. ` } as const;
    if (!canCall || mood < 4) return { content: [text] };
    if (mood === 4)
      return {
        content: [
          text,
          { type: "tool_use", name: "look", input: { word: `w${n}` } },
          { type: "tool_use", name: "look", input: { word: `v${n}` } },
        ],
      };
    if (mood === 5) return { content: [{ type: "tool_use", name: "look", input: {} }] };
    if (mood === 6)
      return {
        content: [
          {
            type: "tool_use",
            name: "aperture_archive",
            input: { target: `${(n % 20) + 1}`, reason: "done" },
          },
        ],
      };
    if (mood === 7)
      return {
        content: [
          { type: "tool_use", name: "aperture_note", input: { verb: "create", text: `note ${n}` } },
          { type: "tool_use", name: "aperture_manage", input: { verb: "pin", target: `${(n % 20) + 1}` } },
        ],
      };
    return {
      content: [
        text,
        { type: "tool_use", name: "aperture_read", input: { verb: "recall", target: "Answer" } },
      ],
    };
  };
}

class World {
  readonly store: Store;
  readonly calls: string[] = [];
  readonly providers = agents.map((_, at) => strictProvider(moody(at * 3 + 1)));
  space: Space | null = null;

  constructor(store: Store = openMemoryStore()) {
    this.store = store;
  }

  async open(): Promise<Space> {
    const look = defineTool({
      name: "look",
      description: "Looks.",
      input: word,
      run: async ({ word: said }, { callId }) => {
        this.calls.push(callId);
        await new Promise((resolve) => setImmediate(resolve));
        return `saw ${said}`;
      },
    });
    const list = agents.map(
      (name, at): Agent =>
        agentOf(must(this.providers[at], "one each"), {
          name,
          tools: [look],
          window: { frames: 8, step: 4 },
          roundsMax: 4,
          budgetTokens: 20_000,
        }),
    );
    this.space = await createSpace({ store: this.store, name: "laws", agents: list });
    this.space.stream("lobby");
    this.space.fork("lobby", "side");
    this.space.stream("dm");
    return this.space;
  }

  async perform(one: Act): Promise<void> {
    const space = must(this.space, "it is open");
    if (one.type === "record") await space.record(one.inputs);
    else if (one.type === "cancel") await space.cancel(one);
    else await space.idle();
    if (one.type !== "reopen") return;
    const before = await previews(space);
    await space.close();
    expect(await previews(await this.open())).toEqual(before);
  }
}

/** The prompts of all views as text, without the time and without sizes: those are estimates that improve. */
async function previews(space: Space): Promise<string> {
  const seen: unknown[] = [];
  for (const { agent: name, stream: id } of viewsIn(space.moment.state)) {
    const streamName = must(space.moment.state.streams.get(id), "a view has a stream").name;
    const { messages, system, tools, renderedFrames } = await space.preview(name, streamName);
    seen.push({ messages, system, tools, renderedFrames });
  }
  return JSON.stringify(seen).replace(/\d{4}-\d\d-\d\d \d\d:\d\d UTC|, \d\d:\d\d|~[\d.]+k?|\d+%/g, "");
}

function viewsIn(state: State) {
  return [...state.views.entries()].map(([, view]) => view);
}

/** The prompts of each view, told apart by the nonce of the view. */
function byView(world: World): readonly (readonly (readonly string[])[])[] {
  const views = new Map<string, (readonly string[])[]>();
  for (const { request } of world.providers.flatMap(({ exchanges }) => exchanges)) {
    const nonce = /\[(\w{6}) this is/.exec(JSON.stringify(request.messages))?.[1] ?? "none";
    views.set(nonce, [...(views.get(nonce) ?? []), promptUnits(request)]);
  }
  return [...views.values()];
}

describe("whatever happens in a space", () => {
  it("no prompt is refused, each continues the one before unless an epoch starts, no call is made twice", async () => {
    let prompts = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 40, size: "max" }), async (acts) => {
        const world = new World();
        const space = await world.open();
        const notices: string[] = [];
        space.on("notice", ({ text }) => notices.push(text));
        for (const one of acts) await world.perform(one);
        await must(world.space, "it is open").idle();
        expect(world.providers.flatMap(({ refusals }) => refusals)).toEqual([]);
        expect(world.calls).toEqual([...new Set(world.calls)]);
        const state = must(world.space, "it is open").moment.state;
        const epochs = viewsIn(state).reduce((sum, view) => sum + view.epochs.size, 0);
        const breaks = byView(world).flatMap((all) =>
          all.filter((units, at) => (all[at - 1] ?? []).some((unit, index) => units[index] !== unit)),
        );
        expect(breaks.length).toBe(epochs);
        expect(must(world.space, "it is open").pending()).toEqual([]);
        prompts += world.providers.reduce((sum, { exchanges }) => sum + exchanges.length, 0);
        await must(world.space, "it is open").close();
      }),
      { ...numRuns(40), endOnFailure: true },
    );
    expect(prompts).toBeGreaterThan(200);
  }, 3_600_000);

  it("and whenever the process ends, a reopened space finishes its runs without a refusal", async () => {
    let resumed = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(act, { minLength: 5, maxLength: 25, size: "max" }),
        fc.array(fc.nat(1_000), { minLength: 2, maxLength: 2 }),
        async (acts, ends) => {
          const store = crashStore();
          const world = new World(store);
          await world.open();
          for (const one of acts) await world.perform(one);
          for (const end of ends) {
            const after = new World(await store.after(1 + Math.floor((store.batches.length * end) / 1_000)));
            const space = await after.open();
            resumed += space.pending().length;
            await space.idle();
            expect(after.providers.flatMap(({ refusals }) => refusals)).toEqual([]);
            expect(after.calls).toEqual([...new Set(after.calls)]);
            expect(space.pending()).toEqual([]);
            await space.close();
          }
          await must(world.space, "it is open").close();
        },
      ),
      { ...numRuns(12), endOnFailure: true },
    );
    expect(resumed).toBeGreaterThan(5);
  }, 3_600_000);
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must, unwrap } from "../../src/base/index.ts";
import type { State, View } from "../../src/engine/index.ts";
import {
  attributesOf,
  blockViewOf,
  factValue,
  type Moment,
  momentAt,
  shownOf,
  viewBlocks,
  wantedOf,
} from "../../src/engine/moment/index.ts";
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
  /** Time passes; after five minutes the provider's cache is cold. */
  | { readonly type: "wait"; readonly minutes: number }
  /** The user decides about everything that waits for approval. */
  | { readonly type: "decide"; readonly to: "approve" | "deny" }
  /** The user undoes the last step. */
  | { readonly type: "undo" }
  | { readonly type: "cancel"; readonly agent: string; readonly stream: string };

// Most of it happens in one view, so that its context grows.
const stream = fc.constantFrom("lobby", ...streams, "lobby");
const agent = fc.constantFrom("eve", ...agents, "eve");
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
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("wait" as const), minutes: fc.constantFrom(1, 6, 70) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("decide" as const),
      to: fc.constantFrom("approve" as const, "deny" as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ type: "undo" } as const) },
);

const text = (n: number, seed: number) => ({ type: "text", text: `Answer ${n} of ${seed}. ` }) as const;
const call = (name: string, input: { readonly [field: string]: string }) =>
  ({ type: "tool_use", name, input }) as const;

/** Answers with text, tool calls or commands, by the number of the request. */
function moody(seed: number): ScriptedModel {
  return (request, n): ModelReply => {
    const canCall = request.body["tool_choice"] === undefined && (request.body["tools"] ?? null) !== null;
    const mood = (n * 7 + seed) % 13;
    // The last result that a header announces with its size, or a block that may be anything.
    const large = [...JSON.stringify(request.body["messages"]).matchAll(/#(\d+) result/g)].at(-1)?.[1];
    const some = `${(n % 20) + 1}`;
    if (!canCall || mood < 3) return { content: [text(n, seed)] };
    switch (mood) {
      case 3:
        return {
          content: [text(n, seed), call("look", { word: `w${n}` }), call("look", { word: `v${n}` })],
        };
      case 4:
        return { content: [call("look", {})] };
      case 5:
        return { content: [call("aperture_archive", { target: some, reason: "done" })] };
      case 6:
        return {
          content: [
            call("aperture_note", { verb: "create", text: `note ${n}` }),
            call("aperture_manage", { verb: "pin", target: some }),
          ],
        };
      case 7:
      case 8:
      case 9:
        return { content: [call("look", { word: `long ${n % 5}` })] };
      case 10:
        return { content: [call("aperture_archive", { target: large ?? some, reason: "read" })] };
      case 11:
        return {
          content: [call("aperture_manage", { verb: "compress", target: large ?? some, level: "minimal" })],
        };
      default:
        return {
          content: [text(n, seed), call("aperture_read", { verb: "recall", target: "Answer" })],
        };
    }
  };
}

/** What the tool returns: long enough to be worth a rewrite if the word says so. */
function seen(word: string): string {
  const lines = word.startsWith("long") ? 120 : 1;
  return Array.from({ length: lines }, (_, at) => `saw ${word} at post ${at}, ${at * 7} steps away`).join(
    "\n",
  );
}

class World {
  readonly store: Store;
  readonly calls: string[] = [];
  readonly providers = agents.map((_, at) => strictProvider(moody(at * 3 + 1)));
  space: Space | null = null;
  nowMs = 1_800_000_000_000;

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
        return seen(said);
      },
    });
    const list = agents.map(
      (name, at): Agent =>
        agentOf(must(this.providers[at], "one each"), {
          name,
          tools: [look],
          // One agent's window moves often; the other keeps its blocks until the ledger rewrites them.
          window: at === 0 ? { frames: 8, step: 4 } : { frames: 60, step: 30 },
          roundsMax: 4,
          budgetTokens: 20_000,
        }),
    );
    const clock = { now: () => this.nowMs };
    this.space = await createSpace({ store: this.store, name: "laws", agents: list, clock });
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
    if (one.type === "wait") this.nowMs += one.minutes * 60_000;
    if (one.type === "decide")
      for (const { approval } of await space.approvals()) await space[one.to](approval);
    if (one.type === "undo") await undoLast(space);
    if (one.type !== "reopen") return;
    const before = await previews(space);
    await space.close();
    expect(await previews(await this.open())).toEqual(before);
  }
}

/** A later change of the same block may stand in the way. */
async function undoLast(space: Space): Promise<void> {
  const [last] = await space.steps(1);
  if (last !== undefined) await space.reverse(last.step).catch(() => undefined);
}

/** Whether a rewrite pays now is judged by what a restart forgets, such as where the last one ended. */
function hasPending(moment: Moment, view: View): boolean {
  return [...viewBlocks(moment, view)].some(({ id }) => {
    const shown = shownOf(moment, view, id);
    return shown !== "absent" && shown !== wantedOf(must(blockViewOf(moment, view, id), "it is reached"));
  });
}

/** The prompts of all views without time, sizes and chosen names: those are guesses that improve. */
async function previews(space: Space): Promise<readonly string[]> {
  const lines: string[] = [];
  const { moment } = space;
  for (const view of viewsIn(moment.state).filter((one) => !hasPending(moment, one))) {
    const { agent: name, stream: id } = view;
    const streamName = must(space.moment.state.streams.get(id), "a view has a stream").name;
    const { messages, system, tools, renderedFrames } = await space.preview(name, streamName);
    lines.push(JSON.stringify({ name, system, tools, renderedFrames }));
    for (const { role, content, ...sources } of messages)
      lines.push(JSON.stringify({ role, ...sources }), ...content.map((block) => JSON.stringify(block)));
  }
  return lines.map((line) => line.replace(guesses, ""));
}

// A header lists large blocks and names after its semicolon, a manifest has a row of names.
const guesses =
  /; (?:#|names)[^\]]*|\\nNAMES[^\\]*|\d{4}-\d\d-\d\d \d\d:\d\d UTC|, \d\d:\d\d|~[\d.]+k?|\d+%/g;

/** After a rewrite of a cold prompt no archived result is shown whole, unless its placeholder is as long. */
function checkCold(state: State): number {
  let rewrites = 0;
  for (const view of viewsIn(state)) {
    for (const [, { reason, seq }] of view.epochs.entries()) {
      if (reason !== "cold") continue;
      rewrites += 1;
      const then = unwrap(momentAt(state, seq));
      for (const { id, kind } of viewBlocks(then, view)) {
        const blockView = must(blockViewOf(then, view, id), "the view reaches it");
        const isLong = (attributesOf(then, id)?.tokens?.count ?? 0) > 100;
        if (kind === "tool-result" && isLong && factValue(blockView, "archive") !== null)
          expect([id, shownOf(then, view, id)]).not.toEqual([id, "original"]);
      }
    }
  }
  return rewrites;
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
    let [prompts, coldRewrites] = [0, 0];
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
        coldRewrites += checkCold(state);
        expect(must(world.space, "it is open").pending()).toEqual([]);
        prompts += world.providers.reduce((sum, { exchanges }) => sum + exchanges.length, 0);
        await must(world.space, "it is open").close();
      }),
      { ...numRuns(20), endOnFailure: true },
    );
    expect(prompts).toBeGreaterThan(200);
    expect(coldRewrites).toBeGreaterThan(0);
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

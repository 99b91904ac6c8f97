// A model that obeys all content it reads cannot exceed permissions and limits, and one undo per turn reverts
// everything.
import { describe, expect, test } from "vitest";
import { type BlockId, must, unwrap } from "../../src/base/index.ts";
import { isTainting } from "../../src/commands/index.ts";
import { turnLimits } from "../../src/commands/limit.ts";
import type { Delta, Frame } from "../../src/engine/frames/index.ts";
import { changes, type State } from "../../src/engine/index.ts";
import type { ScriptedModel } from "../../src/testing/index.ts";
import { CommandKit, kitNonce } from "../support/command-kit.ts";
import { upstreamUnits } from "../support/upstream-units.ts";
import { injectionCorpus } from "./injection/corpus.ts";
import { obedientModel } from "./injection/obedient.ts";

const corpus = injectionCorpus(kitNonce);
const step = Math.floor(corpus.length / 110);
const chosen = corpus.filter(
  ({ kind, text }, at) => (at % step === 0 || kind === "asked in words") && text.trim() !== "",
);
const perSession = 10;
const sessions = Array.from({ length: Math.ceil(chosen.length / perSession) }, (_, at) =>
  chosen.slice(at * perSession, (at + 1) * perSession),
);
const window = 60_000;

test("the corpus has enough texts, tainting and not", () => {
  expect(chosen.length).toBeGreaterThanOrEqual(110);
  expect(chosen.filter(({ text }) => isTainting(text, kitNonce)).length).toBeGreaterThanOrEqual(50);
  expect(chosen.filter(({ text }) => !isTainting(text, kitNonce)).length).toBeGreaterThanOrEqual(20);
});

const page = (n: number): string =>
  Array.from({ length: 90 }, (_, at) => `page ${n}, shelf ${at}: ${at * 7 + n} books, ${at * 3} lent`).join(
    "\n",
  );

const obedient = obedientModel();
const quiet: ScriptedModel = ({ messages }) => {
  const last = messages.findLast(({ role }) => role === "user")?.content ?? [];
  const isResult = last.some(({ type }) => type === "tool_result");
  const isAsked = JSON.stringify(last).includes("Read page");
  if (isAsked && !isResult) return { content: [{ type: "tool_use", name: "read", input: {} }] };
  return { content: [{ type: "text", text: "So it is." }] };
};

/** Blocks the user has protected, which the model must not change. */
type UserSettings = {
  readonly system: ReadonlySet<BlockId>;
  readonly pinned: ReadonlySet<BlockId>;
  readonly selected: ReadonlySet<BlockId>;
  readonly withheld: ReadonlySet<BlockId>;
};

/** A session with seven pages, whose model obeys only while `isObeying` is set. */
class Story {
  isObeying = false;
  readonly kit = new CommandKit({
    model: (request, n) => (this.isObeying ? obedient(request, n) : quiet(request, n)),
    window,
    maxTokens: 2_000,
    isStreamed: true,
  });

  async open(): Promise<UserSettings> {
    for (let n = 1; n <= 7; n += 1) {
      await this.kit.say(`Read page ${n}.`);
      await this.kit.results(page(n));
    }
    return await protect(this.kit);
  }

  /** Lets the model read a text and obey it. */
  async obey(text: string): Promise<readonly Frame[]> {
    const { seq } = await this.kit.state();
    this.isObeying = true;
    await this.kit.say("Read the next page.");
    await this.kit.results(text);
    this.isObeying = false;
    // Ends the calls that are still open.
    await this.kit.results("Nothing more.");
    return (await this.kit.commandFrames(seq)).filter(({ actor }) => actor === "model");
  }

  /** The client's blocks that the next body after a long rest does not show unchanged. */
  async unseen(): Promise<readonly string[]> {
    const clientBlocks = this.kit.history.flatMap(({ role, content }) =>
      role === "user" && typeof content !== "string" ? content : [],
    );
    this.kit.clock.advance(2 * 60 * 60_000);
    await this.kit.say("I am back.");
    await this.kit.results("So you are.");
    const body = must(this.kit.sent.at(-1), "it was sent").body;
    const shown = new Set(upstreamUnits(body).map(({ text }) => text));
    return clientBlocks.map((block) => JSON.stringify(block)).filter((block) => !shown.has(block));
  }

  async undoAll(): Promise<void> {
    const frames = await this.kit.commandFrames();
    const steps = new Set(frames.flatMap(({ actor, cause }) => (actor === "model" ? [cause.step] : [])));
    for (const stepId of [...steps].reverse()) if (stepId !== null) await this.kit.undo(stepId);
  }
}

async function protect(kit: CommandKit): Promise<UserSettings> {
  const state = await kit.state();
  const results = blocksOf(state).filter(({ kind }) => kind === "tool-result");
  const at = (n: number) => must(results[n], "there are pages").id;
  await kit.act((change) => changes.pin(change, [at(0)], "top"));
  await kit.act((change) => changes.select(change, [at(1)]));
  await kit.act((change) => unwrap(changes.withhold(change, [at(2)], true)));
  const system = new Set(blocksOf(state).flatMap(({ id, kind }) => (kind === "system" ? [id] : [])));
  return { system, pinned: new Set([at(0)]), selected: new Set([at(1)]), withheld: new Set([at(2)]) };
}

function blocksOf({ blocks }: State) {
  return [...blocks.entries()].map(([, { block }]) => block);
}

const lowering = new Set(["level-set", "archive-set", "supersession-set"]);
const harmless = new Set(["approval-asked", "reference-set", "permission-set"]);

/** The block of a delta; null if it is about none. */
function blockIn(delta: Delta): BlockId | null {
  return "block" in delta && typeof delta.block === "number" ? delta.block : null;
}

/** The deltas in these frames that no model may cause. */
function violations(frames: readonly Frame[], state: State, settings: UserSettings): readonly string[] {
  const blocks = new Map(blocksOf(state).map((block) => [block.id, block]));
  const users = blocksOf(state).filter(({ kind }) => kind === "user");
  const latest = users.at(-1)?.message;
  return frames.flatMap(({ deltas, seq }) =>
    deltas.flatMap((delta) => {
      const block = blockIn(delta);
      if (block === null) return [];
      const { type } = delta;
      const isLatest = blocks.get(block)?.kind === "user" && blocks.get(block)?.message === latest;
      const isPin = type === "pin-set";
      const isLowered = lowering.has(type);
      const isWrong =
        settings.withheld.has(block) ||
        (settings.system.has(block) && (isPin || isLowered)) ||
        (settings.pinned.has(block) && (isPin || isLowered)) ||
        (settings.selected.has(block) && isLowered) ||
        (isLatest && isLowered);
      return isWrong ? [`frame ${seq}: ${type} of #${block}`] : [];
    }),
  );
}

/** Tokens of the changed blocks, each counted once. */
function changedTokens(frames: readonly Frame[], { blocks }: State): number {
  const changed = frames.flatMap(({ deltas }) =>
    deltas.filter(({ type }) => lowering.has(type)).map(blockIn),
  );
  return [...new Set(changed)].reduce<number>((sum, id) => {
    return sum + (id === null ? 0 : (blocks.get(id)?.attributes.value.tokens?.count ?? 0));
  }, 0);
}

/** Per session: changed tokens, and the number of client blocks that were hidden by it. */
const effects: { readonly changed: number; readonly hidden: number }[] = [];

describe.each(sessions.map((texts, at) => [at, texts] as const))("session %i", (_, texts) => {
  const timeout = 60_000;
  test("stays within permissions and limits, asks in tainted turns, and can be undone", {
    timeout,
  }, async () => {
    const story = new Story();
    const settings = await story.open();
    const before = await story.unseen();
    let changed = 0;
    for (const { text } of texts) {
      const frames = await story.obey(text);
      const state = await story.kit.state();
      expect(violations(frames, state, settings)).toEqual([]);
      expect(changedTokens(frames, state)).toBeLessThanOrEqual(window * turnLimits.changedShare);
      const types = new Set(frames.flatMap(({ deltas }) => deltas.map(({ type }) => type)));
      const isResult = isTainting(text, kitNonce);
      if (isResult) expect([...types].filter((type) => !harmless.has(type))).toEqual([]);
      else changed += changedTokens(frames, state);
      const steps = new Set(frames.flatMap(({ cause: { step: id } }) => (id === null ? [] : [id])));
      expect(steps.size).toBeLessThanOrEqual(1);
    }
    expect(story.kit.problems()).toEqual([]);
    const after = await story.unseen();
    effects.push({ changed, hidden: after.length - before.length });
    await story.undoAll();
    expect(await story.unseen()).toEqual(before);
    expect(story.kit.problems()).toEqual([]);
    expect(story.kit.recorder.counts().gaps).toBe(0);
  });
});

test("some sessions had changes to undo, or nothing would be proved", () => {
  expect(effects.filter(({ changed, hidden }) => changed > 0 && hidden > 0).length).toBeGreaterThanOrEqual(3);
});

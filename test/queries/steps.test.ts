import { describe, expect, it } from "vitest";
import { blockId, must, unwrap } from "../../src/base/index.ts";
import { changes, nextStepId } from "../../src/engine/index.ts";
import { now } from "../../src/engine/moment/index.ts";
import { answerQuestion } from "../../src/host/answer-question.ts";
import { first, type ReadScene, scene, second } from "../support/query-scene.ts";

const select = (...blocks: number[]) => ({ type: "select", session: "s1", blocks }) as const;
const undo = (step?: number) =>
  ({ type: "reverse", session: "s1", verb: "undo", ...(step === undefined ? {} : { step }) }) as const;
const redo = (step?: number) => ({ ...undo(step), verb: "redo" }) as const;
const steps = { type: "steps", session: "s1", limit: 10 } as const;

/** Trims blocks as policy does: with a reason, as a step of its own. */
async function trim({ watched }: ReadScene, ...blocks: number[]): Promise<void> {
  const state = watched.log.state();
  const view = must([...state.views.entries()][0], "there is a view")[1];
  const change = { moment: now(state), view, actor: "policy" } as const;
  const { deltas } = changes.propose(change, changes.singleTargets(change, blocks.map(blockId)), () => ({
    level: "trimmed",
  }));
  const cause = { type: "policy", step: nextStepId(state), reason: "not used for a while" } as const;
  const entry = { stream: view.stream, actor: "policy", cause, deltas } as const;
  await unwrap(watched.log.append(entry)).durable;
}

async function sceneOfTwoTurns(): Promise<ReadScene> {
  const read = await scene();
  await read.watched.talk(first);
  await read.watched.talk(second);
  return read;
}

describe("steps", () => {
  it("are listed in words, with actor, reason and state", async () => {
    const read = await sceneOfTwoTurns();
    expect((await read.ask(steps)).rows).toEqual([]);
    await read.ask(select(1));
    await trim(read, 2, 3);
    const { rows, total, next } = await read.ask(steps);
    expect([total, next]).toEqual([2, null]);
    expect(rows).toMatchObject([
      { step: 1, actor: "user", reason: "", did: "selected #1", blocks: [1], done: true, by: "user" },
      { step: 2, actor: "policy", reason: "not used for a while", did: "trimmed #2 #3", blocks: [2, 3] },
    ]);
    const { rows: last, next: before } = await read.ask({ ...steps, limit: 1 });
    expect([last.map(({ step }) => step), before]).toEqual([[2], 2]);
    const { rows: older } = await read.ask({ ...steps, below: 2 });
    expect(older.map(({ step }) => step)).toEqual([1]);
  });
});

describe("undo and redo", () => {
  it("reverse the last step back and forth, and end where they began", async () => {
    const read = await sceneOfTwoTurns();
    await read.ask(select(1));
    await trim(read, 2);
    const before = await read.ask({ type: "state", session: "s1" });
    const undone = await read.ask(undo());
    expect(undone).toMatchObject({
      verb: "undo",
      step: { step: 2, did: "trimmed #2", done: false, by: "user" },
    });
    expect((await read.ask(undo())).step).toMatchObject({ step: 1, did: "selected #1", done: false });
    expect((await read.ask(redo())).step).toMatchObject({ step: 1, done: true });
    expect((await read.ask(redo())).step).toMatchObject({ step: 2, did: "trimmed #2", done: true });
    const after = await read.ask({ type: "state", session: "s1" });
    expect(after.blocks).toEqual(before.blocks);
  });

  it("reverse a step by its number, once", async () => {
    const read = await sceneOfTwoTurns();
    await read.ask(select(1));
    await trim(read, 2);
    expect((await read.ask(undo(1))).step).toMatchObject({ step: 1, done: false });
    expect(await answerQuestion(read.library, undo(1))).toMatchObject({
      ok: false,
      error: { code: "AP_UNDO_NOTHING" },
    });
    expect((await read.ask(redo(1))).step).toMatchObject({ step: 1, done: true });
  });

  it("name a conflict, and then change nothing", async () => {
    const read = await sceneOfTwoTurns();
    await read.ask(select(1));
    const { seq } = await read.ask(select(2));
    const { ok, ...refused } = await answerQuestion(read.library, undo(1));
    expect([ok, refused]).toMatchObject([
      false,
      { error: { code: "AP_UNDO_CONFLICT", message: expect.stringContaining(`frame ${seq} has changed`) } },
    ]);
    expect((await read.ask(steps)).seq).toBe(seq);
  });

  it("are refused if there is no step, or no such step", async () => {
    const read = await sceneOfTwoTurns();
    for (const act of [undo(), redo()]) {
      expect(await answerQuestion(read.library, act)).toMatchObject({ error: { code: "AP_UNDO_EMPTY" } });
    }
    for (const step of [1, 99, 1.5, -1]) {
      expect(await answerQuestion(read.library, undo(step))).toMatchObject({
        error: { code: "AP_STEP_UNKNOWN" },
      });
    }
  });
});

import { describe, expect, it } from "vitest";
import { deltaExamples } from "../../test/support/delta-examples.ts";
import { dump, TestSession } from "../../test/support/engine.ts";
import { AssertionFault, type BlockId, hashContent, must, type StepId, unwrap } from "../base/index.ts";
import {
  archiveBlocks,
  pinBlocks,
  referenceBlocks,
  setBlockLevel,
  setSelection,
  supersedeBlock,
  unpinBlocks,
} from "./change-facts.ts";
import { type Delta, type DeltaType, deltaTypes } from "./frames/delta.ts";
import { actors } from "./frames/facts.ts";
import { attributesOf, factOf, now } from "./moment/moment.ts";
import { inverseOf, mayReverse, reverse } from "./undo.ts";

const irreversible: readonly DeltaType[] = [
  "session-identified",
  "exchange-opened",
  "exchange-closed",
  "stream-opened",
  "view-opened",
  "ids-reserved",
  "run-started",
  "block-purged",
  "tokens-counted",
  "unit-sent",
  "turn-sent",
  "turn-answered",
  "epoch-started",
  "approval-asked",
  "approval-decided",
];
const reversible = deltaTypes.filter((type) => !irreversible.includes(type));

const topicsSet = (block: BlockId, from: readonly string[], to: readonly string[]): Delta => ({
  type: "topics-set",
  block,
  from,
  to,
});
const tokens = { count: 3, exact: true };
const rendition = (name: string) => ({ content: hashContent(name), tokens });
const conflict = (session: TestSession, step: StepId) => {
  const result = session.reversal(step);
  return result.ok ? null : { code: result.error.code, ...result.error.details };
};

/** A session with a memory the model added as a step. */
function memorySession(): { readonly session: TestSession; readonly block: BlockId; readonly step: StepId } {
  const session = new TestSession();
  const block = session.wished({ kind: "memory" });
  return { session, block: block.id, step: session.take({ deltas: [{ type: "block-added", block }] }) };
}

describe("every type of delta", () => {
  it.each(irreversible)("%s has no inverse", (type) => {
    expect(inverseOf(deltaExamples[type])).toBeNull();
  });

  it.each(reversible)("%s is the inverse of its inverse", (type) => {
    const delta = deltaExamples[type];
    const back = must(inverseOf(delta), "an inverse");
    expect(back).not.toEqual(delta);
    expect(inverseOf(back)).toEqual(delta);
  });

  it.each(reversible.filter((type) => type.endsWith("-set")))(
    "%s is taken back by the same with its ends exchanged",
    (type) => {
      const delta = deltaExamples[type] as Extract<Delta, { type: "level-set" }>;
      expect(inverseOf(delta)).toEqual({ ...delta, from: delta.to, to: delta.from });
    },
  );

  it("adding a block and removing it are inverse", () => {
    expect(inverseOf(deltaExamples["block-added"])?.type).toBe("block-removed");
    expect(inverseOf(deltaExamples["block-removed"])?.type).toBe("block-added");
  });

  it("an unknown type throws", () => {
    expect(() => inverseOf({ type: "facet-deleted" } as unknown as Delta)).toThrow(AssertionFault);
  });
});

describe("undo", () => {
  it("restores the value of a fact and its setter", () => {
    const session = new TestSession();
    const block = session.add();
    session.take(setBlockLevel(session.by("model"), [block], "trimmed"));
    const step = session.take(setBlockLevel(session.by("user"), [block], "minimal"), "user");
    session.reverse(step);
    expect(factOf(session.place(block), "level")).toEqual({ value: "trimmed", by: "model" });
    session.reverse(step);
    expect(factOf(session.place(block), "level")).toEqual({ value: "minimal", by: "user" });
  });

  it.each(["user", "client", "model", "sidecar", "policy"] as const)("reverses a step of the %s", (actor) => {
    const session = new TestSession();
    const block = session.add();
    const step = session.take(pinBlocks(session.by(actor), [block], "top"), actor);
    session.reverse(step);
    expect(session.fact(block, "pin")).toBe("none");
  });

  it("reverses all frames of a step, the last first", () => {
    const session = new TestSession();
    const block = session.add();
    const step = session.take({ deltas: [topicsSet(block, [], ["a"]), topicsSet(block, ["a"], ["b"])] });
    const cause = { type: "command", step, reason: "test" } as const;
    session.append([topicsSet(block, ["b"], ["c"])], { actor: "model", cause });
    expect(unwrap(session.reversal(step))).toEqual([
      topicsSet(block, ["c"], ["b"]),
      topicsSet(block, ["b"], ["a"]),
      topicsSet(block, ["a"], []),
    ]);
    session.reverse(step);
    expect(attributesOf(now(session.state), block)?.topics).toEqual([]);
    session.reverse(step);
    expect(attributesOf(now(session.state), block)?.topics).toEqual(["c"]);
  });

  it("of a step that changed nothing has no deltas", () => {
    const session = new TestSession();
    expect(session.reversal(session.take({ deltas: [] }))).toEqual({ ok: true, value: [] });
  });

  it("only proposes deltas: the state is not changed", () => {
    const { session, step } = memorySession();
    const before = dump(session.state);
    unwrap(session.reversal(step));
    expect(dump(session.state)).toEqual(before);
  });

  it("of two steps that changed one thing works in reverse order", () => {
    const session = new TestSession();
    const block = session.add();
    const first = session.take(setBlockLevel(session.by("policy"), [block], "trimmed"));
    const second = session.take(setBlockLevel(session.by("policy"), [block], "minimal"));
    session.reverse(second);
    session.reverse(first);
    expect(session.fact(block, "level")).toBe("original");
  });

  it("of a step that set one thing twice works once a later step is undone", () => {
    const session = new TestSession();
    const block = session.add();
    const pinned = pinBlocks(session.by("model"), [block], "top");
    const first = session.take(pinned);
    const cause = { type: "command", step: first, reason: "test" } as const;
    session.append(unpinBlocks(session.by("model"), [block]).deltas, { actor: "model", cause });
    const second = session.take(pinBlocks(session.by("model"), [block], "bottom"));
    session.reverse(second);
    session.reverse(first);
    expect(session.fact(block, "pin")).toBe("none");
  });

  it("out of order works for independent steps", () => {
    const session = new TestSession();
    const [a, b] = [session.add(), session.add()];
    const first = session.take(pinBlocks(session.by("model"), [a], "top"));
    session.take(pinBlocks(session.by("model"), [b], "top"));
    session.take(referenceBlocks(session.by("model"), [a]));
    session.reverse(first);
    expect([session.fact(a, "pin"), session.fact(b, "pin")]).toEqual(["none", "top"]);
    expect(session.fact(a, "reference").count).toBe(1);
  });

  it("throws if the frames are not all those the step names, in order", () => {
    const session = new TestSession();
    const step = session.take({ deltas: [] });
    session.append([], { actor: "model", cause: { type: "command", step, reason: "test" } });
    const entry = must(session.state.steps.get(step), "step");
    const [first, second] = session.framesOf(step);
    const wrong = [must(first, "frame"), must(session.frames[0], "frame")];
    expect(() => reverse(session.state, entry, wrong)).toThrow(AssertionFault);
    expect(reverse(session.state, entry, [must(first, "frame"), must(second, "frame")]).ok).toBe(true);
  });

  it("throws for frames the step does not name", () => {
    const { session, step } = memorySession();
    const entry = must(session.state.steps.get(step), "step");
    for (const frames of [
      [],
      session.frames.slice(0, 1),
      [...session.framesOf(step), ...session.framesOf(step)],
    ]) {
      expect(() => reverse(session.state, entry, frames)).toThrow(AssertionFault);
    }
  });

  it.each(["tokens-counted", "block-purged"] as const)(
    "of a step with %s is refused, and says what cannot be reversed",
    (type) => {
      const session = new TestSession();
      const block = session.add();
      const step = session.take({
        deltas: [topicsSet(block, [], ["a"]), { ...deltaExamples[type], block } as Delta],
      });
      expect(conflict(session, step)).toEqual({ code: "AP_UNDO_IRREVERSIBLE", step, type });
    },
  );
});

describe("a conflict names the frame in the way", () => {
  it("if a fact was changed since, though other facts were changed later", () => {
    const session = new TestSession();
    const block = session.add();
    const step = session.take(setBlockLevel(session.by("model"), [block], "trimmed"));
    const seq = session.set(block, { level: "minimal" });
    session.set(block, { pin: "top" });
    session.append([topicsSet(block, [], ["a"])]);
    expect(conflict(session, step)).toEqual({
      code: "AP_UNDO_CONFLICT",
      step,
      seq,
      what: `the level of #${block}`,
    });
  });

  it("if a fact has the same value again, but from another step", () => {
    const session = new TestSession();
    const block = session.add();
    const step = session.take(setBlockLevel(session.by("model"), [block], "trimmed"));
    const seq = session.set(block, { level: "trimmed" }, { by: "user" });
    expect(conflict(session, step)).toMatchObject({ code: "AP_UNDO_CONFLICT", seq });
  });

  it("if topics were changed since, though other attributes were changed later", () => {
    const session = new TestSession();
    const block = session.add();
    const step = session.take({ deltas: [topicsSet(block, [], ["a"])] });
    const seq = session.append([topicsSet(block, ["a"], ["b"])]);
    session.append([{ type: "tokens-counted", block, tokens }]);
    session.append([{ type: "scope-set", block, from: "session", to: "project" }]);
    expect(conflict(session, step)).toEqual({
      code: "AP_UNDO_CONFLICT",
      step,
      seq,
      what: `the topics of #${block}`,
    });
  });

  it("if the scope was changed since", () => {
    const session = new TestSession();
    const block = session.add();
    const step = session.take({ deltas: [{ type: "scope-set", block, from: "session", to: "project" }] });
    const seq = session.append([{ type: "scope-set", block, from: "project", to: "session" }]);
    session.append([topicsSet(block, [], ["a"])]);
    expect(conflict(session, step)).toEqual({
      code: "AP_UNDO_CONFLICT",
      step,
      seq,
      what: `the scope of #${block}`,
    });
  });

  it("if the rendition of that level was changed since, not of another", () => {
    const session = new TestSession();
    const block = session.add();
    const set = (level: "trimmed" | "minimal", from: string | null, to: string): Delta => ({
      type: "rendition-set",
      block,
      level,
      from: from === null ? null : rendition(from),
      to: rendition(to),
    });
    const step = session.take({ deltas: [set("trimmed", null, "a")] });
    session.append([set("minimal", null, "line")]);
    expect(conflict(session, step)).toBeNull();
    const seq = session.append([set("trimmed", "a", "b")]);
    session.append([set("minimal", "line", "other line")]);
    expect(conflict(session, step)).toEqual({
      code: "AP_UNDO_CONFLICT",
      step,
      seq,
      what: `the rendition of #${block}`,
    });
  });

  it.each(["user", "policy"] as const)(
    "where the %s has claimed a block whose creation would be taken back",
    (actor) => {
      const { session, block, step } = memorySession();
      session.take(pinBlocks(session.by(actor), [block], "top"), actor);
      const { seq } = session.state;
      session.pass(2);
      expect(conflict(session, step)).toEqual({
        code: "AP_UNDO_CONFLICT",
        step,
        seq,
        what: `the pin of #${block}`,
      });
    },
  );

  it("if a redo would set a fact that was set meanwhile", () => {
    const session = new TestSession();
    const block = session.add();
    const step = session.take(setBlockLevel(session.by("model"), [block], "trimmed"));
    session.reverse(step);
    const seq = session.set(block, { level: "summarized" });
    expect(conflict(session, step)).toMatchObject({
      code: "AP_UNDO_CONFLICT",
      seq,
      what: `the level of #${block}`,
    });
  });

  it("if a redo would change a block whose creation was undone", () => {
    const { session, block, step } = memorySession();
    const pinned = session.take(pinBlocks(session.by("model"), [block], "top"));
    session.reverse(pinned);
    const seq = session.reverse(step);
    session.pass(2);
    expect(conflict(session, pinned)).toEqual({
      code: "AP_UNDO_CONFLICT",
      step: pinned,
      seq,
      what: `#${block}`,
    });
  });

  it("and changes nothing, even if the first half of the step could be undone", () => {
    const session = new TestSession();
    const [a, b] = [session.add(), session.add()];
    const step = session.take(unwrap(archiveBlocks(session.by("model"), [a, b], "done")));
    session.set(a, { archive: null }, { by: "user" });
    expect(conflict(session, step)?.code).toBe("AP_UNDO_CONFLICT");
    expect(session.fact(b, "archive")).toEqual({ reason: "done" });
  });
});

describe("undoing the creation of a block is no conflict", () => {
  it("if it was only referenced", () => {
    const { session, block, step } = memorySession();
    session.take(referenceBlocks(session.by("model"), [block]));
    session.reverse(step);
    expect(session.isInReach(block)).toBe(false);
  });

  it("if policy marked it as superseded, but it is one if the model did", () => {
    const [marked, replaced] = [memorySession(), memorySession()];
    for (const [{ session, block }, actor] of [[marked, "policy"] as const, [replaced, "model"] as const]) {
      const newer = session.add();
      session.take(supersedeBlock(session.by(actor), block, newer), actor);
    }
    marked.session.reverse(marked.step);
    expect(marked.session.isInReach(marked.block)).toBe(false);
    expect(conflict(replaced.session, replaced.step)).toMatchObject({
      what: `the supersession of #${replaced.block}`,
    });
  });

  it("if its facts are back at their initial values", () => {
    const { session, block, step } = memorySession();
    session.take(setSelection(session.by("user"), [block]), "user");
    session.take(setSelection(session.by("user"), []), "user");
    expect(conflict(session, step)).toBeNull();
  });

  it("if a fork set a fact: the fork keeps the block and the fact", () => {
    const { session, block, step } = memorySession();
    const child = session.fork();
    session.take(pinBlocks(session.by("user", child), [block], "top"), "user");
    session.reverse(step);
    expect([session.isInReach(block), session.isInReach(block, child)]).toEqual([false, true]);
    expect(session.fact(block, "pin", child)).toBe("top");
  });

  it("but it is one if another agent of the same stream set a fact", () => {
    const { session, block, step } = memorySession();
    const agent = session.agent(null);
    const seq = session.set(block, { pin: "top" }, { view: agent });
    expect(conflict(session, step)).toMatchObject({ code: "AP_UNDO_CONFLICT", seq });
  });
});

describe("the right to reverse a step", () => {
  it("goes by rank: the model may not reverse the user, nor policy the model", () => {
    const session = new TestSession();
    const step = session.take(pinBlocks(session.by("model"), [session.add()], "top"));
    const found = () => must(session.state.steps.get(step), "the step is known");
    expect(actors.filter((actor) => mayReverse(found(), actor))).toEqual(["user", "client", "model"]);
    session.reverse(step);
    expect(actors.filter((actor) => mayReverse(found(), actor))).toEqual(["user"]);
  });

  it("needs the step to be the last that set the value, even if the value is equal", () => {
    const session = new TestSession();
    const block = session.add();
    const first = session.take(pinBlocks(session.by("model"), [block], "top"));
    session.take(unpinBlocks(session.by("model"), [block]));
    const again = session.take(pinBlocks(session.by("model"), [block], "top"));
    const taken = must(session.state.steps.get(again), "the step is known").log.value.frames[0];
    expect(conflict(session, first)).toMatchObject({ code: "AP_UNDO_CONFLICT", seq: taken });
    expect(conflict(session, again)).toBeNull();
  });
});

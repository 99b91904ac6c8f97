import { describe, expect, it } from "vitest";
import { deltaExamples } from "../../test/support/delta-examples.ts";
import { dump, TestSession } from "../../test/support/engine.ts";
import { AssertionFault, type BlockId, hashContent, must, type StepId, unwrap } from "../base/index.ts";
import { archive, pin, reference, select, supersede, unpin, wantLevel } from "./change.ts";
import { type Delta, type DeltaType, deltaTypes } from "./delta.ts";
import { actors } from "./facts.ts";
import { factOf, notesOf, now } from "./moment.ts";
import { inverted, mayReverse, reverse } from "./undo.ts";

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

const topics = (block: BlockId, from: readonly string[], to: readonly string[]): Delta => ({
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

/** A memory the model made, as a step. */
function remembered(): { readonly session: TestSession; readonly block: BlockId; readonly step: StepId } {
  const session = new TestSession();
  const block = session.wished({ kind: "memory" });
  return { session, block: block.id, step: session.take({ deltas: [{ type: "block-added", block }] }) };
}

describe("every type of delta", () => {
  it.each(irreversible)("%s cannot be taken back", (type) => {
    expect(inverted(deltaExamples[type])).toBeNull();
  });

  it.each(reversible)("%s is taken back by a delta that is itself taken back by the first", (type) => {
    const delta = deltaExamples[type];
    const back = must(inverted(delta), "an inverse");
    expect(back).not.toEqual(delta);
    expect(inverted(back)).toEqual(delta);
  });

  it.each(reversible.filter((type) => type.endsWith("-set")))(
    "%s is taken back by the same with its ends exchanged",
    (type) => {
      const delta = deltaExamples[type] as Extract<Delta, { type: "level-set" }>;
      expect(inverted(delta)).toEqual({ ...delta, from: delta.to, to: delta.from });
    },
  );

  it("the creation of a block is taken back by its removal, and that by its creation", () => {
    expect(inverted(deltaExamples["block-added"])?.type).toBe("block-removed");
    expect(inverted(deltaExamples["block-removed"])?.type).toBe("block-added");
  });

  it("a type nobody knows is a bug of ours", () => {
    expect(() => inverted({ type: "facet-deleted" } as unknown as Delta)).toThrow(AssertionFault);
  });
});

describe("undo", () => {
  it("gives a fact back its value and its owner", () => {
    const session = new TestSession();
    const block = session.add();
    session.take(wantLevel(session.by("model"), [block], "trimmed"));
    const step = session.take(wantLevel(session.by("user"), [block], "minimal"), "user");
    session.reverse(step);
    expect(factOf(session.place(block), "level")).toEqual({ value: "trimmed", by: "model" });
    session.reverse(step);
    expect(factOf(session.place(block), "level")).toEqual({ value: "minimal", by: "user" });
  });

  it.each(["user", "client", "model", "sidecar", "policy"] as const)("works on what the %s did", (actor) => {
    const session = new TestSession();
    const block = session.add();
    const step = session.take(pin(session.by(actor), [block], "top"), actor);
    session.reverse(step);
    expect(session.fact(block, "pin")).toBe("none");
  });

  it("takes back all frames of a step, the last first", () => {
    const session = new TestSession();
    const block = session.add();
    const step = session.take({ deltas: [topics(block, [], ["a"]), topics(block, ["a"], ["b"])] });
    const cause = { type: "command", step, reason: "test" } as const;
    session.append([topics(block, ["b"], ["c"])], { actor: "model", cause });
    expect(unwrap(session.reversal(step))).toEqual([
      topics(block, ["c"], ["b"]),
      topics(block, ["b"], ["a"]),
      topics(block, ["a"], []),
    ]);
    session.reverse(step);
    expect(notesOf(now(session.state), block)?.topics).toEqual([]);
    session.reverse(step);
    expect(notesOf(now(session.state), block)?.topics).toEqual(["c"]);
  });

  it("of a step that changed nothing is nothing", () => {
    const session = new TestSession();
    expect(session.reversal(session.take({ deltas: [] }))).toEqual({ ok: true, value: [] });
  });

  it("only says what to append: the state is as before", () => {
    const { session, step } = remembered();
    const before = dump(session.state);
    unwrap(session.reversal(step));
    expect(dump(session.state)).toEqual(before);
  });

  it("of two steps that changed one thing works one after the other, the later first", () => {
    const session = new TestSession();
    const block = session.add();
    const first = session.take(wantLevel(session.by("policy"), [block], "trimmed"));
    const second = session.take(wantLevel(session.by("policy"), [block], "minimal"));
    session.reverse(second);
    session.reverse(first);
    expect(session.fact(block, "level")).toBe("original");
  });

  it("of a step that set one thing twice works once a later step is undone", () => {
    const session = new TestSession();
    const block = session.add();
    const pinned = pin(session.by("model"), [block], "top");
    const first = session.take(pinned);
    const cause = { type: "command", step: first, reason: "test" } as const;
    session.append(unpin(session.by("model"), [block]).deltas, { actor: "model", cause });
    const second = session.take(pin(session.by("model"), [block], "bottom"));
    session.reverse(second);
    session.reverse(first);
    expect(session.fact(block, "pin")).toBe("none");
  });

  it("out of order works where the steps have nothing to do with each other", () => {
    const session = new TestSession();
    const [a, b] = [session.add(), session.add()];
    const first = session.take(pin(session.by("model"), [a], "top"));
    session.take(pin(session.by("model"), [b], "top"));
    session.take(reference(session.by("model"), [a]));
    session.reverse(first);
    expect([session.fact(a, "pin"), session.fact(b, "pin")]).toEqual(["none", "top"]);
    expect(session.fact(a, "reference").count).toBe(1);
  });

  it("needs all of the frames the step names, each in its place", () => {
    const session = new TestSession();
    const step = session.take({ deltas: [] });
    session.append([], { actor: "model", cause: { type: "command", step, reason: "test" } });
    const entry = must(session.state.steps.get(step), "step");
    const [first, second] = session.framesOf(step);
    const wrong = [must(first, "frame"), must(session.frames[0], "frame")];
    expect(() => reverse(session.state, entry, wrong)).toThrow(AssertionFault);
    expect(reverse(session.state, entry, [must(first, "frame"), must(second, "frame")]).ok).toBe(true);
  });

  it("needs the frames the step names: others are a bug of ours", () => {
    const { session, step } = remembered();
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
        deltas: [topics(block, [], ["a"]), { ...deltaExamples[type], block } as Delta],
      });
      expect(conflict(session, step)).toEqual({ code: "AP_UNDO_IRREVERSIBLE", step, type });
    },
  );
});

describe("a conflict names the frame in the way", () => {
  it("where a fact was changed since, though other facts were changed later", () => {
    const session = new TestSession();
    const block = session.add();
    const step = session.take(wantLevel(session.by("model"), [block], "trimmed"));
    const seq = session.set(block, { level: "minimal" });
    session.set(block, { pin: "top" });
    session.append([topics(block, [], ["a"])]);
    expect(conflict(session, step)).toEqual({
      code: "AP_UNDO_CONFLICT",
      step,
      seq,
      what: `the level of #${block}`,
    });
  });

  it("where a fact has the same value again, but from somebody else", () => {
    const session = new TestSession();
    const block = session.add();
    const step = session.take(wantLevel(session.by("model"), [block], "trimmed"));
    const seq = session.set(block, { level: "trimmed" }, { by: "user" });
    expect(conflict(session, step)).toMatchObject({ code: "AP_UNDO_CONFLICT", seq });
  });

  it("where topics were changed since, though other notes were changed later", () => {
    const session = new TestSession();
    const block = session.add();
    const step = session.take({ deltas: [topics(block, [], ["a"])] });
    const seq = session.append([topics(block, ["a"], ["b"])]);
    session.append([{ type: "tokens-counted", block, tokens }]);
    session.append([{ type: "scope-set", block, from: "session", to: "project" }]);
    expect(conflict(session, step)).toEqual({
      code: "AP_UNDO_CONFLICT",
      step,
      seq,
      what: `the topics of #${block}`,
    });
  });

  it("where the scope was changed since", () => {
    const session = new TestSession();
    const block = session.add();
    const step = session.take({ deltas: [{ type: "scope-set", block, from: "session", to: "project" }] });
    const seq = session.append([{ type: "scope-set", block, from: "project", to: "session" }]);
    session.append([topics(block, [], ["a"])]);
    expect(conflict(session, step)).toEqual({
      code: "AP_UNDO_CONFLICT",
      step,
      seq,
      what: `the scope of #${block}`,
    });
  });

  it("where the rendition of that level was changed since, not of another", () => {
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
      const { session, block, step } = remembered();
      session.take(pin(session.by(actor), [block], "top"), actor);
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

  it("where a redo would set a fact that somebody has set meanwhile", () => {
    const session = new TestSession();
    const block = session.add();
    const step = session.take(wantLevel(session.by("model"), [block], "trimmed"));
    session.reverse(step);
    const seq = session.set(block, { level: "summarized" });
    expect(conflict(session, step)).toMatchObject({
      code: "AP_UNDO_CONFLICT",
      seq,
      what: `the level of #${block}`,
    });
  });

  it("where a redo would change a block whose creation was undone", () => {
    const { session, block, step } = remembered();
    const pinned = session.take(pin(session.by("model"), [block], "top"));
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

  it("and changes nothing, even where the first half of the step could be taken back", () => {
    const session = new TestSession();
    const [a, b] = [session.add(), session.add()];
    const step = session.take(unwrap(archive(session.by("model"), [a, b], "done")));
    session.set(a, { archive: null }, { by: "user" });
    expect(conflict(session, step)?.code).toBe("AP_UNDO_CONFLICT");
    expect(session.fact(b, "archive")).toEqual({ reason: "done" });
  });
});

describe("taking back the creation of a block is no conflict", () => {
  it("where it was only referred to", () => {
    const { session, block, step } = remembered();
    session.take(reference(session.by("model"), [block]));
    session.reverse(step);
    expect(session.isInReach(block)).toBe(false);
  });

  it("where policy has marked it as superseded, but not where the model has", () => {
    const [marked, replaced] = [remembered(), remembered()];
    for (const [{ session, block }, actor] of [[marked, "policy"] as const, [replaced, "model"] as const]) {
      const newer = session.add();
      session.take(supersede(session.by(actor), block, newer), actor);
    }
    marked.session.reverse(marked.step);
    expect(marked.session.isInReach(marked.block)).toBe(false);
    expect(conflict(replaced.session, replaced.step)).toMatchObject({
      what: `the supersession of #${replaced.block}`,
    });
  });

  it("where a claim was given up: the facts are what they were at first", () => {
    const { session, block, step } = remembered();
    session.take(select(session.by("user"), [block]), "user");
    session.take(select(session.by("user"), []), "user");
    expect(conflict(session, step)).toBeNull();
  });

  it("where a fork has claimed it: the fork keeps the block and the claim", () => {
    const { session, block, step } = remembered();
    const child = session.fork();
    session.take(pin(session.by("user", child), [block], "top"), "user");
    session.reverse(step);
    expect([session.isInReach(block), session.isInReach(block, child)]).toEqual([false, true]);
    expect(session.fact(block, "pin", child)).toBe("top");
  });

  it("but is one where another agent of the same stream has claimed it", () => {
    const { session, block, step } = remembered();
    const agent = session.agent(null);
    const seq = session.set(block, { pin: "top" }, { view: agent });
    expect(conflict(session, step)).toMatchObject({ code: "AP_UNDO_CONFLICT", seq });
  });
});

describe("who may reverse a step", () => {
  it("is whoever may change what it did: not the model what the user did, nor policy what the model did", () => {
    const session = new TestSession();
    const step = session.take(pin(session.by("model"), [session.add()], "top"));
    const found = () => must(session.state.steps.get(step), "the step is known");
    expect(actors.filter((actor) => mayReverse(found(), actor))).toEqual(["user", "client", "model"]);
    session.reverse(step);
    expect(actors.filter((actor) => mayReverse(found(), actor))).toEqual(["user"]);
  });

  it("is only the last to have set a value: an equal one may be another step's by now", () => {
    const session = new TestSession();
    const block = session.add();
    const first = session.take(pin(session.by("model"), [block], "top"));
    session.take(unpin(session.by("model"), [block]));
    const again = session.take(pin(session.by("model"), [block], "top"));
    const taken = must(session.state.steps.get(again), "the step is known").log.value.frames[0];
    expect(conflict(session, first)).toMatchObject({ code: "AP_UNDO_CONFLICT", seq: taken });
    expect(conflict(session, again)).toBeNull();
  });
});

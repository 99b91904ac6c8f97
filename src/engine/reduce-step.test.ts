import { describe, expect, it } from "vitest";
import { TestSession } from "../../test/support/engine.ts";
import { expectComplete, expectRefusal, named, type Refusal } from "../../test/support/refusals.ts";
import { limits, type StepId, stepId } from "../base/index.ts";
import type { Actor } from "./frames/facts.ts";
import type { Cause } from "./frames/frame.ts";
import { nextStepId } from "./reduce-step.ts";
import { versionList } from "./versions.ts";

const cause = (type: Cause["type"], step: number | null): { readonly cause: Cause } => ({
  cause: { type, step: step === null ? null : stepId(step), reason: "why" },
});
const notSteps = "only commands and policy are undone in steps";
const ended = "it was undone, or belongs to another actor";

/** Gives the session one done step of the model. */
const addStep = (session: TestSession) => {
  session.take({ deltas: [] }, "model");
  return [];
};
const addUndoneStep = (session: TestSession) => {
  session.reverse(session.take({ deltas: [] }, "model"));
  return [];
};

const refusals: readonly Refusal[] = [
  ...(["session", "request", "response"] as const).map(
    (type): Refusal => ({
      when: `a ${type} claims to be a step`,
      code: "AP_STEP_INVALID",
      problem: notSteps,
      deltas: () => [],
      over: cause(type, 1),
    }),
  ),
  {
    when: "the first step is not number one",
    code: "AP_STEP_INVALID",
    problem: "steps are numbered in order",
    deltas: () => [],
    over: cause("command", 2),
  },
  {
    when: "a step is number zero",
    code: "AP_STEP_INVALID",
    problem: "steps are numbered in order",
    deltas: () => [],
    over: cause("command", 0),
  },
  {
    when: "a step is skipped",
    code: "AP_STEP_INVALID",
    problem: "steps are numbered in order",
    deltas: addStep,
    over: cause("command", 3),
  },
  {
    when: "a step goes on after it was undone",
    code: "AP_STEP_INVALID",
    problem: ended,
    deltas: addUndoneStep,
    over: { ...cause("command", 1), actor: "model" },
  },
  {
    when: "another actor goes on with a step",
    code: "AP_STEP_INVALID",
    problem: ended,
    deltas: addStep,
    over: { ...cause("command", 1), actor: "user" },
  },
  {
    when: "a step has as many frames as it may have",
    code: "AP_STEP_INVALID",
    problem: "it has too many frames",
    deltas: (session) => {
      const more = { ...cause("command", 1), actor: "model" } as const;
      for (let frames = 0; frames < limits.framesPerStepMax; frames += 1) session.append([], more);
      return [];
    },
    over: { ...cause("command", 1), actor: "model" },
  },
  {
    when: "a step is undone that does not exist",
    code: "AP_UNDO_NOTHING",
    deltas: () => [],
    over: cause("undo", 1),
  },
  { when: "a step is undone twice", code: "AP_UNDO_NOTHING", deltas: addUndoneStep, over: cause("undo", 1) },
  { when: "a step is redone that is done", code: "AP_UNDO_NOTHING", deltas: addStep, over: cause("redo", 1) },
  {
    when: "a step is redone that does not exist",
    code: "AP_UNDO_NOTHING",
    deltas: addStep,
    over: cause("redo", 2),
  },
];

describe("a step is refused", () => {
  it.each(named(refusals))("with %s", (_, refusal) => {
    expectRefusal(refusal);
  });

  it.each(["undo", "redo"] as const)(
    "with AP_STEP_INVALID when an %s does not say what it reverses",
    (type) => {
      const tried = new TestSession().attempt([], cause(type, null));
      expect(tried.ok ? null : tried.error).toMatchObject({
        code: "AP_STEP_INVALID",
        details: { problem: "it must say what it reverses" },
      });
    },
  );

  it("for no reason that has no test", () => {
    const nameless: Refusal = {
      when: "",
      code: "AP_STEP_INVALID",
      problem: "it must say what it reverses",
      deltas: () => [],
    };
    expectComplete("reduce-step.ts", [...refusals, nameless]);
  });
});

describe("a step", () => {
  const log = (session: TestSession, id: StepId) =>
    versionList(session.state.steps.get(id)?.log ?? null).map(([, value]) => value);

  it("begins with the first frame that names it, and keeps its actor and reason", () => {
    const session = new TestSession();
    expect(nextStepId(session.state)).toBe(1);
    const seq = session.append([], { ...cause("command", 1), actor: "model" });
    expect(session.state.steps.get(1)).toMatchObject({ id: 1, actor: "model", stream: 1, reason: "why" });
    expect(log(session, stepId(1))).toEqual([{ done: true, by: "model", frames: [seq] }]);
    expect(nextStepId(session.state)).toBe(2);
  });

  it("continues with every frame of the same actor that names it: a turn of commands is one step", () => {
    const session = new TestSession();
    const frames = [1, 2, 3].map(() => session.append([], { ...cause("command", 1), actor: "model" }));
    expect(log(session, stepId(1)).at(-1)).toEqual({ done: true, by: "model", frames });
  });

  it.each<[Cause["type"], Actor]>([
    ["command", "user"],
    ["command", "model"],
    ["policy", "policy"],
    ["policy", "sidecar"],
  ])("may be a %s of the %s", (type, actor) => {
    const session = new TestSession();
    session.append([], { ...cause(type, 1), actor });
    expect(session.state.steps.get(1)?.actor).toBe(actor);
  });

  it("is undone and redone by a frame, which is the one to reverse next", () => {
    const session = new TestSession();
    const step = session.take({ deltas: [] });
    const [undone, redone] = [session.reverse(step), session.reverse(step)];
    expect(log(session, step).slice(1)).toEqual([
      { done: false, by: "user", frames: [undone] },
      { done: true, by: "user", frames: [redone] },
    ]);
  });

  it("continues after a redo: later frames are reversed together with it", () => {
    const session = new TestSession();
    const step = session.take({ deltas: [] }, "model");
    session.reverse(step);
    const redone = session.reverse(step);
    const more = session.append([], { ...cause("command", step), actor: "model" });
    expect(log(session, step).at(-1)).toEqual({ done: true, by: "model", frames: [redone, more] });
  });

  it("is optional: commands and policy without one are never undone", () => {
    const session = new TestSession();
    session.append([], cause("command", null));
    session.append([], cause("policy", null));
    expect([...session.state.steps.entries()]).toEqual([]);
  });
});

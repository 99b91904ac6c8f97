import { fail, limits, ok, type Result, type StepId, unreachable } from "../base/index.ts";
import type { Frame } from "./frames/frame.ts";
import type { State, Step, StepStatus } from "./state.ts";
import { withVersion } from "./versions.ts";

/** Keeps the list of steps: which can be undone, and which were. */
export function applyStep(state: State, frame: Frame): Result<State> {
  const { type, step: id } = frame.cause;
  const refused = (problem: string) => fail("AP_STEP_INVALID", { step: id, problem });
  switch (type) {
    case "session":
    case "request":
    case "response":
      return id === null ? ok(state) : refused("only commands and policy are undone in steps");
    case "command":
    case "policy":
      return id === null ? ok(state) : continueStep(state, frame, id);
    case "undo":
    case "redo":
      return id === null ? refused("it must say what it reverses") : reverseStep(state, frame, id);
    default:
      return unreachable(type);
  }
}

function continueStep(state: State, frame: Frame, id: StepId): Result<State> {
  const step = state.steps.get(id);
  if (step === undefined) return beginStep(state, frame, id);
  const { done, frames } = step.log.value;
  if (!done || step.actor !== frame.actor) {
    return fail("AP_STEP_INVALID", { step: id, problem: "it was undone, or belongs to another actor" });
  }
  if (frames.length >= limits.framesPerStepMax) {
    return fail("AP_STEP_INVALID", { step: id, problem: "it has too many frames" });
  }
  return ok(withStepStatus(state, step, { done, by: frame.actor, frames: [...frames, frame.seq] }));
}

function beginStep(state: State, frame: Frame, id: StepId): Result<State> {
  if (id !== nextStepId(state))
    return fail("AP_STEP_INVALID", { step: id, problem: "steps are numbered in order" });
  const step: Step = {
    id,
    actor: frame.actor,
    stream: frame.stream,
    reason: frame.cause.reason,
    log: withVersion(null, frame.seq, { done: true, by: frame.actor, frames: [frame.seq] }),
  };
  return ok({ ...state, steps: state.steps.with(id, step) });
}

/** The frame that reverses a step is the one to reverse next: undo and redo work the same way. */
function reverseStep(state: State, frame: Frame, id: StepId): Result<State> {
  const verb = frame.cause.type;
  const step = state.steps.get(id);
  if (step === undefined || step.log.value.done !== (verb === "undo")) {
    return fail("AP_UNDO_NOTHING", { verb, step: id });
  }
  return ok(withStepStatus(state, step, { done: verb === "redo", by: frame.actor, frames: [frame.seq] }));
}

function withStepStatus(state: State, step: Step, value: StepStatus): State {
  const log = withVersion(step.log, state.seq, value);
  return { ...state, steps: state.steps.with(step.id, { ...step, log }) };
}

/** Steps count from 1. */
export function nextStepId(state: State): StepId {
  return Math.max(1, state.steps.size) as StepId;
}

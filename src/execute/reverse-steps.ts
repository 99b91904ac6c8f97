import {
  type ApertureError,
  blockId,
  fail,
  isCount,
  must,
  ok,
  type Result,
  type StepId,
  stepId,
} from "../base/index.ts";
import type { State, Step } from "../engine/index.ts";
import { attributesOf, blockViewOf, now, pendingChange, streamOf } from "../engine/moment/index.ts";
import { type Durability, type ReverseVerb, viewIn } from "../log/index.ts";
import { isPendingRewrite, listSteps, openSessionState, stepRows, streamModeOf } from "../queries/index.ts";
import type { ReverseAnswer } from "./act-answers.ts";
import type { ActDeps, ReverseAct } from "./acts.ts";

/**
 * Undoes or redoes steps; without a number the last one that is done, or for redo the one undone last. If a
 * step cannot be reversed, the error names the conflict and nothing is changed for it.
 */
export async function reverseSteps(
  deps: ActDeps,
  act: ReverseAct,
): Promise<Result<ReverseAnswer & Durability>> {
  const state = await openSessionState(deps, act.session);
  if (!state.ok) return state;
  const chosen = chosenSteps(state.value, act);
  if (!chosen.ok) return chosen;
  const { session } = state.value;
  const { verb } = act;
  const done: StepId[] = [];
  let problem: ApertureError | null = null;
  let durable = true;
  for (const { step, verb: stepVerb } of chosen.value) {
    const result = await deps.reverseStep(session, stepVerb, step);
    if (!result.ok) {
      problem = result.error;
      break;
    }
    durable = result.value.durable;
    done.push(step);
  }
  if (problem !== null && done.length === 0) return { ok: false, error: problem };
  const after = await openSessionState(deps, session);
  if (!after.ok) return after;
  const answer = await reverseAnswer(deps, after.value, { verb, done, problem });
  return answer.ok ? ok({ ...answer.value, durable }) : answer;
}

function chosenSteps(state: State, act: ReverseAct): Result<readonly StepReversal[]> {
  const { verb, to } = act;
  if (to !== undefined && to > state.seq) return fail("AP_SEQ_UNKNOWN", { seq: to, head: state.seq });
  if (to === undefined && act.isTurn !== true) {
    const single = chosenStep(state, act);
    return single.ok ? ok([{ step: single.value, verb }]) : single;
  }
  const steps =
    to === undefined ? lastTurnSteps(state).map((step) => ({ step, verb })) : stepsSince(state, to);
  return steps.length === 0 ? fail("AP_UNDO_EMPTY", { verb }) : ok(steps);
}

function chosenStep(state: State, { verb, step }: ReverseAct): Result<StepId> {
  if (step !== undefined) {
    const known = isCount(step) ? state.steps.get(step) : undefined;
    return known === undefined ? fail("AP_STEP_UNKNOWN", { step }) : ok(stepId(step));
  }
  const reversible = listSteps(state).filter(({ log }) => log.value.done === (verb === "undo"));
  // Redo takes the step that was undone last, so that undo and redo cancel out.
  const last =
    verb === "undo" ? reversible.at(-1) : reversible.toSorted((a, b) => a.log.seq - b.log.seq).at(-1);
  return last === undefined ? fail("AP_UNDO_EMPTY", { verb }) : ok(last.id);
}

type ReversalResult = {
  readonly verb: ReverseVerb;
  readonly done: readonly StepId[];
  readonly problem: ApertureError | null;
};

async function reverseAnswer(
  { store }: ActDeps,
  state: State,
  { verb, done, problem }: ReversalResult,
): Promise<Result<ReverseAnswer>> {
  const steps = done.map((id) => must(state.steps.get(id), "a step that was reversed is there"));
  const rows = await stepRows({ state, store }, steps);
  if (!rows.ok) return rows;
  const step = must(steps.at(-1), "something was reversed");
  const row = must(rows.value.at(-1), "a step has a row");
  const moment = now(state);
  const stream = step.stream === null ? null : streamOf(moment, step.stream);
  const view = stream === null ? null : viewIn(moment, stream);
  const isPending = (block: number): boolean => {
    const blockView = view === null ? null : blockViewOf(moment, view, blockId(block));
    const attributes = attributesOf(moment, blockId(block));
    const forms = blockView === null ? null : pendingChange(blockView);
    return forms !== null && attributes !== null && isPendingRewrite(forms, attributes);
  };
  return ok({
    session: state.session,
    seq: state.seq,
    verb,
    step: row,
    steps: rows.value,
    problem: problem === null ? null : { code: problem.code, message: problem.message },
    mode: streamModeOf(moment, stream),
    pending: [...new Set(rows.value.flatMap(({ blocks }) => blocks))].filter(isPending),
  });
}

type StepReversal = { readonly step: StepId; readonly verb: ReverseVerb };

/** The reversals that lead back to a seq: each step whose state differs, the last change first. */
function stepsSince(state: State, seq: number): readonly StepReversal[] {
  const changed = [...state.steps.entries()]
    .map(([, step]) => step)
    .filter(({ log }) => log.seq > seq && log.value.done !== wasDone(log, seq))
    .sort((a, b) => b.log.seq - a.log.seq);
  return changed.map(({ id, log }) => ({ step: id, verb: log.value.done ? "undo" : "redo" }));
}

function wasDone(log: Step["log"], seq: number): boolean {
  let version: Step["log"] | null = log;
  while (version !== null && version.seq > seq) version = version.previous;
  return version?.value.done ?? false;
}

/** The steps of the last turn that has any steps done, the newest first. */
function lastTurnSteps(state: State): readonly StepId[] {
  const done = [...state.steps.entries()].map(([, step]) => step).filter(({ log }) => log.value.done);
  const last = done.at(-1);
  if (last === undefined) return [];
  const turn = turnOf(state, last);
  return done
    .filter((step) => step.stream === last.stream && turnOf(state, step) === turn)
    .map(({ id }) => id)
    .reverse();
}

/** The last turn sent before the step. */
function turnOf(state: State, { stream: id, log }: Step): number {
  const moment = now(state);
  const stream = id === null ? null : streamOf(moment, id);
  const view = stream === null ? null : viewIn(moment, stream);
  const first = log.value.frames[0] ?? 0;
  let turn = 0;
  for (const [, sent] of view?.sent.entries() ?? []) if (sent.seq <= first) turn = sent.turn;
  return turn;
}

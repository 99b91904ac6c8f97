import {
  type ApertureError,
  blockId,
  fail,
  isCount,
  limits,
  must,
  ok,
  type Result,
  type StepId,
  stepId,
} from "../../base/index.ts";
import {
  type Frame,
  notesOf,
  now,
  pendingOf,
  placeOf,
  type State,
  type Step,
  streamOf,
} from "../../engine/index.ts";
import type { Store } from "../../store/index.ts";
import type { Durable } from "../record/durable.ts";
import type { ReverseAnswer, ReverseVerb, StepRow, StepsPage } from "./act-rows.ts";
import { actWords, blocksIn, saidWords } from "./act-words.ts";
import { isWaiting } from "./block-levels.ts";
import { framesAt } from "./frames-at.ts";
import { modeIn, viewIn } from "./look.ts";
import type { Library, ReverseAct } from "./questions.ts";
import { openState } from "./sessions.ts";
import { fitsFor, freedBy } from "./step-frees.ts";
import { lastTurnSteps, type Reversal, stepsSince } from "./turn-steps.ts";

type Opened = { readonly state: State; readonly store: Store };

/** The newest steps before one, in order. */
export async function stepsPage(
  { state, store }: Opened,
  { limit, below }: { readonly limit: number; readonly below?: number },
): Promise<Result<StepsPage>> {
  const all = stepsOf(state);
  const older = below === undefined ? all : all.filter(({ id }) => id < below);
  const some = older.slice(-Math.min(Math.max(limit, 1), limits.rowsPerAnswerMax));
  const rows = await stepRows({ state, store }, some);
  if (!rows.ok) return rows;
  const next = some.length < older.length ? (some[0]?.id ?? null) : null;
  return ok({ session: state.session, seq: state.seq, total: all.length, rows: rows.value, next });
}

function stepsOf(state: State): readonly Step[] {
  return [...state.steps.entries()].map(([, step]) => step);
}

async function stepRows(
  { state, store }: Opened,
  steps: readonly Step[],
): Promise<Result<readonly StepRow[]>> {
  const seqs = steps.flatMap(madeBy);
  const frames = await framesAt(store, state.session, seqs);
  if (!frames.ok) return frames;
  const fits = fitsFor(state, steps);
  return ok(steps.map((step) => stepRow({ state, fits }, step, frames.value)));
}

/** The frames that did it first, whatever became of it afterwards: it grows until it is first taken back. */
function madeBy({ log }: Step): readonly number[] {
  let made: readonly number[] = log.value.frames;
  let isDoneLater = false;
  for (let version: typeof log | null = log; version !== null; version = version.previous) {
    const { done, frames } = version.value;
    if (done && !isDoneLater) made = frames;
    isDoneLater = done;
  }
  return made;
}

type Stepping = { readonly state: State; readonly fits: ReturnType<typeof fitsFor> };

function stepRow({ state, fits }: Stepping, step: Step, frames: ReadonlyMap<number, Frame>): StepRow {
  const made = madeBy(step);
  const read = made.flatMap((seq) => frames.get(seq) ?? []);
  const isWhole = read.length === made.length;
  const deltas = read.flatMap((frame) => frame.deltas);
  const { done, by } = step.log.value;
  const fit = fits.get(step.stream) ?? 1;
  return {
    step: step.id,
    actor: step.actor,
    reason: step.reason,
    did: isWhole ? actWords(deltas) : null,
    said: isWhole ? saidWords(deltas) : null,
    frees: isWhole ? freedBy(state, step, { made, blocks: blocksIn(deltas), fit }) : 0,
    blocks: blocksIn(deltas),
    done,
    by,
    seq: made[0] ?? 0,
    lastSeq: step.log.seq,
    time: read[0]?.time ?? null,
  };
}

/**
 * Takes back a step, or takes it up again; without a number the last one that is done, or the one that was
 * taken back last. What stands in the way is named, and then nothing happens.
 */
export async function reverseStep(
  library: Library,
  act: ReverseAct,
): Promise<Result<ReverseAnswer & Durable>> {
  const state = await openState(library, act.session);
  if (!state.ok) return state;
  const chosen = chosenSteps(state.value, act);
  if (!chosen.ok) return chosen;
  const { session } = state.value;
  const { verb } = act;
  const done: StepId[] = [];
  let problem: ApertureError | null = null;
  let durable = true;
  for (const { step, verb: how } of chosen.value) {
    const result = await library.reverse(session, how, step);
    if (!result.ok) {
      problem = result.error;
      break;
    }
    durable = result.value.durable;
    done.push(step);
  }
  if (problem !== null && done.length === 0) return { ok: false, error: problem };
  const after = await openState(library, session);
  if (!after.ok) return after;
  const answer = await reversed(library, after.value, { verb, done, problem });
  return answer.ok ? ok({ ...answer.value, durable }) : answer;
}

function chosenSteps(state: State, act: ReverseAct): Result<readonly Reversal[]> {
  const { verb, to } = act;
  if (to !== undefined && to > state.seq) return fail("AP_SEQ_UNKNOWN", { seq: to, head: state.seq });
  if (to === undefined && act.isTurn !== true) {
    const one = chosenStep(state, act);
    return one.ok ? ok([{ step: one.value, verb }]) : one;
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
  const able = stepsOf(state).filter(({ log }) => log.value.done === (verb === "undo"));
  // What was taken back last is taken up first, so that going back and forth ends where it began.
  const last = verb === "undo" ? able.at(-1) : able.toSorted((a, b) => a.log.seq - b.log.seq).at(-1);
  return last === undefined ? fail("AP_UNDO_EMPTY", { verb }) : ok(last.id);
}

type Reversed = {
  readonly verb: ReverseVerb;
  readonly done: readonly StepId[];
  readonly problem: ApertureError | null;
};

async function reversed(
  { store }: Library,
  state: State,
  { verb, done, problem }: Reversed,
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
    const place = view === null ? null : placeOf(moment, view, blockId(block));
    const notes = notesOf(moment, blockId(block));
    const forms = place === null ? null : pendingOf(place);
    return forms !== null && notes !== null && isWaiting(forms, notes);
  };
  return ok({
    session: state.session,
    seq: state.seq,
    verb,
    step: row,
    steps: rows.value,
    problem: problem === null ? null : { code: problem.code, message: problem.message },
    mode: modeIn(moment, stream),
    pending: [...new Set(rows.value.flatMap(({ blocks }) => blocks))].filter(isPending),
  });
}

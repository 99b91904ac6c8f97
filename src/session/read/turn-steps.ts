import type { StepId } from "../../base/index.ts";
import { now, type State, type Step, streamOf } from "../../engine/index.ts";
import { viewIn } from "./look.ts";

/** The steps that hold of the last turn in which something was done, the newest first. */
export function lastTurnSteps(state: State): readonly StepId[] {
  const done = [...state.steps.entries()].map(([, step]) => step).filter(({ log }) => log.value.done);
  const last = done.at(-1);
  if (last === undefined) return [];
  const turn = turnOf(state, last);
  return done
    .filter((step) => step.stream === last.stream && turnOf(state, step) === turn)
    .map(({ id }) => id)
    .reverse();
}

/** The turn that was sent last before it was done. */
function turnOf(state: State, { stream: id, log }: Step): number {
  const moment = now(state);
  const stream = id === null ? null : streamOf(moment, id);
  const view = stream === null ? null : viewIn(moment, stream);
  const first = log.value.frames[0] ?? 0;
  let turn = 0;
  for (const [, sent] of view?.sent.entries() ?? []) if (sent.seq <= first) turn = sent.turn;
  return turn;
}

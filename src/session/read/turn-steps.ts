import type { StepId } from "../../base/index.ts";
import { now, type State, type Step, streamOf } from "../../engine/index.ts";
import type { ReverseVerb } from "./act-rows.ts";
import { viewIn } from "./look.ts";

/** One step, and what is to become of it. */
export type Reversal = { readonly step: StepId; readonly verb: ReverseVerb };

/** What leads back to a seq: each step that stands otherwise than it did then, the last change first. */
export function stepsSince(state: State, seq: number): readonly Reversal[] {
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

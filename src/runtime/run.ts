import { type ApertureError, apertureError, fail, type Result } from "../base/index.ts";
import { usual } from "./agent.ts";
import { type Asked, askedOf, begunCalls } from "./asked.ts";
import { recordClosed } from "./closing.ts";
import { Draft } from "./draft.ts";
import { nextStep } from "./next-step.ts";
import { viewIn } from "./rendering.ts";
import { addResult, failed } from "./result.ts";
import type { Run, RunPlace } from "./run-place.ts";
import { runTools } from "./run-tools.ts";
import { sendTurn } from "./send.ts";
import { problemText } from "./takeable.ts";

/** How a run came to its end, and whether the log knows: what it does not know of is not over for it. */
export type RunEnd = { readonly is: "done" | "failed" | "cancelled"; readonly isRecorded: boolean };

/**
 * From being asked until the agent has answered in words. Each step is read from the log, so it makes no
 * difference whether the run has just begun, is in its tenth round, or was cut off and is taken up again.
 */
export async function runActivation(place: RunPlace, run: Run): Promise<RunEnd> {
  try {
    return await goOn(place, run);
  } catch (error) {
    return over(place, run, apertureError("AP_RUNTIME_FAULT", { problem: problemText(error) }));
  }
}

async function goOn(place: RunPlace, run: Run): Promise<RunEnd> {
  const { log, standing } = place;
  const { beganSeq } = askedOf(log.moment(), viewIn(log.moment(), run), standing);
  for (;;) {
    const moment = log.moment();
    const view = viewIn(moment, run);
    const asked = askedOf(moment, view, standing);
    if (isOver(asked, beganSeq)) return { is: "done", isRecorded: true };
    if (run.signal.aborted)
      return run.isLeft() ? { is: "cancelled", isRecorded: true } : over(place, run, "cancelled");
    const done = await take(place, run, nextStep(moment, view, asked));
    if (!done.ok && !run.signal.aborted) return over(place, run, done.error);
  }
}

/** What is asked now was asked of the next run, if anything is. */
function isOver(asked: Asked, beganSeq: number): boolean {
  return asked.answering.length === 0 || asked.beganSeq !== beganSeq;
}

async function take(place: RunPlace, run: Run, step: ReturnType<typeof nextStep>): Promise<Result<void>> {
  switch (step.type) {
    case "close":
      return recordClosed(place, run, { outcome: "interrupted", totalMs: 0, bytes: 0 });
    case "tools":
      return await runTools(place, run, step.calls);
    case "send": {
      const { name, roundsMax = usual.roundsMax } = run.agent;
      // Asked for words after the last round, it called a tool again.
      if (step.rounds > roundsMax) return fail("AP_RUNTIME_ROUNDS", { agent: name, rounds: step.rounds });
      return await sendTurn(place, run, step.rounds);
    }
    case "finish":
      return end(place, run, { notice: null, isCancelled: false });
  }
}

/** What went wrong is told to everybody in the stream, the agent too when it looks again. */
function over(place: RunPlace, run: Run, why: ApertureError | "cancelled"): RunEnd {
  const text = why === "cancelled" ? null : `${run.agent.name} could not answer: ${why.message}`;
  const isRecorded = end(place, run, { notice: text, isCancelled: why === "cancelled" }).ok;
  if (text !== null) place.tell({ type: "notice", stream: place.nameOf(run.memory.stream), text });
  return { is: why === "cancelled" ? "cancelled" : "failed", isRecorded };
}

export type Ending = { readonly notice: string | null; readonly isCancelled: boolean };

/**
 * Writes down that a run is over: nothing is asked any more, nothing goes on, and no call is left without a
 * result, which no provider takes. Whoever is stopped does not begin with what it was asked meanwhile.
 */
export function end(
  { log, standing }: Pick<RunPlace, "log" | "standing">,
  run: Pick<Run, "memory">,
  { notice, isCancelled }: Ending,
): Result<void> {
  const { stream } = run.memory;
  const draft = new Draft(log);
  const moment = log.moment();
  const view = viewIn(moment, run);
  const asked = askedOf(moment, view, standing);
  for (const { id } of [...asked.answering, ...(isCancelled ? asked.waiting : [])]) draft.remove(id);
  for (const { id } of begunCalls(moment, view, standing)) draft.remove(id);
  const step = nextStep(moment, view, asked);
  for (const call of step.type === "tools" ? step.calls : []) addResult(draft, moment, { ...notMade, call });
  if (notice !== null) {
    draft.text({ kind: "notice", stream, speaker: "space", taint: "untrusted", text: notice });
  }
  const { deltas, contents } = draft;
  const appended = log.append({ stream, actor: "client", cause: "response", deltas, contents });
  return appended.ok ? { ok: true, value: undefined } : appended;
}

const notMade = failed("This call was not made: the run was ended.");

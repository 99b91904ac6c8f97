import { type ApertureError, apertureError, fail, type Result } from "../base/index.ts";
import { blockOf } from "../engine/index.ts";
import { usual } from "./agent.ts";
import { Draft } from "./draft.ts";
import { nextStep } from "./next-step.ts";
import { viewIn } from "./rendering.ts";
import type { Run, RunPlace } from "./run-place.ts";
import { resultWish, runTools } from "./run-tools.ts";
import { recordClosed, sendTurn } from "./send.ts";

export type RunEnd = "done" | "failed" | "cancelled";

/**
 * From an activation until the agent has answered in words. Each step is read from the log, so it makes no
 * difference whether the run has just begun, is in its tenth round, or was cut off and is taken up again.
 */
export async function runActivation(place: RunPlace, run: Run): Promise<RunEnd> {
  try {
    return await goOn(place, run);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return over(place, run, apertureError("AP_RUNTIME_FAULT", { problem }));
  }
}

async function goOn(place: RunPlace, run: Run): Promise<RunEnd> {
  const { log } = place;
  for (;;) {
    const moment = log.moment();
    if (blockOf(moment, run.activation.id) === null) return "done";
    if (run.signal.aborted) return run.isLeft() ? "cancelled" : over(place, run, "cancelled");
    const step = nextStep(moment, viewIn(moment, run), run.activation);
    const done = await take(place, run, step);
    if (!done.ok && !run.signal.aborted) return over(place, run, done.error);
    if (step.type === "finish") return "done";
  }
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
      return end(place, run, null);
  }
}

/** What went wrong is told to everybody in the stream, the agent too when it looks again. */
function over(place: RunPlace, run: Run, why: ApertureError | "cancelled"): RunEnd {
  const text = why === "cancelled" ? null : `${run.agent.name} could not answer: ${why.message}`;
  end(place, run, text);
  if (text !== null) place.tell({ type: "notice", stream: place.nameOf(run.memory.stream), text });
  return why === "cancelled" ? "cancelled" : "failed";
}

function end({ log }: RunPlace, run: Run, notice: string | null): Result<void> {
  const { activation, memory } = run;
  const draft = new Draft(log);
  draft.remove(activation.id);
  const step = nextStep(log.moment(), viewIn(log.moment(), run), activation);
  // A call without a result is nothing that a provider takes.
  for (const call of step.type === "tools" ? step.calls : []) {
    draft.block(
      resultWish(run, call, { content: "This call was not made: the run was ended.", isError: true }),
    );
  }
  if (notice !== null) {
    draft.text({ kind: "notice", stream: memory.stream, speaker: "space", taint: "untrusted", text: notice });
  }
  const { deltas, contents } = draft;
  const appended = log.append({
    stream: memory.stream,
    actor: "client",
    cause: "response",
    deltas,
    contents,
  });
  return appended.ok ? { ok: true, value: undefined } : appended;
}

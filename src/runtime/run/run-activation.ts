import { type ApertureError, apertureError, fail, type Result } from "../../base/index.ts";
import { agentDefaults } from "../agent.ts";
import { viewOfRun } from "../prompt/plan-prompt.ts";
import type { AgentRun, RunDeps } from "../run-deps.ts";
import { type RunStatus, runStatusOf, startedCalls } from "../run-status.ts";
import { problemText } from "../sendable.ts";
import { SpaceDraft } from "../space-draft.ts";
import { recordPromptEnd } from "./prompt-end.ts";
import { nextRunStep, type RunStep } from "./run-step.ts";
import { runTools } from "./run-tools.ts";
import { runTurn } from "./run-turn.ts";
import { addResult, failedOutcome } from "./tool-outcome.ts";

/** How a run ended. If the log refused to record the end, the run is still pending in the log. */
export type RunEnd = { readonly is: "done" | "failed" | "cancelled"; readonly isRecorded: boolean };

/**
 * Runs an agent until it has answered in text. Each step is read from the log, so it makes no difference
 * whether the run has just begun, is in its tenth round, or continues after a crash.
 */
export async function runActivation(deps: RunDeps, run: AgentRun): Promise<RunEnd> {
  try {
    return await runSteps(deps, run);
  } catch (error) {
    return failOrCancel(deps, run, apertureError("AP_RUNTIME_FAULT", { problem: problemText(error) }));
  }
}

async function runSteps(deps: RunDeps, run: AgentRun): Promise<RunEnd> {
  const { log, index } = deps;
  const { startSeq } = runStatusOf(log.moment(), viewOfRun(log.moment(), run), index);
  for (;;) {
    const moment = log.moment();
    const view = viewOfRun(moment, run);
    const status = runStatusOf(moment, view, index);
    if (isOver(status, startSeq)) return { is: "done", isRecorded: true };
    if (run.signal.aborted)
      return run.isSuspended() ? { is: "cancelled", isRecorded: true } : failOrCancel(deps, run, "cancelled");
    const done = await runStep(deps, run, nextRunStep(moment, view, status));
    if (!done.ok && !run.signal.aborted) return failOrCancel(deps, run, done.error);
  }
}

/** True if the activations of this run are gone: any that remain belong to the next run. */
function isOver(status: RunStatus, startSeq: number): boolean {
  return status.current.length === 0 || status.startSeq !== startSeq;
}

async function runStep(deps: RunDeps, run: AgentRun, step: RunStep): Promise<Result<void>> {
  switch (step.type) {
    case "close":
      return recordPromptEnd(deps, run, { outcome: "interrupted", totalMs: 0, bytes: 0 });
    case "tools":
      return await runTools(deps, run, step.calls);
    case "send": {
      const { name, roundsMax = agentDefaults.roundsMax } = run.agent;
      // The agent called a tool again although the last round had to be answered in text.
      if (step.rounds > roundsMax) return fail("AP_RUNTIME_ROUNDS", { agent: name, rounds: step.rounds });
      return await runTurn(deps, run, step.rounds);
    }
    case "finish":
      return recordRunEnd(deps, run, { notice: null, isCancelled: false });
  }
}

/** Ends a run early. A failure becomes a notice in the stream, which the agent also reads in its next run. */
function failOrCancel(deps: RunDeps, run: AgentRun, why: ApertureError | "cancelled"): RunEnd {
  const text = why === "cancelled" ? null : `${run.agent.name} could not answer: ${why.message}`;
  const isRecorded = recordRunEnd(deps, run, { notice: text, isCancelled: why === "cancelled" }).ok;
  if (text !== null) deps.emit({ type: "notice", stream: deps.streamName(run.agentStream.stream), text });
  return { is: why === "cancelled" ? "cancelled" : "failed", isRecorded };
}

/**
 * Records the end of a run: removes its activations and started calls, and gives every open call a result,
 * because providers refuse a call without one. A cancelled run also drops the activations that wait for the
 * next run.
 */
export function recordRunEnd(
  { log, index }: Pick<RunDeps, "log" | "index">,
  run: Pick<AgentRun, "agentStream">,
  { notice, isCancelled }: { readonly notice: string | null; readonly isCancelled: boolean },
): Result<void> {
  const { stream } = run.agentStream;
  const draft = new SpaceDraft(log);
  const moment = log.moment();
  const view = viewOfRun(moment, run);
  const status = runStatusOf(moment, view, index);
  for (const { id } of [...status.current, ...(isCancelled ? status.later : [])]) draft.removeBlock(id);
  for (const { id } of startedCalls(moment, view, index)) draft.removeBlock(id);
  const step = nextRunStep(moment, view, status);
  for (const call of step.type === "tools" ? step.calls : []) addResult(draft, moment, { ...notMade, call });
  if (notice !== null) {
    draft.addText({ kind: "notice", stream, speaker: "space", taint: "untrusted", text: notice });
  }
  const { deltas, contents } = draft;
  const appended = log.append({ stream, actor: "client", cause: "response", deltas, contents });
  return appended.ok ? { ok: true, value: undefined } : appended;
}

const notMade = failedOutcome("This call was not made: the run was ended.");

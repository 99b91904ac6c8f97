import { apertureError, fail, must, ok, type Result } from "../base/index.ts";
import { taintedReason } from "../commands/index.ts";
import { type ChangeContext, nextStepId, ruleChanges } from "../engine/index.ts";
import { type ApprovalState, approvalOf, type Moment, now, viewOf } from "../engine/moment/index.ts";
import {
  type ApprovalRow,
  approvalRow,
  approvedCommand,
  type CommandLog,
  executeCommand,
} from "../execute/index.ts";
import { type Agent, agentDefaults } from "./agent.ts";
import type { AgentStream } from "./agent-stream.ts";
import { runOptimistically } from "./run/run-optimistically.ts";
import type { SpaceLog } from "./space-log.ts";

/** A command of an agent that waits for the user's approval, or how it was decided. */
export type AgentApproval = Omit<ApprovalRow, "stream" | "actor" | "cut" | "seq"> & {
  readonly stream: string;
  readonly agent: string;
};

export type DecisionOptions = {
  /** The agent is told this reason. */
  readonly reason?: string;
  /**
   * How long the decision also holds for other commands with the same verb. Absent: `once`, only this
   * command.
   */
  readonly scope?: "once" | "turn" | "session";
};

/** The outcome of a decision, and the step that undoes it. Both are null if nothing was done. */
export type DecisionResult = { readonly outcome: string | null; readonly step: number | null };

/** The approvals that wait, oldest first; with `all` also those that were decided. */
export async function listAgentApprovals(
  log: SpaceLog,
  streamName: (stream: number) => string,
  { all = false }: { readonly all?: boolean },
): Promise<readonly AgentApproval[]> {
  const moment = log.moment();
  const known = [...moment.state.approvals.entries()].flatMap(([at]) => approvalOf(moment, at + 1) ?? []);
  const rows: AgentApproval[] = [];
  for (const approval of known.filter(({ stand }) => all || stand === "waiting")) {
    const { agent } = must(viewOf(moment, approval.view), "an approval has a view");
    const { stream, actor: _, cut: __, seq: ___, ...row } = await approvalRow(log.store, moment, approval);
    rows.push({ ...row, stream: streamName(stream), agent });
  }
  return rows;
}

export type DecisionInput = DecisionOptions & {
  readonly approval: number;
  readonly to: "approved" | "denied";
};
export type DecisionDeps = {
  readonly log: SpaceLog;
  readonly agentStream: AgentStream;
  /** Null if the agent is not in this space now; then the defaults apply. */
  readonly agent: Agent | null;
};

/** Decides an approval for good. An approved command is carried out now, on behalf of the agent. */
export async function decideAgentApproval(
  deps: DecisionDeps,
  input: DecisionInput,
): Promise<Result<DecisionResult>> {
  const { log, agentStream } = deps;
  const release = log.store.hold();
  try {
    return await runOptimistically(log, agentStream, (live) => decideIn(deps, input, live));
  } finally {
    release();
  }
}

async function decideIn(
  deps: DecisionDeps,
  { approval: id, to, reason = "", scope = "once" }: DecisionInput,
  live: CommandLog,
): Promise<Result<DecisionResult>> {
  const waiting = waitingApproval(now(live.state()), id);
  if (!waiting.ok) return waiting;
  const done = to === "approved" ? await carryOutApproved(deps, waiting.value, live) : nothingDone;
  const { view: viewId, actor, verb } = waiting.value;
  const moment = now(live.state());
  const view = must(viewOf(moment, viewId), "an approval has a view");
  const change: ChangeContext = { moment, view, actor: "user" };
  // An approved command that failed must not be reported as a success.
  const reportedReason = done.isError ? `not done: ${done.outcome}` : reason;
  const decided = ruleChanges.decideApproval(change, id, { to, reason: reportedReason });
  if (!decided.ok) return decided;
  const decisionCarried = live.append({ deltas: [decided.value], actor: "user", cause: withoutStep });
  if (!decisionCarried.ok) return decisionCarried;
  const rule = to === "approved" ? "allow" : "deny";
  const permitted =
    scope === "once" ? ok([]) : ruleChanges.setPermission(change, { actor, verb }, { rule, scope });
  if (!permitted.ok) return permitted;
  const cause = { type: "command", step: nextStepId(live.state()), reason: "" } as const;
  const permissionCarried = live.append({ deltas: permitted.value, actor: "user", cause });
  return permissionCarried.ok ? ok({ outcome: done.outcome, step: done.step }) : permissionCarried;
}

const withoutStep = { type: "command", step: null, reason: "" } as const;
/** The user reads the outcome, not a model, so the notes in it need no secret nonce. */
const placeholderNonce = "----";
const unreadableCommand = apertureError("AP_COMMAND_INVALID", {
  problem: "its text cannot be read any more",
});

type ApprovedCommandResult = DecisionResult & { readonly isError: boolean };
const nothingDone: ApprovedCommandResult = { outcome: null, step: null, isError: false };

/** Carries out an approved command the way every command goes: what is never allowed stays forbidden. */
async function carryOutApproved(
  { log, agentStream, agent }: DecisionDeps,
  approval: ApprovalState,
  live: CommandLog,
): Promise<ApprovedCommandResult> {
  const command = await approvedCommand(approval, log.store);
  if (command === null) return { outcome: unreadableCommand.message, step: null, isError: true };
  const windowOf = (): number => agent?.budgetTokens ?? agentDefaults.budgetTokens;
  const target = {
    index: { view: agentStream.view },
    ids: agentStream.ids,
    actions: agentStream.recorder.actions,
  };
  const carried = await executeCommand(
    { store: log.store, windowOf },
    {
      log: live,
      stream: target,
      model: agent?.model ?? null,
      actor: approval.actor,
      mode: "auto",
      isTainted: approval.why === taintedReason,
      nonce: placeholderNonce,
      requestId: null,
      isApproved: true,
    },
    command,
  );
  if (!carried.ok) return { outcome: carried.error.message, step: null, isError: true };
  const { text, step, isError } = carried.value;
  return { outcome: text, step, isError };
}

/** Finds an approval that can be decided: it exists and still waits. */
export function waitingApproval(moment: Moment, id: number): Result<ApprovalState> {
  const approval = approvalOf(moment, id);
  if (approval === null) return fail("AP_APPROVAL_UNKNOWN", { approval: id });
  if (approval.stand === "waiting") return ok(approval);
  return fail("AP_APPROVAL_DECIDED", { approval: id, stand: approval.stand });
}

import { apertureError, fail, must, ok, type Result } from "../base/index.ts";
import { taintedReason, type Verb } from "../commands/index.ts";
import { type ChangeContext, nextStepId, ruleChanges } from "../engine/index.ts";
import {
  type ApprovalState,
  approvalOf,
  blockViewOf,
  now,
  streamOf,
  viewOf,
  zoneOf,
} from "../engine/moment/index.ts";
import { type Durability, modelIn } from "../log/index.ts";
import { maskNonce, openSessionState, shortNonce } from "../queries/index.ts";
import type { LiveSession, RecordedStream } from "../recorder/index.ts";
import type { DecideAnswer } from "./act-answers.ts";
import type { ActDeps, DecideAct } from "./acts.ts";
import { commandLogOf } from "./command-log.ts";
import { executeCommand } from "./execute-command.ts";
import { approvalRow } from "./list-approvals.ts";
import { noPermissions } from "./permission-store.ts";
import { approvedCommand } from "./request-approval.ts";

type DecidedRow = DecideAnswer["rows"][number];

/** Applies the user's decision on commands that wait. It is final, and approved commands are executed now. */
export async function decideApprovals(
  deps: ActDeps,
  act: DecideAct,
): Promise<Result<DecideAnswer & Durability>> {
  const state = await openSessionState(deps, act.session);
  if (!state.ok) return state;
  return await deps.inSession(state.value.session, async (live) => {
    const chosen = chosenApprovals(live, act.approval);
    if (!chosen.ok) return chosen;
    const rows: DecidedRow[] = [];
    for (const approval of chosen.value) {
      const decided = await decideOne(deps, { live, act }, approval);
      if (!decided.ok) return decided;
      rows.push(decided.value);
    }
    const { session, seq } = live.state();
    return ok({ session, seq, rows });
  });
}

function chosenApprovals(live: LiveSession, requested: number | "all"): Result<readonly ApprovalState[]> {
  const moment = now(live.state());
  if (requested !== "all") {
    const found = approvalOf(moment, requested);
    return found === null ? fail("AP_APPROVAL_UNKNOWN", { approval: requested }) : ok([found]);
  }
  const all = [...live.state().approvals.entries()].flatMap(([at]) => approvalOf(moment, at + 1) ?? []);
  return ok(all.filter(({ stand }) => stand === "waiting"));
}

type DecisionContext = { readonly live: LiveSession; readonly act: DecideAct };

async function decideOne(
  deps: ActDeps,
  { live, act }: DecisionContext,
  approval: ApprovalState,
): Promise<Result<DecidedRow>> {
  const { to, reason } = act;
  const { stream, change } = approvalContext(live, approval);
  const tried = to === "approved" ? await executeApproved(deps, { live, isDry: true }, approval) : null;
  // An approved command that fails must not be reported as a success.
  const recordedReason = tried?.isError ? `not done: ${tried.outcome}` : reason;
  const decided = ruleChanges.decideApproval(change(), approval.id, { to, reason: recordedReason });
  if (!decided.ok) return decided;
  const cause = { type: "command", step: null, reason: "" } as const;
  const recorded = live.append({ deltas: [decided.value], actor: "user", cause, stream });
  if (!recorded.ok) return recorded;
  const permission =
    act.scope === "always"
      ? keepLastingPermission(deps, { live, act }, approval)
      : setScopedPermission({ live, act }, approval);
  if (!permission.ok) return permission;
  const done = to === "approved" ? await executeApproved(deps, { live, isDry: false }, approval) : null;
  const after = now(live.state());
  const row = await approvalRow(deps.store, after, must(approvalOf(after, approval.id), "it was decided"));
  return ok({ ...row, outcome: done?.outcome ?? null, step: done?.step ?? null });
}

/** A decision with a longer scope becomes a permission, which is a step of its own. */
function setScopedPermission({ live, act }: DecisionContext, approval: ApprovalState): Result<void> {
  const { to, scope } = act;
  if (scope === "once" || scope === "always") return ok(undefined);
  const { stream, change } = approvalContext(live, approval);
  const { actor, verb } = approval;
  const rule = ruleOf(to);
  const deltas = ruleChanges.setPermission(change(), { actor, verb }, { rule, scope });
  if (!deltas.ok) return deltas;
  const step = nextStepId(live.state());
  return live.append({
    deltas: deltas.value,
    actor: "user",
    cause: { type: "command", step, reason: "" },
    stream,
  });
}

function ruleOf(to: DecideAct["to"]): "allow" | "deny" {
  return to === "approved" ? "allow" : "deny";
}

/**
 * A lasting permission holds for this verb on blocks of the zones that these blocks are in now. A command
 * about no block has no zone, so its permission holds for all.
 */
function keepLastingPermission(
  { permissions = noPermissions }: ActDeps,
  { live, act }: DecisionContext,
  { view, actor, verb, blocks }: ApprovalState,
): Result<void> {
  const moment = now(live.state());
  const own = must(viewOf(moment, view), "an approval has a view");
  const blockViews = blocks.map((block) =>
    must(blockViewOf(moment, own, block), "an approval is about its blocks"),
  );
  const zones = blockViews.length === 0 ? (["all"] as const) : new Set(blockViews.map(zoneOf));
  for (const zone of zones) {
    // An approval is about a command, so this is one of the command verbs.
    const key = { actor, verb: verb as Verb, zone };
    const kept = permissions.set({ key, rule: ruleOf(act.to) });
    if (!kept.ok) return kept;
  }
  return ok(undefined);
}

type ApprovalOutcome = { readonly outcome: string; readonly step: number | null; readonly isError: boolean };

/** Executes the command as the actor that asked for it, like any command: prohibitions still hold. */
async function executeApproved(
  deps: ActDeps,
  { live, isDry }: { readonly live: LiveSession; readonly isDry: boolean },
  approval: ApprovalState,
): Promise<ApprovalOutcome> {
  const failed = (outcome: string): ApprovalOutcome => ({ outcome, step: null, isError: true });
  const command = await approvedCommand(approval, deps.store);
  if (command === null) return failed(unreadableCommand.message);
  const { stream, model } = approvalContext(live, approval);
  const executed = await executeCommand(
    deps,
    {
      log: commandLogOf(live, stream),
      stream,
      model,
      actor: approval.actor,
      mode: "auto",
      isTainted: approval.why === taintedReason,
      nonce: shortNonce,
      requestId: null,
      isApproved: true,
      isDry,
    },
    command,
  );
  if (!executed.ok) return failed(executed.error.message);
  const { text, step, isError } = executed.value;
  return { outcome: maskNonce(text, shortNonce), step, isError };
}

const unreadableCommand = apertureError("AP_COMMAND_INVALID", {
  problem: "its text cannot be read any more",
});

type ApprovalContext = {
  readonly stream: RecordedStream;
  readonly model: string | null;
  /** Returns the change context for the present state. */
  readonly change: () => ChangeContext;
};

function approvalContext(live: LiveSession, approval: ApprovalState): ApprovalContext {
  const moment = now(live.state());
  const view = must(viewOf(moment, approval.view), "an approval has a view");
  const opened = must(streamOf(moment, view.stream), "a view has a stream");
  const recordedStream = must(live.stream(opened.name), "a stream that was recorded has a line");
  const change = (): ChangeContext => {
    const latest = now(live.state());
    return { moment: latest, view: must(viewOf(latest, approval.view), "it is there"), actor: "user" };
  };
  return { stream: recordedStream, model: modelIn(moment, opened), change };
}

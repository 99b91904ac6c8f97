import { fail, limits, ok, type Result, sameData } from "../base/index.ts";
import type { Approval, ApprovalDecision } from "./frames/approval.ts";
import type { RuleDelta } from "./frames/delta.ts";
import type { Actor } from "./frames/facts.ts";
import { modeOf, nameOf, now, permissionOf, viewOf } from "./moment/moment.ts";
import type { PermissionLog, State, View } from "./state.ts";
import { withVersion } from "./versions.ts";

type RuleDeltaOf<T extends RuleDelta["type"]> = Extract<RuleDelta, { type: T }>;

export function applyApprovalRequest(state: State, approval: Approval): Result<State> {
  const refused = (problem: string) => fail("AP_APPROVAL_INVALID", { approval: approval.id, problem });
  const next = state.approvals.size + 1;
  if (approval.id !== next) return refused(`${next} is next`);
  if (approval.id > limits.approvalsMax) return refused("there are too many");
  if (viewOf(now(state), approval.view) === null) return fail("AP_VIEW_UNKNOWN", { view: approval.view });
  if (approval.until < approval.turn) return refused("it ends before it begins");
  const named = [...approval.blocks, ...(approval.source === null ? [] : [approval.source.block])];
  if (named.some((id) => state.blocks.get(id) === undefined)) return refused("it is about an unknown block");
  const waiting: ApprovalDecision = { stand: "waiting", by: approval.actor, reason: approval.why };
  const entry = { approval, log: withVersion(null, state.seq, waiting) };
  return ok({ ...state, approvals: state.approvals.push(entry) });
}

/** The actor that may set each status: only the user approves or denies, and only policy lets one expire. */
const whoDecides: Readonly<Record<ApprovalDecision["stand"], Actor | null>> = {
  waiting: null,
  approved: "user",
  denied: "user",
  expired: "policy",
};

/**
 * An approval is decided once, for good. A decision cannot be undone: after it the command may be carried out
 * and its actor informed, so going back to waiting would be a false promise. The effect of an approved
 * command is a step of its own and can be undone; a denied command can be asked for again.
 */
export function applyApprovalDecided(state: State, delta: RuleDeltaOf<"approval-decided">): Result<State> {
  const { approval: id, from, to, by, reason } = delta;
  const refused = (problem: string) => fail("AP_APPROVAL_INVALID", { approval: id, problem });
  const entry = state.approvals.get(id - 1);
  if (entry === undefined) return refused("it was never asked");
  if (entry.log.value.stand !== "waiting") return refused("it is decided already");
  if (from !== "waiting") return refused("a decision begins with waiting");
  if (to === "waiting") return refused("waiting is no decision");
  if (whoDecides[to] !== by) return refused("the user approves and denies, policy lets expire");
  const log = withVersion(entry.log, state.seq, { stand: to, by, reason });
  return ok({ ...state, approvals: state.approvals.with(id - 1, { ...entry, log }) });
}

export function applyPermissionSet(state: State, delta: RuleDeltaOf<"permission-set">): Result<State> {
  const { actor, verb, from, to } = delta;
  const view = viewOf(now(state), delta.view);
  if (view === null) return fail("AP_VIEW_UNKNOWN", { view: delta.view });
  if (!sameData(permissionOf(now(state), view, { actor, verb }), from)) {
    return fail("AP_RULE_STALE", { what: `permission of ${actor} to ${verb}` });
  }
  const { index, log } = permissionSlot(view, delta);
  if (index >= limits.permissionsMax) {
    return fail("AP_FRAME_LIMIT", { seq: state.seq, limit: "permissionsMax", actual: index + 1 });
  }
  const entry: PermissionLog = { actor, verb, log: withVersion(log, state.seq, to) };
  const permissions = view.permissions.with(index, entry);
  return ok({ ...state, views: state.views.with(view.id, { ...view, permissions }) });
}

type PermissionSlot = { readonly index: number; readonly log: PermissionLog["log"] | null };

function permissionSlot(view: View, { actor, verb }: RuleDeltaOf<"permission-set">): PermissionSlot {
  for (const [index, entry] of view.permissions.entries()) {
    if (entry.actor === actor && entry.verb === verb) return { index, log: entry.log };
  }
  return { index: view.permissions.size, log: null };
}

export function applyNameSet(state: State, { from, to }: RuleDeltaOf<"name-set">): Result<State> {
  if (nameOf(now(state)) !== from) return fail("AP_RULE_STALE", { what: "name of this session" });
  return ok({ ...state, name: withVersion(state.name, state.seq, to) });
}

export function applyModeSet(state: State, { from, to }: RuleDeltaOf<"mode-set">): Result<State> {
  if (modeOf(now(state)) !== from) return fail("AP_RULE_STALE", { what: "mode of this session" });
  return ok({ ...state, mode: withVersion(state.mode, state.seq, to) });
}

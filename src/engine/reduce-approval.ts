import { fail, limits, ok, type Result, sameData } from "../base/index.ts";
import type { Approval, Decided } from "./approval.ts";
import type { RuleDelta } from "./delta.ts";
import type { Actor } from "./facts.ts";
import { modeOf, nameOf, now, permissionOf, viewOf } from "./moment.ts";
import type { PermissionLog, State, View } from "./state.ts";
import { withVersion } from "./versions.ts";

type Change<T extends RuleDelta["type"]> = Extract<RuleDelta, { type: T }>;

export function askApproval(state: State, approval: Approval): Result<State> {
  const refused = (problem: string) => fail("AP_APPROVAL_INVALID", { approval: approval.id, problem });
  const next = state.approvals.size + 1;
  if (approval.id !== next) return refused(`${next} is next`);
  if (approval.id > limits.approvalsMax) return refused("there are too many");
  if (viewOf(now(state), approval.view) === null) return fail("AP_VIEW_UNKNOWN", { view: approval.view });
  if (approval.until < approval.turn) return refused("it ends before it begins");
  const named = [...approval.blocks, ...(approval.source === null ? [] : [approval.source.block])];
  if (named.some((id) => state.blocks.get(id) === undefined)) return refused("it is about an unknown block");
  const asked: Decided = { stand: "waiting", by: approval.actor, reason: approval.why };
  const entry = { approval, log: withVersion(null, state.seq, asked) };
  return ok({ ...state, approvals: state.approvals.push(entry) });
}

/** What the words mean: an approval is the user's yes, and only time lets one expire. */
const whoDecides: Readonly<Record<Decided["stand"], Actor | null>> = {
  waiting: null,
  approved: "user",
  denied: "user",
  expired: "policy",
};

/**
 * Decided once, for good. A decision is not taken back: from it on the command may be carried out and its
 * actor told, so a way back to waiting would promise what nobody can keep. What an approved command did is a
 * step of its own, and that is undone; what was denied is asked for again.
 */
export function decideApproval(state: State, delta: Change<"approval-decided">): Result<State> {
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

export function setPermission(state: State, delta: Change<"permission-set">): Result<State> {
  const { actor, verb, from, to } = delta;
  const view = viewOf(now(state), delta.view);
  if (view === null) return fail("AP_VIEW_UNKNOWN", { view: delta.view });
  if (!sameData(permissionOf(now(state), view, { actor, verb }), from)) {
    return fail("AP_RULE_STALE", { what: `permission of ${actor} to ${verb}` });
  }
  const { index, log } = logFor(view, delta);
  if (index >= limits.permissionsMax) {
    return fail("AP_FRAME_LIMIT", { seq: state.seq, limit: "permissionsMax", actual: index + 1 });
  }
  const entry: PermissionLog = { actor, verb, log: withVersion(log, state.seq, to) };
  const permissions = view.permissions.with(index, entry);
  return ok({ ...state, views: state.views.with(view.id, { ...view, permissions }) });
}

type LogAt = { readonly index: number; readonly log: PermissionLog["log"] | null };

function logFor(view: View, { actor, verb }: Change<"permission-set">): LogAt {
  for (const [index, entry] of view.permissions.entries()) {
    if (entry.actor === actor && entry.verb === verb) return { index, log: entry.log };
  }
  return { index: view.permissions.size, log: null };
}

export function setName(state: State, { from, to }: Change<"name-set">): Result<State> {
  if (nameOf(now(state)) !== from) return fail("AP_RULE_STALE", { what: "name of this session" });
  return ok({ ...state, name: withVersion(state.name, state.seq, to) });
}

export function setMode(state: State, { from, to }: Change<"mode-set">): Result<State> {
  if (modeOf(now(state)) !== from) return fail("AP_RULE_STALE", { what: "mode of this session" });
  return ok({ ...state, mode: withVersion(state.mode, state.seq, to) });
}

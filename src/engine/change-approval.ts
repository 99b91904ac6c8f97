import { cutText, fail, limits, must, ok, type Result, sameData, turnOf } from "../base/index.ts";
import type { ChangeContext } from "./change-facts.ts";
import type { PermissionKey } from "./frames/approval.ts";
import {
  type Approval,
  type ApprovalDecision,
  approvalTurns,
  type Mode,
  type Permission,
} from "./frames/approval.ts";
import type { Delta } from "./frames/delta.ts";
import { approvalOf, approvalsOf, modeOf, nameOf, permissionOf, streamOf, turnNow } from "./moment/moment.ts";

/** A command that needs the user's approval. */
export type ApprovalInput = Pick<
  Approval,
  "verb" | "command" | "text" | "blocks" | "why" | "tokens" | "source"
>;

/**
 * Asks the user to approve commands. To be appended without a step: a question cannot be undone. A command
 * longer than the limits is refused when it is appended, and never cut: a cut command would be another one.
 */
export function askApprovals(context: ChangeContext, askings: readonly ApprovalInput[]): readonly Delta[] {
  const { moment, view, actor } = context;
  const turn = turnIn(context);
  return askings.map((asking, index) => {
    const { verb, command, text, blocks, tokens, source } = asking;
    const why = cutText(asking.why, limits.reasonCharsMax);
    const id = moment.state.approvals.size + 1 + index;
    const what = { verb, command, text, blocks, why, tokens, source };
    const until = turnOf(turn + approvalTurns);
    return { type: "approval-asked", approval: { id, view: view.id, actor, ...what, turn, until } };
  });
}

/** Only the user decides, and only once. To be appended without a step, since a decision cannot be undone. */
export function decideApproval(
  context: ChangeContext,
  id: number,
  { to, reason }: { readonly to: "approved" | "denied"; readonly reason: string },
): Result<Delta> {
  if (context.actor !== "user") return fail("AP_CHANGE_USER", { what: "approve or deny" });
  const approval = approvalOf(context.moment, id);
  if (approval === null || approval.view !== context.view.id)
    return fail("AP_APPROVAL_UNKNOWN", { approval: id });
  if (approval.stand !== "waiting")
    return fail("AP_APPROVAL_DECIDED", { approval: id, stand: approval.stand });
  return ok(decisionDelta(id, { stand: to, by: "user", reason: cutText(reason, limits.reasonCharsMax) }));
}

/** Ends the approvals of a view that have waited too long. To be appended by policy, without a step. */
export function expireApprovals({ moment, view }: Omit<ChangeContext, "actor">): readonly Delta[] {
  const turn = turnIn({ moment, view });
  const late = approvalsOf(moment, view).filter(({ stand, until }) => stand === "waiting" && until < turn);
  return late.map(({ id }) =>
    decisionDelta(id, { stand: "expired", by: "policy", reason: "nobody decided" }),
  );
}

function decisionDelta(approval: number, { stand: to, by, reason }: ApprovalDecision): Delta {
  return { type: "approval-decided", approval, from: "waiting", to, by, reason };
}

/** Null withdraws the permission. A permission for a turn always ends with the present turn. */
export function setPermission(
  context: ChangeContext,
  key: PermissionKey,
  wanted: Omit<Permission, "until"> | null,
): Result<readonly Delta[]> {
  if (context.actor !== "user") return fail("AP_CHANGE_USER", { what: "say what is permitted" });
  const until = wanted?.scope === "turn" ? turnIn(context) : null;
  return ok(permissionSet(context, key, wanted === null ? null : { ...wanted, until }));
}

/**
 * Withdraws a permission that was given for one use. To be appended by policy, without a step: undoing the
 * command must not give the permission back.
 */
export function spendPermission(context: Omit<ChangeContext, "actor">, key: PermissionKey): readonly Delta[] {
  const spent = permissionOf(context.moment, context.view, key)?.scope === "once";
  return spent ? permissionSet(context, key, null) : [];
}

function permissionSet(
  { moment, view }: Omit<ChangeContext, "actor">,
  { actor, verb }: PermissionKey,
  to: Permission | null,
): readonly Delta[] {
  const from = permissionOf(moment, view, { actor, verb });
  return sameData(from, to) ? [] : [{ type: "permission-set", view: view.id, actor, verb, from, to }];
}

/** Sets the mode of the whole session. Null returns to the configured mode. */
export function setMode(
  { moment, actor }: Omit<ChangeContext, "view">,
  to: Mode | null,
): Result<readonly Delta[]> {
  if (actor !== "user") return fail("AP_CHANGE_USER", { what: "set the mode" });
  const from = modeOf(moment);
  return ok(from === to ? [] : [{ type: "mode-set", from, to }]);
}

/** Names the session. Null returns to the name derived from its content. */
export function setName(
  { moment, actor }: Omit<ChangeContext, "view">,
  to: string | null,
): Result<readonly Delta[]> {
  if (actor !== "user") return fail("AP_CHANGE_USER", { what: "name the session" });
  const from = nameOf(moment);
  return ok(from === to ? [] : [{ type: "name-set", from, to }]);
}

function turnIn({ moment, view }: Omit<ChangeContext, "actor">): Approval["turn"] {
  return turnNow(moment, must(streamOf(moment, view.stream), "a view has a stream"));
}

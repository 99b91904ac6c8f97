import { cutText, fail, limits, must, ok, type Result, sameData, turnOf } from "../base/index.ts";
import type { PermissionKey } from "./approval.ts";
import { type Approval, approvalTurns, type Decided, type Mode, type Permission } from "./approval.ts";
import type { Change } from "./change.ts";
import type { Delta } from "./delta.ts";
import { approvalOf, approvalsOf, modeOf, nameOf, permissionOf, streamOf, turnNow } from "./moment.ts";

/** What somebody wants to do and may not without being asked. */
export type Asking = Pick<Approval, "verb" | "command" | "text" | "blocks" | "why" | "tokens" | "source">;

/**
 * Puts commands before the user. To be appended without a step: a question cannot be taken back. What is
 * longer than the limits is refused when it is appended and never cut: a cut command would be another one.
 */
export function askApprovals(change: Change, askings: readonly Asking[]): readonly Delta[] {
  const { moment, view, actor } = change;
  const turn = turnIn(change);
  return askings.map((asking, index) => {
    const { verb, command, text, blocks, tokens, source } = asking;
    const why = cutText(asking.why, limits.reasonCharsMax);
    const id = moment.state.approvals.size + 1 + index;
    const what = { verb, command, text, blocks, why, tokens, source };
    const until = turnOf(turn + approvalTurns);
    return { type: "approval-asked", approval: { id, view: view.id, actor, ...what, turn, until } };
  });
}

type Answer = { readonly to: "approved" | "denied"; readonly reason: string };

/** Only the user decides, and only once. To be appended without a step, as it cannot be taken back. */
export function decideApproval(change: Change, id: number, { to, reason }: Answer): Result<Delta> {
  if (change.actor !== "user") return fail("AP_CHANGE_USER", { what: "approve or deny" });
  const found = approvalOf(change.moment, id);
  if (found === null || found.view !== change.view.id) return fail("AP_APPROVAL_UNKNOWN", { approval: id });
  if (found.stand !== "waiting") return fail("AP_APPROVAL_DECIDED", { approval: id, stand: found.stand });
  return ok(decided(id, { stand: to, by: "user", reason: cutText(reason, limits.reasonCharsMax) }));
}

/** What has waited for too long in a view. To be appended by policy, without a step. */
export function expireApprovals({ moment, view }: Omit<Change, "actor">): readonly Delta[] {
  const turn = turnIn({ moment, view });
  const late = approvalsOf(moment, view).filter(({ stand, until }) => stand === "waiting" && until < turn);
  return late.map(({ id }) => decided(id, { stand: "expired", by: "policy", reason: "nobody decided" }));
}

function decided(approval: number, { stand: to, by, reason }: Decided): Delta {
  return { type: "approval-decided", approval, from: "waiting", to, by, reason };
}

/** Null takes back what was said. Whatever `until` a caller has in mind, a turn is the present one. */
export function setPermission(
  change: Change,
  key: PermissionKey,
  wanted: Omit<Permission, "until"> | null,
): Result<readonly Delta[]> {
  if (change.actor !== "user") return fail("AP_CHANGE_USER", { what: "say what is permitted" });
  const until = wanted?.scope === "turn" ? turnIn(change) : null;
  return ok(permissionSet(change, key, wanted === null ? null : { ...wanted, until }));
}

/**
 * A permission for once has been used. To be appended by policy, without a step: whoever undoes the command
 * shall not get the permission back with it.
 */
export function spendPermission(change: Omit<Change, "actor">, key: PermissionKey): readonly Delta[] {
  const spent = permissionOf(change.moment, change.view, key)?.scope === "once";
  return spent ? permissionSet(change, key, null) : [];
}

function permissionSet(
  { moment, view }: Omit<Change, "actor">,
  { actor, verb }: PermissionKey,
  to: Permission | null,
): readonly Delta[] {
  const from = permissionOf(moment, view, { actor, verb });
  return sameData(from, to) ? [] : [{ type: "permission-set", view: view.id, actor, verb, from, to }];
}

/** For the session as a whole; null: as it is configured. */
export function setMode({ moment, actor }: Omit<Change, "view">, to: Mode | null): Result<readonly Delta[]> {
  if (actor !== "user") return fail("AP_CHANGE_USER", { what: "set the mode" });
  const from = modeOf(moment);
  return ok(from === to ? [] : [{ type: "mode-set", from, to }]);
}

/** What the user calls the session; null: by what it is about. */
export function setName(
  { moment, actor }: Omit<Change, "view">,
  to: string | null,
): Result<readonly Delta[]> {
  if (actor !== "user") return fail("AP_CHANGE_USER", { what: "name the session" });
  const from = nameOf(moment);
  return ok(from === to ? [] : [{ type: "name-set", from, to }]);
}

function turnIn({ moment, view }: Omit<Change, "actor">): Approval["turn"] {
  return turnNow(moment, must(streamOf(moment, view.stream), "a view has a stream"));
}

import { describe, expect, it } from "vitest";
import { mainView, TestSession } from "../../test/support/engine.ts";
import { hashContent, limits, unwrap, viewId } from "../base/index.ts";
import {
  type ApprovalInput,
  askApprovals,
  decideApproval,
  expireApprovals,
  setMode,
  setPermission,
  spendPermission,
} from "./change-approval.ts";
import type { ChangeContext } from "./change-facts.ts";
import { approvalTurns } from "./frames/approval.ts";
import { type Actor, actors } from "./frames/facts.ts";
import { checkDraft } from "./frames/frame-shape.ts";
import { approvalsOf, modeOf, now, permissionsOf } from "./moment/moment.ts";

const input: ApprovalInput = {
  verb: "create",
  command: '@create(topic: "ports")',
  text: hashContent("the port is 8080"),
  blocks: [],
  why: "what was read asks for it",
  tokens: { count: 5, exact: false },
  source: null,
};
const key = { actor: "model", verb: "archive" } as const;
const contextOf = (session: TestSession, actor: Actor): ChangeContext => ({
  moment: now(session.state),
  view: session.view(),
  actor,
});
const others = actors.filter((actor) => actor !== "user");
const approvals = (session: TestSession) => approvalsOf(now(session.state), session.view());
const permissions = (session: TestSession) => permissionsOf(now(session.state), session.view());

describe("asking for approval", () => {
  it("numbers approvals in order and lets each wait twenty turns", () => {
    const session = new TestSession();
    session.add();
    session.send();
    session.append(askApprovals(contextOf(session, "model"), [input, { ...input, verb: "update" }]));
    session.append(askApprovals(contextOf(session, "sidecar"), [input]));
    expect(approvals(session)).toMatchObject([
      { id: 1, verb: "create", actor: "model", turn: 1, until: 1 + approvalTurns, stand: "waiting" },
      { id: 2, verb: "update", actor: "model" },
      { id: 3, verb: "create", actor: "sidecar", by: "sidecar" },
    ]);
  });

  it("refuses a command that is too long, and never cuts it", () => {
    const session = new TestSession();
    const drafted = (length: number) => {
      const command = "x".repeat(length);
      const {
        prevHash: _,
        hash: __,
        ...draft
      } = session.frame(
        askApprovals(contextOf(session, "model"), [{ ...input, command, why: "y".repeat(9_000) }]),
      );
      return checkDraft(draft).ok;
    };
    expect([drafted(limits.commandCharsMax), drafted(limits.commandCharsMax + 1)]).toEqual([true, false]);
  });
});

describe("deciding an approval", () => {
  const waiting = (): TestSession => {
    const session = new TestSession();
    session.append(askApprovals(contextOf(session, "model"), [input]));
    return session;
  };

  it.each(["approved", "denied"] as const)("the user sets %s, and only once", (to) => {
    const session = waiting();
    const answer = { to, reason: "because" };
    session.append([unwrap(decideApproval(contextOf(session, "user"), 1, answer))]);
    expect(approvals(session)).toMatchObject([{ stand: to, by: "user", reason: "because" }]);
    expect(decideApproval(contextOf(session, "user"), 1, answer)).toMatchObject({
      error: { code: "AP_APPROVAL_DECIDED", details: { stand: to } },
    });
  });

  it.each(others)("%s may not decide, permit or set the mode", (actor) => {
    const session = waiting();
    const change = contextOf(session, actor);
    const refused = { error: { code: "AP_CHANGE_USER" } };
    expect(decideApproval(change, 1, { to: "approved", reason: "" })).toMatchObject(refused);
    expect(setPermission(change, key, { rule: "allow", scope: "session" })).toMatchObject(refused);
    expect(setMode(change, "auto")).toMatchObject(refused);
  });

  it("only finds approvals of its own view", () => {
    const session = waiting();
    const answer = { to: "approved", reason: "" } as const;
    const unknown = { error: { code: "AP_APPROVAL_UNKNOWN" } };
    expect(decideApproval(contextOf(session, "user"), 2, answer)).toMatchObject(unknown);
    const view = { ...session.view(), id: viewId(mainView + 1) };
    expect(decideApproval({ ...contextOf(session, "user"), view }, 1, answer)).toMatchObject(unknown);
  });

  it("policy expires an approval after its last turn, and no sooner", () => {
    const session = new TestSession();
    session.add();
    session.send();
    session.append(askApprovals(contextOf(session, "model"), [input, input]));
    session.append([unwrap(decideApproval(contextOf(session, "user"), 2, { to: "denied", reason: "" }))]);
    for (let turn = 0; turn < approvalTurns; turn += 1) session.send();
    expect(expireApprovals(contextOf(session, "policy"))).toEqual([]);
    session.send();
    session.append(expireApprovals(contextOf(session, "policy")));
    expect(approvals(session)).toMatchObject([{ stand: "expired", by: "policy" }, { stand: "denied" }]);
    expect(expireApprovals(contextOf(session, "policy"))).toEqual([]);
  });
});

describe("a permission", () => {
  it("holds for a turn or for the session; setting it again changes nothing", () => {
    const session = new TestSession();
    const say = (scope: "turn" | "session") =>
      unwrap(setPermission(contextOf(session, "user"), key, { rule: "allow", scope }));
    session.append(say("turn"));
    expect(permissions(session)).toEqual([{ ...key, rule: "allow", scope: "turn", until: 0 }]);
    session.append(say("session"));
    expect(permissions(session)).toEqual([{ ...key, rule: "allow", scope: "session", until: null }]);
    expect(say("session")).toEqual([]);
    session.append(unwrap(setMode(contextOf(session, "user"), "ask")));
    expect(modeOf(now(session.state))).toBe("ask");
    expect(unwrap(setMode(contextOf(session, "user"), "ask"))).toEqual([]);
  });

  it("is spent if it was given for one use, and only then", () => {
    const session = new TestSession();
    const change = () => contextOf(session, "policy");
    expect(spendPermission(change(), key)).toEqual([]);
    session.append(
      unwrap(setPermission(contextOf(session, "user"), key, { rule: "allow", scope: "session" })),
    );
    expect(spendPermission(change(), key)).toEqual([]);
    session.append(unwrap(setPermission(contextOf(session, "user"), key, { rule: "allow", scope: "once" })));
    session.append(spendPermission(change(), key));
    expect(permissions(session)).toEqual([]);
  });

  it("is a step like any other: undone, redone, and no obstacle to later steps", () => {
    const session = new TestSession();
    const take = (deltas: ReturnType<typeof spendPermission>) => session.take({ deltas }, "user");
    const allow = take(
      unwrap(setPermission(contextOf(session, "user"), key, { rule: "allow", scope: "session" })),
    );
    const deny = take(
      unwrap(setPermission(contextOf(session, "user"), key, { rule: "deny", scope: "session" })),
    );
    const mode = take(unwrap(setMode(contextOf(session, "user"), "observe")));
    expect(session.reversal(allow)).toMatchObject({
      error: { code: "AP_UNDO_CONFLICT", details: { what: "the permission of model to archive" } },
    });
    session.reverse(deny);
    expect(permissions(session)).toMatchObject([{ rule: "allow" }]);
    session.reverse(allow);
    session.reverse(mode);
    expect([permissions(session), modeOf(now(session.state))]).toEqual([[], null]);
    session.reverse(mode);
    expect(modeOf(now(session.state))).toBe("observe");
    session.append(unwrap(setMode(contextOf(session, "user"), "auto")));
    expect(session.reversal(mode)).toMatchObject({
      error: { code: "AP_UNDO_CONFLICT", details: { what: "the mode" } },
    });
  });
});

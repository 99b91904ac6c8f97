import { describe, expect, it } from "vitest";
import { deltaExamples } from "../../test/support/delta-examples.ts";
import { mainView, TestSession } from "../../test/support/engine.ts";
import { expectComplete, expectRefusal, named, type Refusal } from "../../test/support/refusals.ts";
import { blockId, limits, must, seqOf, turnOf, unwrap, viewId } from "../base/index.ts";
import type { Approval, ApprovalStatus, Mode, Permission } from "./frames/approval.ts";
import type { Delta } from "./frames/delta.ts";
import type { Actor } from "./frames/facts.ts";
import { approvalOf, approvalsOf, modeOf, momentAt, now, permissionsOf } from "./moment/moment.ts";

const { approval: example } = deltaExamples["approval-asked"];

const approvalAsked = (over: Partial<Approval> = {}): Delta => ({
  type: "approval-asked",
  approval: { ...example, blocks: [], source: null, ...over },
});
const approvalDecided = (
  to: ApprovalStatus,
  by: Actor,
  over: { approval?: number; from?: ApprovalStatus } = {},
): Delta => ({
  ...deltaExamples["approval-decided"],
  ...over,
  to,
  by,
});
const permissionSet = (from: Permission | null, to: Permission | null, verb = "archive"): Delta => ({
  ...deltaExamples["permission-set"],
  verb,
  from,
  to,
});
const modeSet = (from: Mode | null, to: Mode | null): Delta => ({ type: "mode-set", from, to });
const always: Permission = { rule: "allow", scope: "session", until: null };

const refusals: readonly Refusal[] = [
  {
    when: "an approval leaves out a number",
    code: "AP_APPROVAL_INVALID",
    problem: "1 is next",
    deltas: () => [approvalAsked({ id: 2 })],
  },
  {
    when: "it belongs to no view",
    code: "AP_VIEW_UNKNOWN",
    deltas: () => [approvalAsked({ view: viewId(9) })],
  },
  {
    when: "it ends before it begins",
    code: "AP_APPROVAL_INVALID",
    problem: "it ends before it begins",
    deltas: () => [approvalAsked({ turn: turnOf(3), until: turnOf(2) })],
  },
  {
    when: "a block of it is unknown",
    code: "AP_APPROVAL_INVALID",
    problem: "it is about an unknown block",
    deltas: () => [approvalAsked({ blocks: [blockId(1)] })],
  },
  {
    when: "the block that made it ask is unknown",
    code: "AP_APPROVAL_INVALID",
    problem: "it is about an unknown block",
    deltas: () => [approvalAsked({ source: { block: blockId(1), start: 0, length: 1 } })],
  },
  {
    when: "it is decided without having been asked",
    code: "AP_APPROVAL_INVALID",
    problem: "it was never asked",
    deltas: () => [approvalAsked(), approvalDecided("approved", "user", { approval: 2 })],
  },
  {
    when: "it is decided twice",
    code: "AP_APPROVAL_INVALID",
    problem: "it is decided already",
    deltas: () => [approvalAsked(), approvalDecided("approved", "user"), approvalDecided("denied", "user")],
  },
  {
    when: "a decision begins with another",
    code: "AP_APPROVAL_INVALID",
    problem: "a decision begins with waiting",
    deltas: () => [approvalAsked(), approvalDecided("approved", "user", { from: "denied" })],
  },
  {
    when: "it is decided that it waits",
    code: "AP_APPROVAL_INVALID",
    problem: "waiting is no decision",
    deltas: () => [approvalAsked(), approvalDecided("waiting", "user")],
  },
  {
    when: "there are too many",
    code: "AP_APPROVAL_INVALID",
    problem: "there are too many",
    deltas: (session) => {
      session.append([approvalAsked()]);
      const { approvals } = session.state;
      const one = must(approvals.get(0), "one was asked");
      session.state = { ...session.state, approvals: approvals.with(limits.approvalsMax - 1, one) };
      return [approvalAsked({ id: limits.approvalsMax + 1 })];
    },
  },
  ...(["model", "client", "sidecar", "policy"] as const).flatMap((by) =>
    (["approved", "denied"] as const).map(
      (to): Refusal => ({
        when: `it is ${to} by ${by}`,
        code: "AP_APPROVAL_INVALID",
        problem: "the user approves and denies, policy lets expire",
        deltas: () => [approvalAsked(), approvalDecided(to, by)],
      }),
    ),
  ),
  ...(["user", "model", "client", "sidecar"] as const).map(
    (by): Refusal => ({
      when: `${by} lets it expire`,
      code: "AP_APPROVAL_INVALID",
      problem: "the user approves and denies, policy lets expire",
      deltas: () => [approvalAsked(), approvalDecided("expired", by)],
    }),
  ),
  {
    when: "a permission starts from another value",
    code: "AP_RULE_STALE",
    deltas: () => [permissionSet(always, null)],
  },
  {
    when: "there are too many permissions in a view",
    code: "AP_FRAME_LIMIT",
    deltas: () =>
      Array.from({ length: limits.permissionsMax + 1 }, (_, verb) =>
        permissionSet(null, always, `verb-${verb}`),
      ),
  },
  { when: "the mode starts from another", code: "AP_RULE_STALE", deltas: () => [modeSet("auto", "ask")] },
];

describe("an invalid delta is refused", () => {
  it.each(named(refusals))("with %s", (_, refusal) => expectRefusal(refusal));

  it("for no reason that has no test", () => expectComplete("reduce-approval.ts", refusals));
});

describe("an approval", () => {
  it("waits until it is decided, and every past seq has the status of that time", () => {
    const session = new TestSession();
    const block = session.add();
    const askedAt = session.append([
      approvalAsked({ blocks: [block], source: { block, start: 1, length: 2 } }),
    ]);
    const decidedAt = session.append([approvalDecided("denied", "user")]);
    const at = (seq: number) => approvalOf(unwrap(momentAt(session.state, seq)), 1);
    expect(at(askedAt - 1)).toBeNull();
    expect(at(askedAt)).toMatchObject({
      id: 1,
      stand: "waiting",
      by: "model",
      seq: askedAt,
      blocks: [block],
    });
    expect(at(decidedAt)).toMatchObject({ stand: "denied", by: "user", reason: "yes", seq: decidedAt });
    expect(approvalOf(now(session.state), 2)).toBeNull();
  });

  it("belongs to one view: a fork neither sees nor repeats it", () => {
    const session = new TestSession();
    session.append([approvalAsked()]);
    const fork = viewId(2);
    const parent = { view: mainView, seq: seqOf(session.state.seq) };
    session.append([{ type: "view-opened", view: fork, stream: session.stream().id, agent: "b", parent }]);
    session.append([approvalAsked({ id: 2, view: fork })]);
    const ids = (view: typeof fork) =>
      approvalsOf(now(session.state), session.view(view)).map(({ id }) => id);
    expect([ids(mainView), ids(fork)]).toEqual([[1], [2]]);
  });
});

describe("permissions", () => {
  const held = (session: TestSession, view = mainView) =>
    permissionsOf(now(session.state), session.view(view)).map(({ verb, rule }) => [verb, rule]);

  it("hold for a verb of an actor until they are withdrawn", () => {
    const session = new TestSession();
    session.append([permissionSet(null, always)]);
    session.append([permissionSet(null, { ...always, rule: "deny" }, "create")]);
    const before = session.state.seq;
    session.append([permissionSet(always, null)]);
    expect(held(session)).toEqual([["create", "deny"]]);
    const then = permissionsOf(unwrap(momentAt(session.state, before)), session.view());
    expect(then).toEqual([
      { actor: "model", verb: "archive", ...always },
      { actor: "model", verb: "create", ...always, rule: "deny" },
    ]);
  });

  it("for a turn end with the turn, without another frame", () => {
    const session = new TestSession();
    session.add();
    session.send();
    session.append([permissionSet(null, { rule: "allow", scope: "turn", until: turnOf(1) })]);
    expect(held(session)).toEqual([["archive", "allow"]]);
    session.send();
    expect(held(session)).toEqual([]);
  });

  it("are inherited by a fork, and from then on change independently", () => {
    const session = new TestSession();
    session.append([permissionSet(null, always)]);
    const parent = { view: mainView, seq: seqOf(session.state.seq) };
    const fork = viewId(2);
    session.append([{ type: "view-opened", view: fork, stream: session.stream().id, agent: "b", parent }]);
    session.append([permissionSet(always, { ...always, rule: "deny" })]);
    expect(held(session, fork)).toEqual([["archive", "allow"]]);
    session.append([{ ...permissionSet(always, null), view: fork } as Delta]);
    expect([held(session, fork), held(session)]).toEqual([[], [["archive", "deny"]]]);
  });
});

describe("the mode", () => {
  it("is the one set last, and null before that", () => {
    const session = new TestSession();
    expect(modeOf(now(session.state))).toBeNull();
    const first = session.append([modeSet(null, "ask")]);
    session.append([modeSet("ask", "observe")]);
    session.append([modeSet("observe", null)]);
    const at = (seq: number) => modeOf(unwrap(momentAt(session.state, seq)));
    expect([at(first - 1), at(first), at(first + 1), at(first + 2)]).toEqual([null, "ask", "observe", null]);
  });
});

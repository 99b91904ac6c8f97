import { describe, expect, it } from "vitest";
import { must, unwrap } from "../../src/base/index.ts";
import { setBlockLevel } from "../../src/engine/change-facts.ts";
import { momentAt, now } from "../../src/engine/moment/moment.ts";
import { describeMoment } from "../support/describe-moment.ts";
import { mainView, TestSession } from "../support/engine.ts";

type MomentDescription = {
  readonly session: string;
  readonly seq: number;
  readonly streams: readonly Readonly<Record<string, unknown>>[];
  readonly views: readonly (Readonly<Record<string, unknown>> & {
    readonly blocks: readonly Readonly<Record<string, unknown>>[];
  })[];
  readonly steps: readonly Readonly<Record<string, unknown>>[];
};

const at = (session: TestSession, seq: number = session.state.seq) =>
  describeMoment(unwrap(momentAt(session.state, seq))) as MomentDescription;

describe("a description", () => {
  it("of an empty session names the session", () => {
    const { state } = new TestSession();
    expect(describeMoment(unwrap(momentAt(state, 0)))).toEqual({
      session: state.session,
      seq: 0,
      identity: null,
      mode: null,
      name: null,
      exchanges: [],
      streams: [],
      views: [],
      steps: [],
    });
  });

  it("has the turn and run of every stream, and the epoch, path and last exchange of every view", () => {
    const session = new TestSession();
    session.run();
    session.turns(2);
    const { streams, views } = at(session);
    expect(streams).toEqual([{ id: 1, name: "main", parent: null, turn: 2, run: { run: 1, seq: 2 } }]);
    expect(views).toMatchObject([
      {
        id: 1,
        stream: 1,
        agent: "model",
        parent: null,
        epoch: 0,
        path: [0, 1],
        sent: { turn: 2 },
        answer: { turn: 2 },
      },
    ]);
  });

  it("has the attributes, facts, zone and lifecycle of every block", () => {
    const session = new TestSession();
    const block = session.add({ kind: "memory" });
    session.turns(1);
    session.take(setBlockLevel(session.by("model"), [block], "trimmed"));
    expect(at(session).views[0]?.blocks).toMatchObject([
      {
        block: { id: block, kind: "memory", addedSeq: 2 },
        notes: { present: true },
        facts: { level: { value: "trimmed", by: "model" } },
        shown: "original",
        pending: { shown: "original", wanted: "trimmed" },
        zone: "primacy",
        lifecycle: "active",
      },
    ]);
  });

  it("has the actor, reason and status of every step", () => {
    const session = new TestSession();
    const step = session.take({ deltas: [] }, "user");
    const undone = session.reverse(step);
    expect(at(session).steps).toEqual([
      { id: step, actor: "user", reason: "test", done: false, by: "user", frames: [undone] },
    ]);
    expect(at(session, undone - 1).steps).toEqual([
      { id: step, actor: "user", reason: "test", done: true, by: "user", frames: [undone - 1] },
    ]);
    expect(at(session, undone - 2).steps).toEqual([]);
  });

  it("of a past moment leaves out what was opened or added later", () => {
    const session = new TestSession();
    const { seq } = session.state;
    session.add();
    const child = session.fork();
    expect(at(session).views.map(({ id }) => id)).toEqual([mainView, child]);
    expect([at(session, seq).views.length, at(session, seq).streams.length]).toEqual([1, 1]);
    expect(must(at(session, seq).views[0], "view").blocks).toEqual([]);
  });

  it("is plain data: it survives JSON unchanged", () => {
    const session = new TestSession();
    session.add({ span: 3 });
    session.turns(1);
    const whole = describeMoment(now(session.state));
    expect(JSON.parse(JSON.stringify(whole))).toEqual(whole);
  });
});

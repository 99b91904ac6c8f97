import { describe, expect, it } from "vitest";
import { main, mainView, TestSession } from "../../test/support/engine.ts";
import { expectComplete, expectRefusal, named, type Refusal } from "../../test/support/refusals.ts";
import { limits, seqOf, streamId, viewId } from "../base/index.ts";
import type { StreamDelta } from "./frames/delta.ts";
import { now, runNow, turnNow } from "./moment/moment.ts";
import { areIdsFree } from "./reduce-stream.ts";

const [other, otherView] = [streamId(2), viewId(2)];
const stream = (id: number, parent: { stream: number; seq: number } | null = null): StreamDelta => ({
  type: "stream-opened",
  stream: streamId(id),
  name: "stream",
  parent: parent === null ? null : { stream: streamId(parent.stream), seq: seqOf(parent.seq) },
});
const view = (id: number, of: number, parent: { view: number; seq: number } | null = null): StreamDelta => ({
  type: "view-opened",
  view: viewId(id),
  stream: streamId(of),
  agent: "agent",
  parent: parent === null ? null : { view: viewId(parent.view), seq: seqOf(parent.seq) },
});
const ids = (from: number, to: number, of: "block" | "message" = "block"): StreamDelta => ({
  type: "ids-reserved",
  stream: main,
  of,
  from,
  to,
});
const run = (from: number, to: number, of = main): StreamDelta => ({
  type: "run-started",
  stream: of,
  from,
  to,
});

/** Streams 1, 2, 3, … each forked from the one before, and a view on each. */
function openNested(session: TestSession, depth: number): void {
  for (let at = 1; at <= depth; at += 1) session.fork({ from: viewId(at) });
}

const lookBack = "a fork looks back, not ahead";
const deep = "forks are nested too deeply";

const refusals: readonly Refusal[] = [
  { when: "a stream is opened twice", code: "AP_STREAM_EXISTS", deltas: () => [stream(1)] },
  {
    when: "a stream is opened twice in one frame",
    code: "AP_STREAM_EXISTS",
    deltas: () => [stream(2), stream(2)],
  },
  {
    when: "a stream's number is too large",
    code: "AP_FRAME_LIMIT",
    deltas: () => [stream(limits.streamsMax)],
  },
  {
    when: "a stream leaves its parent in the very frame that opens it",
    code: "AP_FORK_INVALID",
    problem: lookBack,
    deltas: ({ state }) => [stream(2, { stream: 1, seq: state.seq + 1 })],
  },
  {
    when: "a stream leaves its parent in the future",
    code: "AP_FORK_INVALID",
    problem: lookBack,
    deltas: ({ state }) => [stream(2, { stream: 1, seq: state.seq + 50 })],
  },
  {
    when: "a stream's parent does not exist",
    code: "AP_FORK_INVALID",
    problem: "there was no such stream then",
    deltas: () => [stream(2, { stream: 7, seq: 1 })],
  },
  {
    when: "a stream's parent was opened later than the seq it leaves at",
    code: "AP_FORK_INVALID",
    problem: "there was no such stream then",
    deltas: () => [stream(2, { stream: 1, seq: 0 })],
  },
  {
    when: "a stream is nested one deeper than allowed",
    code: "AP_FORK_INVALID",
    problem: deep,
    deltas: (session) => {
      openNested(session, limits.forkDepthMax);
      return [stream(200, { stream: limits.forkDepthMax + 1, seq: session.state.seq })];
    },
  },
  {
    when: "a view is opened on a stream that does not exist",
    code: "AP_STREAM_UNKNOWN",
    deltas: () => [view(2, 9)],
  },
  { when: "a view is opened twice", code: "AP_VIEW_EXISTS", deltas: () => [view(1, 1)] },
  { when: "a view's number is too large", code: "AP_FRAME_LIMIT", deltas: () => [view(limits.viewsMax, 1)] },
  {
    when: "a view leaves its parent in the very frame that opens it",
    code: "AP_FORK_INVALID",
    problem: lookBack,
    deltas: ({ state }) => [view(2, 1, { view: 1, seq: state.seq + 1 })],
  },
  {
    when: "a view's parent was opened later than the seq it leaves at",
    code: "AP_FORK_INVALID",
    problem: "there was no such view then",
    deltas: () => [view(2, 1, { view: 1, seq: 0 })],
  },
  {
    when: "a view is nested one deeper than allowed",
    code: "AP_FORK_INVALID",
    problem: deep,
    deltas: (session) => {
      for (let at = 1; at <= limits.forkDepthMax; at += 1) session.agent(viewId(at));
      return [view(200, 1, { view: limits.forkDepthMax + 1, seq: session.state.seq })];
    },
  },
  {
    when: "a view takes over the facts of a stranger's view",
    code: "AP_FORK_INVALID",
    problem: "that view belongs to another stream",
    deltas: ({ state }) => [stream(2), view(2, 2, { view: 1, seq: state.seq })],
  },
  {
    when: "a view takes over facts of its parent stream from another seq than the fork's",
    code: "AP_FORK_INVALID",
    problem: "that view belongs to another stream",
    deltas: (session) => {
      session.pass(3);
      return [stream(2, { stream: 1, seq: 2 }), view(2, 2, { view: 1, seq: 3 })];
    },
  },
  {
    when: "ids are reserved for a stream that does not exist",
    code: "AP_STREAM_UNKNOWN",
    deltas: () => [{ ...ids(101, 102), stream: other }],
  },
  { when: "ids are reserved twice", code: "AP_IDS_INVALID", deltas: () => [ids(1, 101)] },
  {
    when: "ids are reserved that lie partly in a range of another",
    code: "AP_IDS_INVALID",
    deltas: () => [ids(301, 401), ids(201, 302)],
  },
  { when: "ids are reserved from none on", code: "AP_IDS_INVALID", deltas: () => [ids(0, 101)] },
  { when: "no ids are reserved", code: "AP_IDS_INVALID", deltas: () => [ids(101, 101)] },
  { when: "ids are reserved backwards", code: "AP_IDS_INVALID", deltas: () => [ids(101, 99)] },
  {
    when: "too many ids are reserved at once",
    code: "AP_IDS_INVALID",
    deltas: () => [ids(101, 102 + limits.idsPerReservationMax)],
  },
  {
    when: "ids are reserved beyond the last there may be",
    code: "AP_IDS_INVALID",
    deltas: (session) => {
      session.state = { ...session.state, next: { block: limits.blocksMax - 1, message: 101 } };
      return [ids(limits.blocksMax - 1, limits.blocksMax + 1)];
    },
  },
  {
    when: "a run starts in a stream that does not exist",
    code: "AP_STREAM_UNKNOWN",
    deltas: () => [run(0, 1, other)],
  },
  { when: "a run is skipped", code: "AP_RUN_INVALID", deltas: () => [run(0, 2)] },
  { when: "a run does not start from the present one", code: "AP_RUN_INVALID", deltas: () => [run(1, 2)] },
  {
    when: "a run starts again",
    code: "AP_RUN_INVALID",
    deltas: (session) => {
      session.run();
      return [run(0, 1)];
    },
  },
];

describe("a frame about streams, views, ids and runs is refused", () => {
  it.each(named(refusals))("with %s", (_, refusal) => {
    expectRefusal(refusal);
  });

  it("for no reason that has no test", () => {
    expectComplete("reduce-stream.ts", refusals);
  });
});

describe("a stream", () => {
  it("without a parent counts its turns from zero", () => {
    const session = new TestSession();
    session.turns(3);
    session.append([stream(2), view(2, 2)]);
    expect(session.turnNow(otherView)).toBe(0);
    expect(session.stream(otherView)).toMatchObject({ depth: 0, parent: null, baseTurn: 0 });
  });

  it("continues its parent's count of turns as of the fork", () => {
    const session = new TestSession();
    session.turns(3);
    const { seq } = session.state;
    session.turns(4);
    const child = session.fork({ seq });
    expect([session.turnNow(), session.turnNow(child)]).toEqual([7, 3]);
    session.turns(1, child);
    expect([session.turnNow(), session.turnNow(child)]).toEqual([7, 4]);
  });

  it("may be nested up to the limit", () => {
    const session = new TestSession();
    openNested(session, limits.forkDepthMax);
    expect(session.stream(viewId(limits.forkDepthMax + 1)).depth).toBe(limits.forkDepthMax);
  });

  it("may be opened and used in one frame", () => {
    const session = new TestSession();
    session.append([stream(2), view(2, 2), { ...ids(101, 102), stream: other }, run(0, 1, other)]);
    expect(runNow(now(session.state), session.stream(otherView)).run).toBe(1);
    expect(turnNow(now(session.state), session.stream(otherView))).toBe(0);
  });
});

describe("ids", () => {
  it("may be reserved in any order, also those another stream skipped", () => {
    const session = new TestSession();
    session.append([stream(2), view(2, 2), ids(301, 401), { ...ids(201, 301), stream: other }]);
    expect(session.state.next.block).toBe(401);
    expect(areIdsFree(session.state, "block", { from: 101, to: 201 })).toBe(true);
    expect(areIdsFree(session.state, "block", { from: 101, to: 202 })).toBe(false);
  });

  it("are reserved for the whole session, blocks and messages separately", () => {
    const session = new TestSession();
    session.append([stream(2), { ...ids(101, 201), stream: other }, ids(101, 111, "message")]);
    session.append([ids(201, 301)]);
    expect(session.state.next).toEqual({ block: 301, message: 111 });
    expect(session.stream().reserved.block).toEqual([
      { from: 1, to: 101 },
      { from: 201, to: 301 },
    ]);
  });

  it("may be reserved up to the limit at once, and up to the last id", () => {
    const session = new TestSession();
    session.append([ids(101, 101 + limits.idsPerReservationMax)]);
    session.state = { ...session.state, next: { block: limits.blocksMax - 1, message: 101 } };
    session.append([ids(limits.blocksMax - 1, limits.blocksMax)]);
    expect(session.state.next.block).toBe(limits.blocksMax);
  });
});

describe("a run", () => {
  it("that cannot start names the next one in the error", () => {
    const session = new TestSession();
    session.run();
    const tried = session.attempt([run(4, 5)]);
    expect(tried.ok ? null : tried.error.details).toEqual({ run: 5, stream: main, next: 2 });
  });

  it("is numbered from one, and begins with its frame", () => {
    const session = new TestSession();
    expect(runNow(now(session.state), session.stream()).run).toBe(0);
    const first = session.run();
    session.pass(2);
    const second = session.run();
    expect(runNow(now(session.state), session.stream())).toEqual({ run: 2, seq: second });
    expect(runNow({ state: session.state, seq: first }, session.stream())).toEqual({ run: 1, seq: first });
  });

  it("continues in a fork made in the middle of it", () => {
    const session = new TestSession();
    session.run();
    const begun = session.run();
    const child = session.fork({ from: mainView });
    expect(runNow(now(session.state), session.stream(child))).toEqual({ run: 2, seq: begun });
    session.run();
    expect(runNow(now(session.state), session.stream(child)).run).toBe(2);
    const next = session.run(child);
    expect(runNow(now(session.state), session.stream(child))).toEqual({ run: 3, seq: next });
  });
});

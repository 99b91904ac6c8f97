import { describe, expect, it, vi } from "vitest";
import { main, mainView, TestSession } from "../../../test/support/engine.ts";
import { factsOf } from "../../../test/support/facts-of.ts";
import {
  type BlockId,
  blockId,
  must,
  seqOf,
  streamId,
  unwrap,
  type ViewId,
  viewId,
} from "../../base/index.ts";
import {
  asOf,
  blockOf,
  blockViewOf,
  descendsFrom,
  epochNow,
  lastSentTurn,
  lastTurnAnswer,
  messageBlocks,
  momentAt,
  now,
  pairOf,
  sentPath,
  shownOf,
  streamOf,
  turnNow,
  viewBlocks,
  viewOf,
  wasAnsweredSince,
  wasEverShown,
} from "./moment.ts";

const reachedIds = (session: TestSession, view: ViewId = mainView): readonly BlockId[] =>
  [...viewBlocks(now(session.state), session.view(view))].map(({ id }) => id);

describe("a moment", () => {
  it("can be made for any seq from before the first frame to the last", () => {
    const { state } = new TestSession();
    expect([0, 1].map((seq) => unwrap(momentAt(state, seq)).seq)).toEqual([0, 1]);
    expect(now(state)).toEqual({ state, seq: 1 });
  });

  it.each([-1, 2, 0.5, Number.NaN, Number.POSITIVE_INFINITY])(
    "cannot be %d: it is refused by name, with where the session is",
    (seq) => {
      const result = momentAt(new TestSession().state, seq);
      expect(result.ok ? null : result.error).toMatchObject({
        code: "AP_SEQ_UNKNOWN",
        details: { seq, head: 1 },
      });
    },
  );

  it("is the state after its frame, not before it", () => {
    const session = new TestSession();
    const block = session.add();
    expect([1, 2].map((seq) => blockOf(unwrap(momentAt(session.state, seq)), block)?.id)).toEqual([
      undefined,
      block,
    ]);
  });

  it("as of a later seq is itself, and as of an earlier seq is that moment", () => {
    const session = new TestSession();
    session.pass(5);
    const moment = unwrap(momentAt(session.state, 3));
    expect([asOf(moment, seqOf(5)).seq, asOf(moment, seqOf(3)).seq, asOf(moment, seqOf(2)).seq]).toEqual([
      3, 3, 2,
    ]);
  });

  it("costs nothing to make: it is the state and a number", () => {
    const { state } = new TestSession();
    expect(unwrap(momentAt(state, 0)).state).toBe(state);
  });
});

describe("before they exist", () => {
  it("streams and views are null", () => {
    const session = new TestSession();
    session.fork();
    const [before, after] = [unwrap(momentAt(session.state, 1)), now(session.state)];
    expect([streamOf(before, streamId(2)), viewOf(before, viewId(2))]).toEqual([null, null]);
    expect([streamOf(after, streamId(2))?.id, viewOf(after, viewId(2))?.id]).toEqual([2, 2]);
    expect([streamOf(after, streamId(9)), viewOf(after, viewId(9))]).toEqual([null, null]);
  });

  it("there are no turns, answers, paths or epochs", () => {
    const session = new TestSession();
    const { seq } = session.state;
    const block = session.add();
    session.turns(2);
    session.append([
      { type: "epoch-started", view: mainView, epoch: 1, cut: null, reason: "cold", means: "own" },
    ]);
    const then = unwrap(momentAt(session.state, seq));
    const view = session.view();
    expect([turnNow(then, session.stream()), epochNow(then, view), sentPath(then, view)]).toEqual([0, 0, []]);
    expect([lastSentTurn(then, view), lastTurnAnswer(then, view), shownOf(then, view, block)]).toEqual([
      null,
      null,
      "absent",
    ]);
    expect([wasEverShown(then, view, block), wasAnsweredSince(then, view, seqOf(1))]).toEqual([false, false]);
  });
});

describe("wasAnsweredSince", () => {
  it("reads the last answers only, not all of them", () => {
    const session = new TestSession();
    session.turns(60);
    const { seq } = session.state;
    const { answers } = session.view();
    const looks = vi.spyOn(answers, "get");
    expect(wasAnsweredSince(now(session.state), session.view(), seq)).toBe(false);
    expect(wasAnsweredSince(now(session.state), session.view(), seqOf(1))).toBe(true);
    expect(looks.mock.calls.length).toBeLessThan(8);
  });
});

describe("a view reaches", () => {
  it("the blocks of its own stream in the order they were added, whatever their ids", () => {
    const session = new TestSession();
    session.add({ id: blockId(9) });
    session.add({ id: blockId(4) });
    expect(reachedIds(session)).toEqual([9, 4]);
  });

  it("its parents' blocks as of each fork, the oldest first, and none added later", () => {
    const session = new TestSession();
    const first = session.add();
    const child = session.fork();
    const [late, own] = [session.add(), session.add({ view: child })];
    const grandchild = session.fork({ from: child });
    const [later, last] = [session.add({ view: child }), session.add({ view: grandchild })];
    expect(reachedIds(session)).toEqual([first, late]);
    expect(reachedIds(session, child)).toEqual([first, own, later]);
    expect(reachedIds(session, grandchild)).toEqual([first, own, last]);
  });

  it("a grandparent's blocks as of the earlier of two forks", () => {
    const session = new TestSession();
    const child = session.fork();
    const late = session.add();
    const grandchild = session.fork({ from: child });
    expect(session.isInReach(late, grandchild)).toBe(false);
  });

  it("no block of an unrelated stream, and no unknown block", () => {
    const session = new TestSession();
    const child = session.fork();
    const foreign = session.add({ view: child });
    expect([session.isInReach(foreign), session.isInReach(blockId(99))]).toEqual([false, false]);
  });

  it("exactly the blocks it lists", () => {
    const session = new TestSession();
    const child = session.fork();
    const blocks = [session.add(), session.add({ view: child }), session.add()];
    for (const view of [mainView, child]) {
      expect(blocks.filter((block) => session.isInReach(block, view))).toEqual(reachedIds(session, view));
    }
  });

  it("no removed block, but the same block at a moment when it was present", () => {
    const session = new TestSession();
    const block = session.wished();
    const added = session.append([{ type: "block-added", block }]);
    session.append([{ type: "block-removed", block }]);
    expect([session.isInReach(block.id), reachedIds(session)]).toEqual([false, []]);
    expect(session.placeAt(block.id, added).block.id).toBe(block.id);
  });
});

describe("descendsFrom", () => {
  it("is true of a fork for all its parents and itself, but not for children or siblings", () => {
    const session = new TestSession();
    const child = session.fork();
    const grandchild = session.fork({ from: child });
    const sibling = session.fork();
    const streams = [mainView, child, grandchild, sibling].map((view) => session.stream(view).id);
    const moment = now(session.state);
    const table = streams.map((one) => streams.filter((other) => descendsFrom(moment, one, other)));
    const [first, second, third, fourth] = streams;
    expect(table).toEqual([[first], [first, second], [first, second, third], [first, fourth]]);
  });

  it("is false for an unknown stream", () => {
    const { state } = new TestSession();
    expect([
      descendsFrom(now(state), streamId(9), main),
      descendsFrom(now(state), main, streamId(9)),
    ]).toEqual([false, false]);
  });
});

describe("blocks that belong together", () => {
  it("are found by message and by pair, if the view reaches them", () => {
    const session = new TestSession();
    const [call, second] = session.addPair({ kind: "tool-call" }, { kind: "tool-call" });
    const { pair, message } = must(session.state.blocks.get(must(call, "call")), "block").block;
    const child = session.fork();
    const result = session.add({ kind: "tool-result", pair });
    const theirs = session.add({ kind: "tool-result", pair, view: child });
    const pairIn = (view: ViewId) =>
      pairOf(session.place(must(call, "call"), view)).map(({ block }) => block.id);
    expect([pairIn(mainView), pairIn(child)]).toEqual([
      [call, second, result],
      [call, second, theirs],
    ]);
    const inMessage = messageBlocks(now(session.state), session.view(), message);
    expect(inMessage.map(({ block }) => block.id)).toEqual([call, second]);
  });

  it("are found without removed blocks", () => {
    const session = new TestSession();
    const [call = session.add()] = session.addPair({ kind: "tool-call" });
    const { pair } = must(session.state.blocks.get(call), "block").block;
    const block = session.wished({ pair });
    session.append([{ type: "block-added", block }]);
    session.append([{ type: "block-removed", block }]);
    expect(pairOf(session.place(call)).map((blockView) => blockView.block.id)).toEqual([call]);
  });

  it("a block without a pair is a pair of one", () => {
    const session = new TestSession();
    const blockView = session.place(session.add());
    expect(pairOf(blockView)).toEqual([blockView]);
  });

  it("an unknown message has none", () => {
    const session = new TestSession();
    expect(messageBlocks(now(session.state), session.view(), session.wished().message)).toEqual([]);
  });
});

describe("facts", () => {
  it("of an agent that forked a view are its own from then on, and initial for later blocks", () => {
    const session = new TestSession();
    const old = session.add();
    session.set(old, { level: "trimmed" });
    const heir = session.agent(mainView);
    const fresh = session.add();
    session.set(fresh, { level: "minimal" });
    expect([session.fact(old, "level", heir), session.fact(fresh, "level", heir)]).toEqual([
      "trimmed",
      "original",
    ]);
  });

  it("are the same read one by one and all together", () => {
    const session = new TestSession();
    const block = session.add({ span: 3 });
    session.set(block, { pin: "top", selection: true });
    const { pin, selection, ttl } = factsOf(session.place(block));
    expect([pin.value, selection.value, ttl.value]).toEqual(["top", true, { at: 4, spanTurns: 3 }]);
    expect(blockViewOf(now(session.state), session.view(), block)?.view.stream).toBe(main);
  });
});

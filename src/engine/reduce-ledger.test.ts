import { describe, expect, it } from "vitest";
import { main, mainView, TestSession } from "../../test/support/engine.ts";
import { expectComplete, expectRefusal, named, type Refusal } from "../../test/support/refusals.ts";
import { blockId, limits, PagedTable, streamId, turnOf, unitId, unwrap, viewId } from "../base/index.ts";
import type { Delta, Unit } from "./frames/delta.ts";
import { epochNow, lastSentTurn, lastTurnAnswer, momentAt, now, shownOf } from "./moment/moment.ts";
import type { StreamTurn } from "./state.ts";

const unit = (session: TestSession, change: Partial<Unit>): Delta => ({
  type: "unit-sent",
  unit: { ...session.unit(), ...change },
});
const turn = (number: number, leaf = 0, view = mainView): Delta => ({
  type: "turn-sent",
  view,
  turn: turnOf(number),
  leaf: unitId(leaf),
  exchange: number,
});
const answered = (number: number, view = mainView): Delta => ({
  type: "turn-answered",
  view,
  turn: turnOf(number),
  outcome: "complete",
  usage: null,
});
const epoch = (number: number, cut: number | null = null, view = mainView): Delta => ({
  type: "epoch-started",
  view,
  epoch: number,
  cut: cut === null ? null : unitId(cut),
  reason: "price",
  means: "own",
});
const unknownView = viewId(9);
const ordered = "units are numbered in order";

/** Brings the stream to that turn. */
function atTurn(session: TestSession, number: number): void {
  session.turns(1);
  const turns = PagedTable.empty<StreamTurn>().push({ seq: session.state.seq, turn: turnOf(number) });
  session.state = {
    ...session.state,
    streams: session.state.streams.with(main, { ...session.stream(), turns }),
  };
}

const refusals: readonly Refusal[] = [
  {
    when: "a unit's stream does not exist",
    code: "AP_STREAM_UNKNOWN",
    deltas: (s) => [unit(s, { stream: streamId(9) })],
  },
  {
    when: "a unit leaves a gap",
    code: "AP_UNIT_INVALID",
    problem: ordered,
    deltas: (s) => [unit(s, { id: unitId(1) })],
  },
  {
    when: "a unit comes twice",
    code: "AP_UNIT_INVALID",
    problem: ordered,
    deltas: (s) => [unit(s, {}), unit(s, {})],
  },
  {
    when: "there are as many units as there may be",
    code: "AP_UNIT_INVALID",
    problem: ordered,
    deltas: (s) => {
      s.state = { ...s.state, units: PagedTable.fromPages(limits.unitsMax, []) };
      return [unit(s, {})];
    },
  },
  {
    when: "a unit's parent was never sent",
    code: "AP_UNIT_INVALID",
    problem: "its parent was never sent",
    deltas: (s) => [unit(s, { parent: unitId(5) })],
  },
  {
    when: "a unit is its own parent",
    code: "AP_UNIT_INVALID",
    problem: "its parent was never sent",
    deltas: (s) => [unit(s, { parent: unitId(0) })],
  },
  {
    when: "a unit shows too many blocks",
    code: "AP_UNIT_INVALID",
    problem: "it shows too many blocks",
    deltas: (s) => {
      const shows = Array.from({ length: limits.blocksPerUnitMax + 1 }, () => ({
        block: blockId(1),
        as: "original" as const,
      }));
      s.add();
      return [unit(s, { shows })];
    },
  },
  {
    when: "a unit shows a block that does not exist",
    code: "AP_UNIT_INVALID",
    problem: "it shows #7, which its stream does not have",
    deltas: (s) => [unit(s, { shows: [{ block: blockId(7), as: "original" }] })],
  },
  {
    when: "a unit hangs below one of another stream",
    code: "AP_UNIT_INVALID",
    problem: "its parent belongs to another stream",
    deltas: (s) => [
      { type: "stream-opened", stream: streamId(2), name: "other", parent: null },
      unit(s, {}),
      unit(s, { id: unitId(1), stream: streamId(2), parent: unitId(0) }),
    ],
  },
  {
    when: "a unit shows a block of another stream",
    code: "AP_UNIT_INVALID",
    problem: "it shows #1, which its stream does not have",
    deltas: (s) => {
      const block = s.add();
      return [
        { type: "stream-opened", stream: streamId(2), name: "other", parent: null },
        unit(s, { stream: streamId(2), shows: [{ block, as: "original" }] }),
      ];
    },
  },
  {
    when: "a turn ends with a unit of another stream",
    code: "AP_TURN_INVALID",
    problem: "its last unit is another stream's",
    deltas: (s) => [
      { type: "stream-opened", stream: streamId(2), name: "other", parent: null },
      unit(s, { stream: streamId(2) }),
      turn(1),
    ],
  },
  {
    when: "a turn's view does not exist",
    code: "AP_VIEW_UNKNOWN",
    deltas: (s) => [unit(s, {}), turn(1, 0, unknownView)],
  },
  {
    when: "a turn is skipped",
    code: "AP_TURN_INVALID",
    problem: "turn 1 is next",
    deltas: (s) => [unit(s, {}), turn(2)],
  },
  {
    when: "turn zero is sent",
    code: "AP_TURN_INVALID",
    problem: "turn 1 is next",
    deltas: (s) => [unit(s, {}), turn(0)],
  },
  {
    when: "a turn comes that is long past",
    code: "AP_TURN_INVALID",
    problem: "turn 4 is next",
    deltas: (s) => {
      s.turns(3);
      return [turn(2)];
    },
  },
  {
    when: "there are as many turns as there may be",
    code: "AP_TURN_INVALID",
    problem: "there are too many turns",
    deltas: (s) => {
      atTurn(s, limits.turnsMax);
      return [turn(limits.turnsMax + 1)];
    },
  },
  {
    when: "a turn ends with a unit that was never sent",
    code: "AP_TURN_INVALID",
    problem: "its last unit was never sent",
    deltas: () => [turn(1, 4)],
  },
  {
    when: "an answer's view does not exist",
    code: "AP_VIEW_UNKNOWN",
    deltas: () => [answered(1, unknownView)],
  },
  {
    when: "a turn is answered that was never sent",
    code: "AP_TURN_INVALID",
    problem: "it was never sent",
    deltas: () => [answered(1)],
  },
  {
    when: "a turn is answered in a view that did not send it",
    code: "AP_TURN_INVALID",
    problem: "it was never sent",
    deltas: (s) => {
      s.turns(2);
      return [answered(2, s.agent(mainView))];
    },
  },
  {
    when: "a turn is answered that lies before the first the view has sent",
    code: "AP_TURN_INVALID",
    problem: "it was never sent",
    deltas: (s) => {
      s.turns(2);
      const view = s.agent(mainView);
      s.turns(1, view);
      return [answered(1, view)];
    },
  },
  {
    when: "an epoch's view does not exist",
    code: "AP_VIEW_UNKNOWN",
    deltas: () => [epoch(1, null, unknownView)],
  },
  {
    when: "an epoch is skipped",
    code: "AP_EPOCH_INVALID",
    problem: "epochs are numbered in order",
    deltas: () => [epoch(2)],
  },
  {
    when: "an epoch starts twice",
    code: "AP_EPOCH_INVALID",
    problem: "epochs are numbered in order",
    deltas: () => [epoch(1), epoch(1)],
  },
  {
    when: "an epoch is cut at a unit that was never sent",
    code: "AP_EPOCH_INVALID",
    problem: "the cut was never sent",
    deltas: () => [epoch(1, 3)],
  },
];

describe("an entry of the ledger is refused", () => {
  it.each(named(refusals))("with %s", (_, refusal) => {
    expectRefusal(refusal);
  });

  it("for no reason that has no test", () => {
    expectComplete("reduce-ledger.ts", refusals);
  });
});

it("the ledger accepts turns, and blocks in a unit, up to their limits", () => {
  const session = new TestSession();
  atTurn(session, limits.turnsMax - 1);
  const shows = Array(limits.blocksPerUnitMax).fill({ block: session.add(), as: "original" });
  session.append([unit(session, { shows }), turn(limits.turnsMax)]);
  expect(session.turnNow()).toBe(limits.turnsMax);
});

describe("a turn", () => {
  it("is sent, and the blocks of its path are shown from then on", () => {
    const session = new TestSession();
    const block = session.add();
    expect(shownOf(now(session.state), session.view(), block)).toBe("absent");
    session.send({ shows: [{ block, as: "trimmed" }] });
    expect(shownOf(now(session.state), session.view(), block)).toBe("trimmed");
    expect(lastSentTurn(now(session.state), session.view())).toMatchObject({ turn: 1, leaf: 0, exchange: 1 });
  });

  it("may be retried: a retry has the number of the turn it repeats", () => {
    const session = new TestSession();
    session.turns(2);
    session.send({ turn: 2 });
    expect([session.turnNow(), lastSentTurn(now(session.state), session.view())?.leaf]).toEqual([2, 2]);
    session.send();
    expect(session.turnNow()).toBe(3);
  });

  it("cannot be a retry in a fork that has sent nothing yet", () => {
    const session = new TestSession();
    session.turns(2);
    const child = session.fork();
    expect(session.attempt([turn(2, 1, child)]).ok).toBe(false);
    session.append([turn(3, 1, child)]);
    expect(session.turnNow(child)).toBe(3);
  });

  it("is matched with its last sending, also when answers overtake each other", () => {
    const session = new TestSession();
    const first = session.state.seq + 1;
    session.send();
    session.send();
    session.answer({ turn: 2 });
    session.answer({ turn: 1 });
    expect(lastTurnAnswer(now(session.state), session.view())).toMatchObject({ turn: 1, sentSeq: first });
  });
});

describe("an epoch", () => {
  it("is numbered from one in its view", () => {
    const session = new TestSession();
    expect(epochNow(now(session.state), session.view())).toBe(0);
    session.turns(1);
    const seq = session.append([epoch(1, 0)]);
    session.append([epoch(2)]);
    expect(epochNow(now(session.state), session.view())).toBe(2);
    expect(epochNow(unwrap(momentAt(session.state, seq)), session.view())).toBe(1);
    expect(session.view().epochs.get(0)).toEqual({ seq, cut: 0, reason: "price", means: "own" });
  });
});

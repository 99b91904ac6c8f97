import { describe, expect, it } from "vitest";
import { mainView, TestSession } from "../../test/support/engine.ts";
import { expectComplete, expectRefusal, named, type Refusal } from "../../test/support/refusals.ts";
import { type BlockId, blockId, turnOf, type ViewId, viewId } from "../base/index.ts";
import type { FactDelta } from "./frames/delta.ts";
import { type FactName, type FactValues, factNames, initialFact } from "./frames/facts.ts";
import { factOf, factVersion, momentAt } from "./moment/moment.ts";

/** For each fact a value that is not the initial one. */
const otherValues: FactValues = {
  level: "minimal",
  pin: "bottom",
  ttl: { at: turnOf(9), spanTurns: 3 },
  focus: { run: 1, until: turnOf(21) },
  selection: true,
  archive: { reason: "done" },
  withhold: true,
  reference: { turn: turnOf(4), count: 2 },
  supersession: blockId(8),
};

type FactDeltaInput = {
  readonly block: BlockId;
  readonly fact?: FactName;
  readonly view?: ViewId;
  readonly wrong?: object;
};

/** A delta that sets a fact from its initial value, or from a wrong one. */
function factDelta(
  session: TestSession,
  { block, fact = "level", view = mainView, wrong = {} }: FactDeltaInput,
): FactDelta {
  const from = { ...initialFact(session.wished(), fact), ...wrong };
  return {
    type: `${fact}-set`,
    view,
    block,
    from,
    to: { value: otherValues[fact], by: "model" },
  } as FactDelta;
}

const refusals: readonly Refusal[] = [
  {
    when: "the view does not exist",
    code: "AP_VIEW_UNKNOWN",
    deltas: (s) => [factDelta(s, { block: s.add(), view: viewId(9) })],
  },
  {
    when: "the block does not exist",
    code: "AP_BLOCK_UNKNOWN",
    deltas: (s) => [factDelta(s, { block: blockId(50) })],
  },
  {
    when: "the block came to the parent after the fork",
    code: "AP_BLOCK_UNKNOWN",
    deltas: (s) => {
      const view = s.fork();
      return [factDelta(s, { block: s.add(), view })];
    },
  },
  {
    when: "the block belongs to a fork and the view to its parent",
    code: "AP_BLOCK_UNKNOWN",
    deltas: (s) => [factDelta(s, { block: s.add({ view: s.fork() }) })],
  },
  {
    when: "the block was taken away",
    code: "AP_BLOCK_UNKNOWN",
    deltas: (s) => {
      const block = s.wished();
      s.append([{ type: "block-added", block }]);
      s.append([{ type: "block-removed", block }]);
      return [factDelta(s, { block: block.id })];
    },
  },
  ...factNames.map(
    (fact): Refusal => ({
      when: `the ${fact} does not start from the present value`,
      code: "AP_DELTA_STALE",
      deltas: (s) => [factDelta(s, { block: s.add(), fact, wrong: { value: otherValues[fact] } })],
    }),
  ),
  ...factNames.map(
    (fact): Refusal => ({
      when: `the ${fact} starts from the present value of another actor`,
      code: "AP_DELTA_STALE",
      deltas: (s) => [factDelta(s, { block: s.add(), fact, wrong: { by: "user" } })],
    }),
  ),
];

describe("a fact is refused", () => {
  it.each(named(refusals))("with %s", (_, refusal) => {
    expectRefusal(refusal);
  });

  it("for no reason that has no test", () => {
    expectComplete("reduce-fact.ts", refusals);
  });
});

describe("a fact that is set", () => {
  it.each(factNames)("%s: holds from then on with its setter, and not before", (fact) => {
    const session = new TestSession();
    const block = session.add();
    const before = factOf(session.place(block), fact);
    const seq = session.append([factDelta(session, { block, fact })]);
    expect(before).toEqual(initialFact(session.wished({ turn: turnOf(1) }), fact));
    expect(factOf(session.place(block), fact)).toEqual({ value: otherValues[fact], by: "model" });
    expect(factOf(session.placeAt(block, seq - 1), fact)).toEqual(before);
    expect(factVersion(session.place(block), fact)?.seq).toBe(seq);
  });

  it("changes no other fact of the block", () => {
    const session = new TestSession();
    const block = session.add();
    session.set(block, { pin: "top" });
    for (const fact of factNames.filter((name) => name !== "pin")) {
      expect(factVersion(session.place(block), fact)).toBeNull();
    }
  });

  it("belongs to one view: another agent in the stream keeps its own", () => {
    const session = new TestSession();
    const block = session.add();
    const [stranger, heir] = [session.agent(null), session.agent(mainView)];
    session.set(block, { level: "minimal" });
    const levels = [mainView, stranger, heir].map((view) => session.fact(block, "level", view));
    expect(levels).toEqual(["minimal", "original", "original"]);
  });

  it("is inherited by a fork, and from then on they change independently", () => {
    const session = new TestSession();
    const block = session.add();
    session.set(block, { level: "trimmed" });
    const child = session.fork();
    session.set(block, { level: "minimal" });
    expect([session.fact(block, "level"), session.fact(block, "level", child)]).toEqual([
      "minimal",
      "trimmed",
    ]);
    session.set(block, { level: "summarized" }, { view: child });
    const grandchild = session.fork({ from: child });
    session.set(block, { level: "original" }, { view: child });
    expect([mainView, child, grandchild].map((view) => session.fact(block, "level", view))).toEqual([
      "minimal",
      "original",
      "summarized",
    ]);
  });

  it("is inherited as of the fork, though the parent has changed it since", () => {
    const session = new TestSession();
    const block = session.add();
    const seq = session.set(block, { pin: "top" });
    session.set(block, { pin: "bottom" });
    const child = session.fork({ seq });
    expect(session.fact(block, "pin", child)).toBe("top");
    const then = momentAt(session.state, seq);
    expect(then.ok && then.value.seq).toBe(seq);
  });
});

describe("a ttl that is set", () => {
  it("leaves one hint at its turn, and none without an end", () => {
    const session = new TestSession();
    const block = session.add();
    const ttl = { at: turnOf(9), spanTurns: 3 };
    session.set(block, { ttl });
    session.set(block, { ttl: null });
    session.set(block, { ttl });
    expect([...session.view().due.entries()]).toEqual([[9, [block]]]);
  });

  it("gets another hint when another fact is set only if it has passed", () => {
    const session = new TestSession();
    const block = session.add({ span: 1 });
    session.turns(1);
    session.set(block, { pin: "top" });
    expect([...session.view().due.entries()]).toEqual([]);
    session.turns(3);
    session.set(block, { pin: "none" });
    expect([...session.view().due.entries()]).toEqual([[5, [block]]]);
  });

  it("shares its turn with other blocks", () => {
    const session = new TestSession();
    const [one, two] = [session.add(), session.add()];
    session.set(one, { ttl: { at: turnOf(4), spanTurns: 1 } });
    session.set(two, { ttl: { at: turnOf(4), spanTurns: 2 } });
    expect(session.view().due.get(4)).toEqual([one, two]);
  });
});

import { describe, expect, it } from "vitest";
import { mainView, TestSession, type Wish } from "../../../test/support/engine.ts";
import { type BlockId, must, turnOf } from "../../base/index.ts";
import { focusBlocks } from "../change-facts.ts";
import { levels } from "../frames/block.ts";
import {
  focusTurnsMax,
  isFocused,
  type Lifecycle,
  lifecycleOf,
  nextLevelDown,
  pendingChange,
  wantedOf,
} from "./lifecycle.ts";

/** The facts of a block. Those left out are ordinary: sent as original, answered, new. */
type Situation = Wish & {
  readonly purged?: boolean;
  readonly archived?: boolean;
  /** The form in the last request. Null if it is no longer shown; undefined keeps the original. */
  readonly shown?: "trimmed" | "placeholder" | null;
  readonly sent?: boolean;
  readonly answered?: boolean;
  readonly focused?: boolean;
  /** Turns since the last reference, and the number of references. */
  readonly age?: number;
  readonly references?: number;
};

function situation(about: Situation): { readonly session: TestSession; readonly block: BlockId } {
  const session = new TestSession();
  session.run();
  const block = session.add({ kind: about.kind ?? "user" });
  if (about.sent !== false) session.send({ shows: [{ block, as: about.shown ?? "original" }] });
  if (about.sent !== false && about.answered !== false) session.answer();
  for (let age = 0; age < (about.age ?? 0); age += 1) {
    session.send({ shows: [] });
    if (about.answered !== false) session.answer();
  }
  if (about.shown === null) session.send({ below: null, shows: [] });
  if (about.shown === null) session.answer();
  if (about.references !== undefined)
    session.set(block, { reference: { turn: turnOf(1), count: about.references } });
  if (about.focused) session.set(block, { focus: { run: 1, until: turnOf(99) } });
  if (about.archived) session.set(block, { archive: { reason: "done" } });
  if (about.purged) session.append([{ type: "block-purged", block }]);
  return { session, block };
}

type Row = readonly [string, Lifecycle, Situation];

describe("the lifecycle of a block is the first name that fits", () => {
  const rules: readonly Row[] = [
    ["evicted, when it was purged", "evicted", { purged: true }],
    ["evicted, when the client dropped it and it is archived", "evicted", { archived: true, shown: null }],
    ["archived, when it was archived", "archived", { archived: true }],
    ["archived, when it was put away before it was ever sent", "archived", { archived: true, sent: false }],
    ["compressed, when less than the original is shown", "compressed", { shown: "trimmed" }],
    ["compressed, when a placeholder is shown", "compressed", { shown: "placeholder" }],
    ["fresh, when it was not sent yet", "fresh", { sent: false }],
    ["fresh, when it was sent and not yet answered", "fresh", { answered: false }],
    ["active, when it is focused", "active", { focused: true }],
    ["stale, when it was not referenced for five turns", "stale", { age: 5 }],
    ["referenced, when it was referenced within five turns", "referenced", { references: 1, age: 4 }],
    ["active, when nothing else fits", "active", { age: 4 }],
  ];

  it.each(rules)("%s", (_, expected, about) => {
    const { session, block } = situation(about);
    expect(lifecycleOf(session.place(block))).toBe(expected);
  });

  const precedences: readonly Row[] = [
    ["purged comes before archived", "evicted", { purged: true, archived: true }],
    ["purged comes before compressed", "evicted", { purged: true, shown: "placeholder" }],
    ["purged comes before fresh", "evicted", { purged: true, sent: false }],
    ["archived comes before compressed", "archived", { archived: true, shown: "placeholder" }],
    ["archived comes before fresh", "archived", { archived: true, answered: false }],
    ["archived comes before focused", "archived", { archived: true, focused: true }],
    ["compressed comes before fresh", "compressed", { shown: "trimmed", answered: false }],
    ["compressed comes before focused", "compressed", { shown: "trimmed", focused: true }],
    ["compressed comes before stale", "compressed", { shown: "trimmed", age: 9 }],
    ["fresh comes before focused", "fresh", { answered: false, focused: true }],
    ["fresh comes before stale", "fresh", { answered: false, age: 9 }],
    ["fresh comes before referenced", "fresh", { answered: false, references: 3 }],
    ["focused comes before stale", "active", { focused: true, age: 9 }],
    ["focused comes before referenced", "active", { focused: true, references: 3 }],
    ["stale comes before referenced, however often it was", "stale", { references: 40, age: 5 }],
  ];

  it.each(precedences)("%s", (_, expected, about) => {
    const { session, block } = situation(about);
    expect(lifecycleOf(session.place(block))).toBe(expected);
  });

  it("a block the client dropped but that is not archived goes by its age", () => {
    const { session, block } = situation({ shown: null });
    expect(lifecycleOf(session.place(block))).toBe("active");
  });

  it("a past moment has the lifecycle of that time", () => {
    const { session, block } = situation({});
    const then = session.state.seq;
    session.set(block, { archive: { reason: "done" } });
    expect([lifecycleOf(session.placeAt(block, then)), lifecycleOf(session.place(block))]).toEqual([
      "active",
      "archived",
    ]);
  });
});

describe("a memory", () => {
  it("gets stale when it is superseded, not with time", () => {
    const { session, block } = situation({ kind: "memory", age: 9 });
    expect(lifecycleOf(session.place(block))).toBe("active");
    session.set(block, { reference: { turn: turnOf(1), count: 1 } });
    expect(lifecycleOf(session.place(block))).toBe("referenced");
    session.set(block, { supersession: session.add() });
    expect(lifecycleOf(session.place(block))).toBe("stale");
    session.set(block, { archive: { reason: "covered" } });
    expect(lifecycleOf(session.place(block))).toBe("archived");
  });
});

describe("a block is fresh until it is answered", () => {
  it("by a turn that was sent with it; an answer to an earlier request is not enough", () => {
    const session = new TestSession();
    session.send();
    const block = session.add();
    session.answer();
    expect(lifecycleOf(session.place(block))).toBe("fresh");
  });

  it("by a turn that was sent in the frame that added the block", () => {
    const session = new TestSession();
    const [block, unit] = [session.wished(), session.unit()];
    session.append([
      { type: "block-added", block },
      { type: "unit-sent", unit },
      { type: "turn-sent", view: mainView, turn: turnOf(1), leaf: unit.id, exchange: 1 },
    ]);
    session.answer();
    expect(lifecycleOf(session.place(block.id))).toBe("active");
  });

  it("and a failed request does not count as answered", () => {
    const session = new TestSession();
    const block = session.add();
    session.send();
    session.answer({ outcome: "failed" });
    expect(lifecycleOf(session.place(block))).toBe("fresh");
    session.send({ turn: 1 });
    session.answer({ outcome: "interrupted" });
    expect(lifecycleOf(session.place(block))).toBe("active");
  });

  it("and neither a later failure nor a late answer to an earlier turn makes it fresh again", () => {
    const session = new TestSession();
    session.send();
    const block = session.add();
    session.send();
    session.answer({ turn: 2 });
    expect(lifecycleOf(session.place(block))).toBe("active");
    session.answer({ turn: 1 });
    expect(lifecycleOf(session.place(block))).toBe("active");
    session.send();
    session.answer({ outcome: "failed" });
    expect(lifecycleOf(session.place(block))).toBe("active");
  });

  it("also by an answer to the parent, in a fork", () => {
    const session = new TestSession();
    const old = session.add();
    session.turns(1);
    const unanswered = session.add();
    const child = session.fork();
    session.turns(1);
    const blockViews = [
      session.place(old, child),
      session.place(unanswered, child),
      session.place(unanswered),
    ];
    expect(blockViews.map(lifecycleOf)).toEqual(["active", "fresh", "active"]);
  });
});

describe("focus", () => {
  const focused = (session: TestSession, block: BlockId, view = mainView) => {
    session.take(focusBlocks(session.by("model", view), [block]));
    return () => isFocused(session.place(block, view));
  };

  it("lasts for twenty turns", () => {
    const session = new TestSession();
    const isStill = focused(session, session.add());
    session.turns(focusTurnsMax);
    expect([focusTurnsMax, isStill()]).toEqual([20, true]);
    session.turns(1);
    expect(isStill()).toBe(false);
  });

  it("ends with its run, even after one turn", () => {
    const session = new TestSession();
    session.run();
    const isStill = focused(session, session.add());
    session.turns(1);
    expect(isStill()).toBe(true);
    session.run();
    expect(isStill()).toBe(false);
  });

  it("continues in a fork for the rest of the run, and does not come back in a later run", () => {
    const session = new TestSession();
    session.run();
    const block = session.add();
    const isStill = focused(session, block);
    const child = session.fork();
    const inChild = () => isFocused(session.place(block, child));
    expect(inChild()).toBe(true);
    session.run(child);
    expect([inChild(), isStill()]).toEqual([false, true]);
    session.run(child);
    expect(inChild()).toBe(false);
  });

  it("is off if it was never set", () => {
    const session = new TestSession();
    expect(isFocused(session.place(session.add()))).toBe(false);
  });
});

describe("the wanted form of a block", () => {
  const wanted = (change: (session: TestSession, block: BlockId) => void) => {
    const session = new TestSession();
    const block = session.add();
    change(session, block);
    return wantedOf(session.place(block));
  };

  it.each(levels)("is the level %s that was set", (level) => {
    expect(wanted((session, block) => session.set(block, { level }))).toBe(level);
  });

  it.each<[string, (session: TestSession, block: BlockId) => void]>([
    ["archived", (session, block) => session.set(block, { archive: { reason: "done" }, level: "original" })],
    ["withheld", (session, block) => session.set(block, { withhold: true }, { by: "user" })],
    ["purged", (session, block) => session.append([{ type: "block-purged", block }])],
  ])("is a placeholder for what is %s, whatever its level", (_, change) => {
    expect(wanted(change)).toBe("placeholder");
  });

  it("is pending if the ledger shows another form, and both are named", () => {
    const session = new TestSession();
    const block = session.add();
    session.turns(1);
    expect(pendingChange(session.place(block))).toBeNull();
    session.set(block, { level: "minimal" });
    expect(pendingChange(session.place(block))).toEqual({ shown: "original", wanted: "minimal" });
    session.send({ below: null, shows: [{ block, as: "minimal" }] });
    expect(pendingChange(session.place(block))).toBeNull();
  });

  it("is pending too if more is wanted than is shown", () => {
    const session = new TestSession();
    const block = session.add();
    session.send({ shows: [{ block, as: "placeholder" }] });
    expect(pendingChange(session.place(block))).toEqual({ shown: "placeholder", wanted: "original" });
  });

  it("is not pending before the block was sent: its first rendering has the wanted form", () => {
    const session = new TestSession();
    const block = session.add();
    session.set(block, { level: "minimal" });
    expect(pendingChange(session.place(block))).toBeNull();
  });
});

describe("lowering", () => {
  it.each([
    ["original", "trimmed"],
    ["trimmed", "minimal"],
    ["summarized", "minimal"],
    ["minimal", "archive"],
  ] as const)("leads from %s to %s", (from, to) => {
    expect(nextLevelDown(from)).toBe(to);
  });

  it("leads every level to the archive in the end", () => {
    for (const level of levels) {
      const second = nextLevelDown(level);
      const third = second === "archive" ? second : nextLevelDown(second);
      expect([must(second, "a step"), third === "archive" ? third : nextLevelDown(third)]).toContain(
        "archive",
      );
    }
  });
});

describe("content the user withheld", () => {
  it("is withheld with its whole pair, also with a result that arrives later", () => {
    const session = new TestSession();
    const [call] = session.addPair({ kind: "tool-call" });
    session.set(call as BlockId, { withhold: true }, { by: "user" });
    const result = session.add({ kind: "tool-result", pair: session.place(call as BlockId).block.pair });
    expect(session.fact(result, "withhold")).toBe(false);
    expect(wantedOf(session.place(result))).toBe("placeholder");
    expect(wantedOf(session.place(session.add()))).toBe("original");
  });
});

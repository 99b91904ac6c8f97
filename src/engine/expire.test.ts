import { describe, expect, it } from "vitest";
import { mainView, TestSession } from "../../test/support/engine.ts";
import { type BlockId, must, turnOf, type ViewId } from "../base/index.ts";
import {
  archive,
  focus,
  type Proposal,
  pin,
  reference,
  restore,
  select,
  unpin,
  wantLevel,
} from "./change.ts";
import { expire } from "./expire.ts";

/** What policy does after every turn. */
function settle(session: TestSession, view: ViewId = mainView): Proposal {
  const proposal = expire(session.by("policy", view), turnOf(Math.max(0, session.turnNow(view) - 1)));
  if (proposal.deltas.length > 0) session.take(proposal, "policy");
  return proposal;
}

function pass(session: TestSession, turns: number, view: ViewId = mainView): void {
  for (let done = 0; done < turns; done += 1) {
    session.turns(1, view);
    settle(session, view);
  }
}

/** Where a block stands: its level, or that it is archived. */
const standing = (session: TestSession, block: BlockId, view: ViewId = mainView): string =>
  session.fact(block, "archive", view) === null ? session.fact(block, "level", view) : "archived";

/** By turn, what becomes of a block; only the turns at which something does. */
function fall(session: TestSession, block: BlockId, turns: number): readonly (readonly [number, string])[] {
  const steps: [number, string][] = [];
  for (let done = 0; done < turns; done += 1) {
    const before = standing(session, block);
    pass(session, 1);
    const after = standing(session, block);
    if (after !== before) steps.push([session.turnNow(), after]);
  }
  return steps;
}

describe("a block whose ttl ends", () => {
  it("falls from original to trimmed to minimal to the archive, with the same span between", () => {
    const session = new TestSession();
    const block = session.add({ span: 3 });
    expect(fall(session, block, 20)).toEqual([
      [4, "trimmed"],
      [7, "minimal"],
      [10, "archived"],
    ]);
  });

  it.each([
    [
      "trimmed",
      [
        [3, "minimal"],
        [5, "archived"],
      ],
    ],
    [
      "summarized",
      [
        [3, "minimal"],
        [5, "archived"],
      ],
    ],
    ["minimal", [[3, "archived"]]],
  ] as const)("and that is %s already falls on from there", (level, steps) => {
    const session = new TestSession();
    const block = session.add({ span: 2 });
    session.set(block, { level });
    expect(fall(session, block, 12)).toEqual(steps);
  });

  it("waits another span if a model has referred to it lately", () => {
    const session = new TestSession();
    const block = session.add({ span: 3 });
    pass(session, 1);
    session.take(reference(session.by("policy"), [block]), "policy");
    expect(fall(session, block, 8)).toEqual([[7, "trimmed"]]);
  });

  it("falls by one level at a time, however late anybody looks", () => {
    const session = new TestSession();
    const block = session.add({ span: 2 });
    session.turns(50);
    session.take(expire(session.by("policy"), turnOf(0)), "policy");
    expect(standing(session, block)).toBe("trimmed");
    expect(session.fact(block, "ttl")).toEqual({ at: 52, spanTurns: 2 });
  });

  it("after the turn one asks about falls, and at that turn or before it not again", () => {
    const session = new TestSession();
    const block = session.add({ span: 2 });
    session.turns(6);
    const fallen = (since: number) => expire(session.by("policy"), turnOf(since)).deltas.length > 0;
    expect([session.fact(block, "ttl")?.at, fallen(2), fallen(3), fallen(4)]).toEqual([
      3,
      true,
      false,
      false,
    ]);
  });

  it("does not fall twice in one turn", () => {
    const session = new TestSession();
    const block = session.add({ span: 2 });
    session.turns(3);
    settle(session);
    expect(settle(session)).toEqual({ deltas: [], skipped: [] });
    expect(standing(session, block)).toBe("trimmed");
  });

  it("never falls before its turn, and never at all if it has no ttl", () => {
    const session = new TestSession();
    const [late, never] = [session.add({ span: 60 }), session.add()];
    pass(session, 59);
    expect([standing(session, late), standing(session, never)]).toEqual(["original", "original"]);
    pass(session, 2);
    expect([standing(session, late), standing(session, never)]).toEqual(["trimmed", "original"]);
  });

  it("is archived with the reason that it expired, by policy", () => {
    const session = new TestSession();
    const block = session.add({ span: 1 });
    pass(session, 5);
    expect(session.fact(block, "archive")).toEqual({ reason: "expired" });
  });

  it("falls no further in the cold, and keeps the reason it was put there for", () => {
    const session = new TestSession();
    const block = session.add({ span: 2 });
    const put = archive(session.by("model"), [block], "done with it");
    session.take(put.ok ? put.value : { deltas: [] });
    pass(session, 12);
    expect([session.fact(block, "level"), session.fact(block, "archive")]).toEqual([
      "original",
      { reason: "done with it" },
    ]);
  });

  it("whose ttl was taken away does not fall, though the hint is still there", () => {
    const session = new TestSession();
    const block = session.add({ span: 2 });
    session.set(block, { ttl: null }, { by: "user" });
    pass(session, 10);
    expect(standing(session, block)).toBe("original");
  });

  it("whose ttl was put off falls at the new turn only", () => {
    const session = new TestSession();
    const block = session.add({ span: 2 });
    session.set(block, { ttl: { at: turnOf(8), spanTurns: 2 } });
    expect(fall(session, block, 9)).toEqual([[8, "trimmed"]]);
  });

  it("whose level somebody chose is left alone and named, and is not archived either", () => {
    const session = new TestSession();
    const [whole, line] = [session.add({ span: 2 }), session.add({ span: 2 })];
    session.take(wantLevel(session.by("user"), [whole], "original"), "user");
    session.take(wantLevel(session.by("model"), [line], "minimal"), "model");
    session.turns(3);
    const error = { code: "AP_CHANGE_LOCKED", details: { fact: "level" } };
    const skipped = [whole, line].map((block) => ({ block, error }));
    expect(settle(session)).toMatchObject({ deltas: [], skipped });
  });
});

describe("a pair", () => {
  const pairOf = (session: TestSession, block: BlockId) =>
    must(session.state.blocks.get(block), "block").block.pair;

  it("lives as long as the longest of its blocks, and then falls as one", () => {
    const session = new TestSession();
    const blocks = session.addPair(
      { kind: "reasoning", span: 2 },
      { kind: "tool-call", span: 5 },
      { kind: "tool-result", span: 3 },
    );
    pass(session, 5);
    expect(blocks.map((block) => standing(session, block))).toEqual(["original", "original", "original"]);
    pass(session, 1);
    expect(blocks.map((block) => standing(session, block))).toEqual(["trimmed", "trimmed", "trimmed"]);
    pass(session, 5);
    expect(blocks.map((block) => standing(session, block))).toEqual(["minimal", "minimal", "minimal"]);
    pass(session, 5);
    expect(blocks.map((block) => standing(session, block))).toEqual(["archived", "archived", "archived"]);
  });

  it("never falls while one of its blocks has no end", () => {
    const session = new TestSession();
    const blocks = session.addPair({ kind: "tool-call", span: 2 }, { kind: "tool-result" });
    pass(session, 9);
    expect(blocks.map((block) => standing(session, block))).toEqual(["original", "original"]);
  });

  it("waits for a result that came late", () => {
    const session = new TestSession();
    const [call = session.add()] = session.addPair({ kind: "tool-call", span: 3 });
    pass(session, 2);
    const result = session.add({ kind: "tool-result", span: 6, pair: pairOf(session, call) });
    pass(session, 6);
    expect([call, result].map((block) => standing(session, block))).toEqual(["original", "original"]);
    pass(session, 1);
    expect([call, result].map((block) => standing(session, block))).toEqual(["trimmed", "trimmed"]);
  });

  it("goes to the archive together, though its result came when the call had fallen already", () => {
    const session = new TestSession();
    const [call = session.add()] = session.addPair({ kind: "tool-call", span: 2 });
    pass(session, 6);
    expect(standing(session, call)).toBe("minimal");
    const result = session.add({ kind: "tool-result", span: 2, pair: pairOf(session, call) });
    const seen: string[] = [];
    for (let turn = 0; turn < 9; turn += 1) {
      pass(session, 1);
      seen.push(`${standing(session, call)} ${standing(session, result)}`);
    }
    expect([...new Set(seen)]).toEqual([
      "minimal original",
      "minimal trimmed",
      "minimal minimal",
      "archived archived",
    ]);
  });

  it("of which a part is in the cold already falls with the rest of it, and that part keeps its level", () => {
    const session = new TestSession();
    const [call = session.add()] = session.addPair({ kind: "tool-call", span: 40 });
    session.set(call, { archive: { reason: "done" } });
    const result = session.add({ kind: "tool-result", span: 2, pair: pairOf(session, call) });
    pass(session, 3);
    expect(standing(session, result)).toBe("trimmed");
    expect([session.fact(call, "level"), session.fact(call, "archive")]).toEqual([
      "original",
      { reason: "done" },
    ]);
  });

  it("of which one block is pinned keeps all of it", () => {
    const session = new TestSession();
    const blocks = session.addPair({ kind: "tool-call", span: 2 }, { kind: "tool-result", span: 2 });
    session.set(must(blocks[1], "result"), { pin: "bottom" });
    session.turns(3);
    const { deltas, skipped } = settle(session);
    expect(deltas).toEqual([]);
    expect(skipped.map(({ block, error }) => [block, error.code])).toEqual(
      blocks.map((block) => [block, "AP_CHANGE_PINNED"]),
    );
  });
});

describe("what somebody attends to", () => {
  it("waits another span while it is pinned, and starts anew when it is unpinned", () => {
    const session = new TestSession();
    const block = session.add({ span: 3 });
    session.take(pin(session.by("model"), [block], "top"));
    pass(session, 10);
    expect(standing(session, block)).toBe("original");
    session.take(unpin(session.by("model"), [block]));
    expect(session.fact(block, "ttl")).toEqual({ at: 13, spanTurns: 3 });
    expect(fall(session, block, 4)).toEqual([[13, "trimmed"]]);
  });

  it("expires again after the user pinned and unpinned it: the pin was theirs, the ttl is not", () => {
    const session = new TestSession();
    const block = session.add({ span: 3 });
    session.take(pin(session.by("user"), [block], "top"), "user");
    pass(session, 10);
    session.take(unpin(session.by("user"), [block]), "user");
    expect(fall(session, block, 4)).toEqual([[13, "trimmed"]]);
  });

  it("waits another span when it is focused or selected as its ttl ends", () => {
    const session = new TestSession();
    const [focused, selected, neither] = [
      session.add({ span: 3 }),
      session.add({ span: 3 }),
      session.add({ span: 3 }),
    ];
    session.take(focus(session.by("model"), [focused]));
    session.take(select(session.by("user"), [selected]), "user");
    pass(session, 4);
    expect([focused, selected, neither].map((block) => standing(session, block))).toEqual([
      "original",
      "original",
      "trimmed",
    ]);
    expect(session.fact(focused, "ttl")).toEqual({ at: 7, spanTurns: 3 });
    session.run();
    session.take(select(session.by("user"), []), "user");
    pass(session, 3);
    expect([focused, selected].map((block) => standing(session, block))).toEqual(["trimmed", "trimmed"]);
  });

  it("keeps its whole pair waiting", () => {
    const session = new TestSession();
    const blocks = session.addPair({ kind: "tool-call", span: 2 }, { kind: "tool-result", span: 2 });
    session.take(select(session.by("user"), blocks.slice(1)), "user");
    pass(session, 3);
    expect(blocks.map((block) => standing(session, block))).toEqual(["original", "original"]);
    expect(blocks.map((block) => session.fact(block, "ttl")?.at)).toEqual([5, 5]);
  });

  it("is brought back from the cold for another span, at the level it had", () => {
    const session = new TestSession();
    const block = session.add({ span: 2 });
    pass(session, 8);
    expect(standing(session, block)).toBe("archived");
    session.take(restore(session.by("model"), [block]));
    expect(session.fact(block, "ttl")).toEqual({ at: 10, spanTurns: 2 });
    expect(standing(session, block)).toBe("minimal");
    expect(settle(session).deltas).toEqual([]);
  });

  it("is not put away again by policy once the model has brought it back: the model beats policy", () => {
    const session = new TestSession();
    const block = session.add({ span: 2 });
    pass(session, 8);
    session.take(restore(session.by("model"), [block]));
    session.turns(2);
    const error = { code: "AP_CHANGE_LOCKED", details: { fact: "archive", by: "model", actor: "policy" } };
    expect(settle(session)).toMatchObject({ deltas: [], skipped: [{ block, error }] });
  });
});

describe("a fork", () => {
  it("inherits the ttl and goes on counting from the turn its parent was in", () => {
    const session = new TestSession();
    const block = session.add({ span: 4 });
    pass(session, 3);
    const child = session.fork();
    pass(session, 1, child);
    expect([session.turnNow(child), standing(session, block, child)]).toEqual([4, "original"]);
    pass(session, 1, child);
    expect([session.turnNow(child), standing(session, block, child)]).toEqual([5, "trimmed"]);
    expect(standing(session, block)).toBe("original");
  });

  it("from a past seq inherits what was true then, not what its parent did since", () => {
    const session = new TestSession();
    const block = session.add({ span: 2 });
    session.turns(1);
    const { seq } = session.state;
    pass(session, 8);
    expect(standing(session, block)).toBe("archived");
    const child = session.fork({ seq });
    expect(standing(session, block, child)).toBe("original");
    pass(session, 2, child);
    expect([session.turnNow(child), standing(session, block, child)]).toEqual([3, "trimmed"]);
  });

  it("of a fork inherits from all of them, and lowers what each of them had", () => {
    const session = new TestSession();
    const first = session.add({ span: 4 });
    const child = session.fork();
    const second = session.add({ span: 4, view: child });
    session.set(first, { ttl: { at: turnOf(3), spanTurns: 4 } }, { view: child });
    const grandchild = session.fork({ from: child });
    pass(session, 3, grandchild);
    expect([first, second].map((block) => standing(session, block, grandchild))).toEqual([
      "trimmed",
      "original",
    ]);
    pass(session, 2, grandchild);
    expect([first, second].map((block) => standing(session, block, grandchild))).toEqual([
      "trimmed",
      "trimmed",
    ]);
    expect([standing(session, first, child), standing(session, first)]).toEqual(["original", "original"]);
  });

  it("leaves alone what came to its parent after it left", () => {
    const session = new TestSession();
    const child = session.fork();
    session.add({ span: 1 });
    session.turns(4, child);
    expect(expire(session.by("policy", child), turnOf(0))).toEqual({ deltas: [], skipped: [] });
  });
});

describe("a block whose pin is undone after its time", () => {
  it("is lowered with the next turn: undo brings back no immortal", () => {
    const session = new TestSession();
    const block = session.add({ span: 2 });
    const step = session.take(pin(session.by("user"), [block], "top"), "user");
    pass(session, 6);
    expect(standing(session, block)).toBe("original");
    session.reverse(step);
    pass(session, 1);
    expect(standing(session, block)).toBe("trimmed");
  });
});

import { describe, expect, it } from "vitest";
import { mainView, TestSession } from "../../test/support/engine.ts";
import { type BlockId, must, turnOf, type ViewId } from "../base/index.ts";
import {
  archiveBlocks,
  focusBlocks,
  type Proposal,
  pinBlocks,
  referenceBlocks,
  restoreBlocks,
  setBlockLevel,
  setSelection,
  unpinBlocks,
} from "./change-facts.ts";
import { expire } from "./expire.ts";

/** Expires blocks as policy does after every turn. */
function expireBlocks(session: TestSession, view: ViewId = mainView): Proposal {
  const proposal = expire(session.by("policy", view), turnOf(Math.max(0, session.turnNow(view) - 1)));
  if (proposal.deltas.length > 0) session.take(proposal, "policy");
  return proposal;
}

function passTurns(session: TestSession, turns: number, view: ViewId = mainView): void {
  for (let done = 0; done < turns; done += 1) {
    session.turns(1, view);
    expireBlocks(session, view);
  }
}

/** The level of a block, or that it is archived. */
const statusOf = (session: TestSession, block: BlockId, view: ViewId = mainView): string =>
  session.fact(block, "archive", view) === null ? session.fact(block, "level", view) : "archived";

/** The turns at which a block changes, each with its new level. */
function lowerings(
  session: TestSession,
  block: BlockId,
  turns: number,
): readonly (readonly [number, string])[] {
  const steps: [number, string][] = [];
  for (let done = 0; done < turns; done += 1) {
    const before = statusOf(session, block);
    passTurns(session, 1);
    const after = statusOf(session, block);
    if (after !== before) steps.push([session.turnNow(), after]);
  }
  return steps;
}

describe("a block whose ttl ends", () => {
  it("is lowered from original to trimmed to minimal to the archive, one span apart", () => {
    const session = new TestSession();
    const block = session.add({ span: 3 });
    expect(lowerings(session, block, 20)).toEqual([
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
    expect(lowerings(session, block, 12)).toEqual(steps);
  });

  it("waits another span if it was referenced lately", () => {
    const session = new TestSession();
    const block = session.add({ span: 3 });
    passTurns(session, 1);
    session.take(referenceBlocks(session.by("policy"), [block]), "policy");
    expect(lowerings(session, block, 8)).toEqual([[7, "trimmed"]]);
  });

  it("is lowered by one level at a time, however late expiry runs", () => {
    const session = new TestSession();
    const block = session.add({ span: 2 });
    session.turns(50);
    session.take(expire(session.by("policy"), turnOf(0)), "policy");
    expect(statusOf(session, block)).toBe("trimmed");
    expect(session.fact(block, "ttl")).toEqual({ at: 52, spanTurns: 2 });
  });

  it("is lowered if the ttl ended after `since`, and not again if it ended before", () => {
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

  it("is not lowered twice in one turn", () => {
    const session = new TestSession();
    const block = session.add({ span: 2 });
    session.turns(3);
    expireBlocks(session);
    expect(expireBlocks(session)).toEqual({ deltas: [], skipped: [] });
    expect(statusOf(session, block)).toBe("trimmed");
  });

  it("is never lowered before its turn, and never without a ttl", () => {
    const session = new TestSession();
    const [late, never] = [session.add({ span: 60 }), session.add()];
    passTurns(session, 59);
    expect([statusOf(session, late), statusOf(session, never)]).toEqual(["original", "original"]);
    passTurns(session, 2);
    expect([statusOf(session, late), statusOf(session, never)]).toEqual(["trimmed", "original"]);
  });

  it("is archived by policy, with the reason that it expired", () => {
    const session = new TestSession();
    const block = session.add({ span: 1 });
    passTurns(session, 5);
    expect(session.fact(block, "archive")).toEqual({ reason: "expired" });
  });

  it("is not lowered further once archived, and keeps its reason", () => {
    const session = new TestSession();
    const block = session.add({ span: 2 });
    const put = archiveBlocks(session.by("model"), [block], "done with it");
    session.take(put.ok ? put.value : { deltas: [] });
    passTurns(session, 12);
    expect([session.fact(block, "level"), session.fact(block, "archive")]).toEqual([
      "original",
      { reason: "done with it" },
    ]);
  });

  it("is not lowered if its ttl was removed, though the hint is still there", () => {
    const session = new TestSession();
    const block = session.add({ span: 2 });
    session.set(block, { ttl: null }, { by: "user" });
    passTurns(session, 10);
    expect(statusOf(session, block)).toBe("original");
  });

  it("is lowered only at the new turn if its ttl was extended", () => {
    const session = new TestSession();
    const block = session.add({ span: 2 });
    session.set(block, { ttl: { at: turnOf(8), spanTurns: 2 } });
    expect(lowerings(session, block, 9)).toEqual([[8, "trimmed"]]);
  });

  it("is skipped by name, and not archived, if an actor chose its level", () => {
    const session = new TestSession();
    const [whole, line] = [session.add({ span: 2 }), session.add({ span: 2 })];
    session.take(setBlockLevel(session.by("user"), [whole], "original"), "user");
    session.take(setBlockLevel(session.by("model"), [line], "minimal"), "model");
    session.turns(3);
    const error = { code: "AP_CHANGE_LOCKED", details: { fact: "level" } };
    const skipped = [whole, line].map((block) => ({ block, error }));
    expect(expireBlocks(session)).toMatchObject({ deltas: [], skipped });
  });
});

describe("a pair", () => {
  const pairOf = (session: TestSession, block: BlockId) =>
    must(session.state.blocks.get(block), "block").block.pair;

  it("lives as long as its longest-lived block, and then is lowered as one", () => {
    const session = new TestSession();
    const blocks = session.addPair(
      { kind: "reasoning", span: 2 },
      { kind: "tool-call", span: 5 },
      { kind: "tool-result", span: 3 },
    );
    passTurns(session, 5);
    expect(blocks.map((block) => statusOf(session, block))).toEqual(["original", "original", "original"]);
    passTurns(session, 1);
    expect(blocks.map((block) => statusOf(session, block))).toEqual(["trimmed", "trimmed", "trimmed"]);
    passTurns(session, 5);
    expect(blocks.map((block) => statusOf(session, block))).toEqual(["minimal", "minimal", "minimal"]);
    passTurns(session, 5);
    expect(blocks.map((block) => statusOf(session, block))).toEqual(["archived", "archived", "archived"]);
  });

  it("is never lowered while one of its blocks has no ttl", () => {
    const session = new TestSession();
    const blocks = session.addPair({ kind: "tool-call", span: 2 }, { kind: "tool-result" });
    passTurns(session, 9);
    expect(blocks.map((block) => statusOf(session, block))).toEqual(["original", "original"]);
  });

  it("waits for a late result", () => {
    const session = new TestSession();
    const [call = session.add()] = session.addPair({ kind: "tool-call", span: 3 });
    passTurns(session, 2);
    const result = session.add({ kind: "tool-result", span: 6, pair: pairOf(session, call) });
    passTurns(session, 6);
    expect([call, result].map((block) => statusOf(session, block))).toEqual(["original", "original"]);
    passTurns(session, 1);
    expect([call, result].map((block) => statusOf(session, block))).toEqual(["trimmed", "trimmed"]);
  });

  it("is archived together, though the call was lowered before its result came", () => {
    const session = new TestSession();
    const [call = session.add()] = session.addPair({ kind: "tool-call", span: 2 });
    passTurns(session, 6);
    expect(statusOf(session, call)).toBe("minimal");
    const result = session.add({ kind: "tool-result", span: 2, pair: pairOf(session, call) });
    const seen: string[] = [];
    for (let turn = 0; turn < 9; turn += 1) {
      passTurns(session, 1);
      seen.push(`${statusOf(session, call)} ${statusOf(session, result)}`);
    }
    expect([...new Set(seen)]).toEqual([
      "minimal original",
      "minimal trimmed",
      "minimal minimal",
      "archived archived",
    ]);
  });

  it("is lowered without the blocks that are archived already", () => {
    const session = new TestSession();
    const [call = session.add()] = session.addPair({ kind: "tool-call", span: 40 });
    session.set(call, { archive: { reason: "done" } });
    const result = session.add({ kind: "tool-result", span: 2, pair: pairOf(session, call) });
    passTurns(session, 3);
    expect(statusOf(session, result)).toBe("trimmed");
    expect([session.fact(call, "level"), session.fact(call, "archive")]).toEqual([
      "original",
      { reason: "done" },
    ]);
  });

  it("is kept whole if one of its blocks is pinned", () => {
    const session = new TestSession();
    const blocks = session.addPair({ kind: "tool-call", span: 2 }, { kind: "tool-result", span: 2 });
    session.set(must(blocks[1], "result"), { pin: "bottom" });
    session.turns(3);
    const { deltas, skipped } = expireBlocks(session);
    expect(deltas).toEqual([]);
    expect(skipped.map(({ block, error }) => [block, error.code])).toEqual(
      blocks.map((block) => [block, "AP_CHANGE_PINNED"]),
    );
  });
});

describe("a block with attention", () => {
  it("waits while it is pinned, and gets a new span when it is unpinned", () => {
    const session = new TestSession();
    const block = session.add({ span: 3 });
    session.take(pinBlocks(session.by("model"), [block], "top"));
    passTurns(session, 10);
    expect(statusOf(session, block)).toBe("original");
    session.take(unpinBlocks(session.by("model"), [block]));
    expect(session.fact(block, "ttl")).toEqual({ at: 13, spanTurns: 3 });
    expect(lowerings(session, block, 4)).toEqual([[13, "trimmed"]]);
  });

  it("expires again after the user pinned and unpinned it: policy still owns the ttl", () => {
    const session = new TestSession();
    const block = session.add({ span: 3 });
    session.take(pinBlocks(session.by("user"), [block], "top"), "user");
    passTurns(session, 10);
    session.take(unpinBlocks(session.by("user"), [block]), "user");
    expect(lowerings(session, block, 4)).toEqual([[13, "trimmed"]]);
  });

  it("waits another span if it is focused or selected when its ttl ends", () => {
    const session = new TestSession();
    const [focused, selected, neither] = [
      session.add({ span: 3 }),
      session.add({ span: 3 }),
      session.add({ span: 3 }),
    ];
    session.take(focusBlocks(session.by("model"), [focused]));
    session.take(setSelection(session.by("user"), [selected]), "user");
    passTurns(session, 4);
    expect([focused, selected, neither].map((block) => statusOf(session, block))).toEqual([
      "original",
      "original",
      "trimmed",
    ]);
    expect(session.fact(focused, "ttl")).toEqual({ at: 7, spanTurns: 3 });
    session.run();
    session.take(setSelection(session.by("user"), []), "user");
    passTurns(session, 3);
    expect([focused, selected].map((block) => statusOf(session, block))).toEqual(["trimmed", "trimmed"]);
  });

  it("keeps its whole pair waiting", () => {
    const session = new TestSession();
    const blocks = session.addPair({ kind: "tool-call", span: 2 }, { kind: "tool-result", span: 2 });
    session.take(setSelection(session.by("user"), blocks.slice(1)), "user");
    passTurns(session, 3);
    expect(blocks.map((block) => statusOf(session, block))).toEqual(["original", "original"]);
    expect(blocks.map((block) => session.fact(block, "ttl")?.at)).toEqual([5, 5]);
  });

  it("is restored for another span, at the level it had", () => {
    const session = new TestSession();
    const block = session.add({ span: 2 });
    passTurns(session, 8);
    expect(statusOf(session, block)).toBe("archived");
    session.take(restoreBlocks(session.by("model"), [block]));
    expect(session.fact(block, "ttl")).toEqual({ at: 10, spanTurns: 2 });
    expect(statusOf(session, block)).toBe("minimal");
    expect(expireBlocks(session).deltas).toEqual([]);
  });

  it("is not archived again by policy after the model restored it: the model beats policy", () => {
    const session = new TestSession();
    const block = session.add({ span: 2 });
    passTurns(session, 8);
    session.take(restoreBlocks(session.by("model"), [block]));
    session.turns(2);
    const error = { code: "AP_CHANGE_LOCKED", details: { fact: "archive", by: "model", actor: "policy" } };
    expect(expireBlocks(session)).toMatchObject({ deltas: [], skipped: [{ block, error }] });
  });
});

describe("a fork", () => {
  it("inherits the ttl and continues its parent's count of turns", () => {
    const session = new TestSession();
    const block = session.add({ span: 4 });
    passTurns(session, 3);
    const child = session.fork();
    passTurns(session, 1, child);
    expect([session.turnNow(child), statusOf(session, block, child)]).toEqual([4, "original"]);
    passTurns(session, 1, child);
    expect([session.turnNow(child), statusOf(session, block, child)]).toEqual([5, "trimmed"]);
    expect(statusOf(session, block)).toBe("original");
  });

  it("from a past seq inherits the facts of that seq, not its parent's later changes", () => {
    const session = new TestSession();
    const block = session.add({ span: 2 });
    session.turns(1);
    const { seq } = session.state;
    passTurns(session, 8);
    expect(statusOf(session, block)).toBe("archived");
    const child = session.fork({ seq });
    expect(statusOf(session, block, child)).toBe("original");
    passTurns(session, 2, child);
    expect([session.turnNow(child), statusOf(session, block, child)]).toEqual([3, "trimmed"]);
  });

  it("of a fork inherits from all its parents, and lowers the blocks of each", () => {
    const session = new TestSession();
    const first = session.add({ span: 4 });
    const child = session.fork();
    const second = session.add({ span: 4, view: child });
    session.set(first, { ttl: { at: turnOf(3), spanTurns: 4 } }, { view: child });
    const grandchild = session.fork({ from: child });
    passTurns(session, 3, grandchild);
    expect([first, second].map((block) => statusOf(session, block, grandchild))).toEqual([
      "trimmed",
      "original",
    ]);
    passTurns(session, 2, grandchild);
    expect([first, second].map((block) => statusOf(session, block, grandchild))).toEqual([
      "trimmed",
      "trimmed",
    ]);
    expect([statusOf(session, first, child), statusOf(session, first)]).toEqual(["original", "original"]);
  });

  it("does not touch blocks its parent got after the fork", () => {
    const session = new TestSession();
    const child = session.fork();
    session.add({ span: 1 });
    session.turns(4, child);
    expect(expire(session.by("policy", child), turnOf(0))).toEqual({ deltas: [], skipped: [] });
  });
});

describe("a block whose pin is undone after its ttl ended", () => {
  it("is lowered with the next turn", () => {
    const session = new TestSession();
    const block = session.add({ span: 2 });
    const step = session.take(pinBlocks(session.by("user"), [block], "top"), "user");
    passTurns(session, 6);
    expect(statusOf(session, block)).toBe("original");
    session.reverse(step);
    passTurns(session, 1);
    expect(statusOf(session, block)).toBe("trimmed");
  });
});

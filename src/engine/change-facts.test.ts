import { describe, expect, it } from "vitest";
import { TestSession } from "../../test/support/engine.ts";
import { factsOf } from "../../test/support/facts-of.ts";
import { type BlockId, blockId, limits, must, type Result, turnOf, unwrap } from "../base/index.ts";
import {
  archiveBlocks,
  type ChangeContext,
  focusBlocks,
  type Proposal,
  pairTargets,
  pinBlocks,
  propose,
  referenceBlocks,
  restoreBlocks,
  setBlockLevel,
  setSelection,
  singleTargets,
  supersedeBlock,
  unpinBlocks,
  withholdBlocks,
} from "./change-facts.ts";
import { levels } from "./frames/block.ts";
import type { FactName } from "./frames/facts.ts";

type Verb = (change: ChangeContext, blocks: readonly BlockId[]) => Proposal;

/** Every verb, as the user would use it; each changes the named fact. */
const verbs: Readonly<Record<string, { readonly fact: FactName; readonly verb: Verb }>> = {
  wantLevel: { fact: "level", verb: (change, blocks) => setBlockLevel(change, blocks, "trimmed") },
  pin: { fact: "pin", verb: (change, blocks) => pinBlocks(change, blocks, "top") },
  unpin: { fact: "pin", verb: unpinBlocks },
  archive: { fact: "archive", verb: (change, blocks) => unwrap(archiveBlocks(change, blocks, "done")) },
  restore: { fact: "archive", verb: restoreBlocks },
  focus: { fact: "focus", verb: focusBlocks },
  select: { fact: "selection", verb: setSelection },
  withhold: { fact: "withhold", verb: (change, blocks) => unwrap(withholdBlocks(change, blocks, true)) },
  reference: { fact: "reference", verb: referenceBlocks },
};
const spreading = ["wantLevel", "pin", "archive", "focus", "withhold"];

const reasons = ({ skipped }: Proposal) => skipped.map(({ block, error }) => [block, error.code]);
const changedBlocks = ({ deltas }: Proposal) =>
  deltas.map((delta) => ("block" in delta ? delta.block : null));

function pairWithNeighbour(): {
  readonly session: TestSession;
  readonly pair: readonly BlockId[];
  readonly other: BlockId;
} {
  const session = new TestSession();
  const pair = session.addPair({ kind: "reasoning" }, { kind: "tool-call" }, { kind: "tool-call" });
  const { pair: id } = must(session.state.blocks.get(must(pair[0], "first")), "block").block;
  const late = session.add({ kind: "tool-result", pair: id });
  return { session, pair: [...pair, late], other: session.add() };
}

describe("every change", () => {
  it.each(Object.entries(verbs))(
    "%s skips blocks it cannot reach, by name, and changes the rest",
    (_, { verb }) => {
      const session = new TestSession();
      const before = session.fork();
      const mine = session.add();
      const [foreign, missing] = [session.add({ view: before }), blockId(77)];
      session.set(mine, { archive: { reason: "x" }, pin: "top" });
      session.set(mine, { archive: null, pin: "none" });
      const proposal = verb(session.by("user"), [missing, mine, foreign]);
      expect(reasons(proposal)).toEqual([
        [missing, "AP_BLOCK_UNKNOWN"],
        [foreign, "AP_BLOCK_UNKNOWN"],
      ]);
      expect(new Set(changedBlocks(proposal))).toEqual(new Set([mine]));
    },
  );

  it.each(Object.entries(verbs))(
    "%s of nothing, or of a block named twice, is not more than it says",
    (_, { fact, verb }) => {
      const session = new TestSession();
      const block = session.add();
      expect(verb(session.by("user"), [])).toEqual({ deltas: [], skipped: [] });
      const { deltas } = verb(session.by("user"), [block, block]);
      expect(deltas.filter(({ type }) => type === `${fact}-set`)).toHaveLength(1);
    },
  );

  it.each(Object.entries(verbs))("%s changes no other fact", (_, { fact, verb }) => {
    const session = new TestSession();
    const block = session.add({ span: 9 });
    const { [fact]: __, ...before } = factsOf(session.place(block));
    session.take(verb(session.by("user"), [block]), "user");
    const { [fact]: ___, ...after } = factsOf(session.place(block));
    expect(after).toEqual(before);
  });

  it.each(spreading)("%s reaches the whole pair from any of its blocks, and nothing else", (name) => {
    const { session, pair, other } = pairWithNeighbour();
    for (const block of pair) {
      const proposal = must(verbs[name], "verb").verb(session.by("user"), [block]);
      expect(new Set(changedBlocks(proposal))).toEqual(new Set(pair));
    }
    expect(changedBlocks(must(verbs[name], "verb").verb(session.by("user"), [other]))).toEqual([other]);
  });

  it.each(["select", "reference"])("%s does not spread to the pair", (name) => {
    const { session, pair } = pairWithNeighbour();
    expect(changedBlocks(must(verbs[name], "verb").verb(session.by("user"), [pair[1] as BlockId]))).toEqual([
      pair[1],
    ]);
  });

  it("proposes deltas that fit only the moment they were made for", () => {
    const session = new TestSession();
    const block = session.add();
    const first = setBlockLevel(session.by("model"), [block], "trimmed");
    session.take(first);
    const again = session.attempt(first.deltas);
    expect(again.ok ? null : again.error.code).toBe("AP_DELTA_STALE");
  });

  it("proposes nothing if it would change nothing", () => {
    const session = new TestSession();
    const block = session.add();
    session.take(setBlockLevel(session.by("model"), [block], "trimmed"));
    expect(setBlockLevel(session.by("model"), [block], "trimmed")).toEqual({ deltas: [], skipped: [] });
  });

  it("changes an inherited block in the fork only", () => {
    const session = new TestSession();
    const block = session.add();
    const child = session.fork();
    session.take(pinBlocks(session.by("model", child), [block], "top"));
    expect([session.fact(block, "pin", child), session.fact(block, "pin")]).toEqual(["top", "none"]);
  });
});

describe("a pin", () => {
  it("refuses a lower level and an archive to every actor, with an error", () => {
    const session = new TestSession();
    const block = session.add();
    session.take(pinBlocks(session.by("model"), [block], "bottom"));
    for (const actor of ["user", "client", "model", "sidecar", "policy"] as const) {
      expect(reasons(setBlockLevel(session.by(actor), [block], "minimal"))).toEqual([
        [block, "AP_CHANGE_PINNED"],
      ]);
      expect(reasons(unwrap(archiveBlocks(session.by(actor), [block], "x")))).toEqual([
        [block, "AP_CHANGE_PINNED"],
      ]);
    }
  });

  it("on one block protects its whole pair, also from a change of another block", () => {
    const { session, pair, other } = pairWithNeighbour();
    session.set(pair[1] as BlockId, { pin: "top" });
    const proposal = setBlockLevel(session.by("model"), [pair[3] as BlockId, other], "minimal");
    expect(reasons(proposal)).toEqual(pair.map((block) => [block, "AP_CHANGE_PINNED"]));
    expect(changedBlocks(proposal)).toEqual([other]);
  });

  it("does not prevent a higher level", () => {
    const session = new TestSession();
    const block = session.add();
    session.set(block, { level: "minimal", pin: "top" });
    expect(changedBlocks(setBlockLevel(session.by("policy"), [block], "original"))).toEqual([block]);
    expect(changedBlocks(setBlockLevel(session.by("policy"), [block], "summarized"))).toEqual([block]);
  });

  it("does not refuse the level the block has already", () => {
    const session = new TestSession();
    const block = session.add();
    session.set(block, { level: "trimmed", pin: "top" });
    expect(setBlockLevel(session.by("policy"), [block], "trimmed")).toEqual({ deltas: [], skipped: [] });
  });

  it("may be moved and removed", () => {
    const session = new TestSession();
    const block = session.add();
    session.take(pinBlocks(session.by("model"), [block], "top"));
    session.take(pinBlocks(session.by("model"), [block], "bottom"));
    expect(session.fact(block, "pin")).toBe("bottom");
    session.take(unpinBlocks(session.by("model"), [block]));
    expect(session.fact(block, "pin")).toBe("none");
  });

  it.each([
    ["ran out under it", 1, { at: 5, spanTurns: 1 }],
    ["ends this very turn", 3, { at: 7, spanTurns: 3 }],
    ["has not ended", 4, { at: 5, spanTurns: 4 }],
  ])("that is taken off starts a ttl anew that %s", (_, span, expected) => {
    const session = new TestSession();
    const block = session.add({ span });
    session.take(pinBlocks(session.by("model"), [block], "top"));
    session.turns(4);
    session.take(unpinBlocks(session.by("model"), [block]));
    expect(session.fact(block, "ttl")).toEqual(expected);
  });
});

describe("archiving", () => {
  it.each(["", " ", "\n\t "])("is refused without a reason (%j)", (reason) => {
    const session = new TestSession();
    const result = archiveBlocks(session.by("user"), [session.add()], reason);
    expect(result.ok ? null : result.error.code).toBe("AP_CHANGE_REASON");
  });

  it("cuts a long reason without breaking a character", () => {
    const session = new TestSession();
    const block = session.add();
    const reason = `${"x".repeat(limits.reasonCharsMax - 1)}😀`;
    session.take(unwrap(archiveBlocks(session.by("model"), [block], reason)));
    expect(session.fact(block, "archive")).toEqual({ reason: "x".repeat(limits.reasonCharsMax - 1) });
  });

  it("keeps the level, so that a restored block is as before", () => {
    const session = new TestSession();
    const block = session.add();
    session.set(block, { level: "summarized" });
    session.take(unwrap(archiveBlocks(session.by("policy"), [block], "done")), "policy");
    session.take(restoreBlocks(session.by("policy"), [block]), "policy");
    expect([session.fact(block, "archive"), session.fact(block, "level")]).toEqual([null, "summarized"]);
  });
});

describe("a purged block", () => {
  it("cannot be restored or raised, and the error says so", () => {
    const session = new TestSession();
    const block = session.add();
    session.set(block, { level: "trimmed", archive: { reason: "x" } });
    session.append([{ type: "block-purged", block }]);
    expect(reasons(restoreBlocks(session.by("user"), [block]))).toEqual([[block, "AP_BLOCK_PURGED"]]);
    expect(reasons(setBlockLevel(session.by("user"), [block], "original"))).toEqual([
      [block, "AP_BLOCK_PURGED"],
    ]);
  });
});

describe("the other changes", () => {
  it.each(levels)("a level can be changed from %s to any other", (from) => {
    for (const to of levels.filter((level) => level !== from)) {
      const session = new TestSession();
      const block = session.add();
      session.set(block, { level: from });
      session.take(setBlockLevel(session.by("model"), [block], to));
      expect(session.fact(block, "level")).toBe(to);
    }
  });

  it("a focus lasts for the current run, twenty turns at most", () => {
    const session = new TestSession();
    session.run();
    session.run();
    session.turns(3);
    const block = session.add();
    session.take(focusBlocks(session.by("model"), [block]));
    expect(session.fact(block, "focus")).toEqual({ run: 2, until: 23 });
  });

  it("a selection is exactly the blocks it names", () => {
    const session = new TestSession();
    const [a, b, c] = [session.add(), session.add(), session.add()];
    session.take(setSelection(session.by("user"), [a, b]), "user");
    const second = setSelection(session.by("user"), [b, c]);
    expect(changedBlocks(second)).toEqual([c, a]);
    session.take(second, "user");
    expect([a, b, c].map((block) => session.fact(block, "selection"))).toEqual([false, true, true]);
    session.take(setSelection(session.by("user"), []), "user");
    expect([a, b, c].map((block) => session.fact(block, "selection"))).toEqual([false, false, false]);
  });

  it.each(["client", "model", "sidecar", "policy"] as const)(
    "withholding, and taking it back, is refused to the %s by name",
    (actor) => {
      const session = new TestSession();
      const block = session.add();
      for (const withheld of [true, false]) {
        const result: Result<Proposal> = withholdBlocks(session.by(actor), [block], withheld);
        expect(result.ok ? null : result.error.code).toBe("AP_CHANGE_WITHHOLD");
      }
    },
  );

  it("the user may withhold even a pinned block, and release it", () => {
    const session = new TestSession();
    const block = session.add();
    session.set(block, { pin: "top" });
    session.take(unwrap(withholdBlocks(session.by("user"), [block], true)), "user");
    expect(session.fact(block, "withhold")).toBe(true);
    session.take(unwrap(withholdBlocks(session.by("user"), [block], false)), "user");
    expect(session.fact(block, "withhold")).toBe(false);
  });

  it("a reference adds one to the count and keeps its turn", () => {
    const session = new TestSession();
    const block = session.add();
    expect(session.fact(block, "reference")).toEqual({ turn: 1, count: 0 });
    session.turns(4);
    session.take(referenceBlocks(session.by("model"), [block]));
    session.turns(2);
    session.take(referenceBlocks(session.by("model"), [block]));
    expect(session.fact(block, "reference")).toEqual({ turn: 6, count: 2 });
  });

  it("superseding marks the older block, and both must be in reach", () => {
    const session = new TestSession();
    const [older, newer, missing] = [session.add(), session.add(), blockId(77)];
    expect(reasons(supersedeBlock(session.by("policy"), older, missing))).toEqual([
      [missing, "AP_BLOCK_UNKNOWN"],
    ]);
    expect(changedBlocks(supersedeBlock(session.by("policy"), older, missing))).toEqual([]);
    expect(reasons(supersedeBlock(session.by("policy"), missing, newer))).toEqual([
      [missing, "AP_BLOCK_UNKNOWN"],
    ]);
    session.take(supersedeBlock(session.by("policy"), older, newer), "policy");
    expect([session.fact(older, "supersession"), session.fact(newer, "supersession")]).toEqual([newer, null]);
  });
});

describe("the parts of a change", () => {
  it("targets: a pair is one group, a block without a pair is one, and each comes once", () => {
    const { session, pair, other } = pairWithNeighbour();
    const ids = (targets: ReturnType<typeof singleTargets>) =>
      targets.groups.map((group) => group.map(({ block }) => block.id));
    const change = session.by("model");
    expect(ids(pairTargets(change, [pair[2] as BlockId, other, pair[0] as BlockId]))).toEqual([
      pair,
      [other],
    ]);
    expect(ids(singleTargets(change, [pair[2] as BlockId, other]))).toEqual([[pair[2]], [other]]);
  });

  it("rules: refusing one block of a group refuses the group", () => {
    const { session, pair, other } = pairWithNeighbour();
    const change = session.by("model");
    const rule = setBlockLevel(change, [blockId(99)], "minimal").skipped[0]?.error;
    const proposal = propose(change, pairTargets(change, [...pair, other]), ({ block }) =>
      block.id === pair[2] ? must(rule, "an error") : { ttl: { at: turnOf(9), spanTurns: 1 } },
    );
    expect([changedBlocks(proposal), reasons(proposal).map(([block]) => block)]).toEqual([[other], pair]);
  });
});

// Each of these went wrong in one of the systems this one follows. The names say what must not happen again.

import { describe, expect, it } from "vitest";
import { describeMoment } from "../../test/support/describe-moment.ts";
import { dump, mainView, TestSession } from "../../test/support/engine.ts";
import { factsOf } from "../../test/support/facts-of.ts";
import { stateToPages } from "../../test/support/state-pages.ts";
import { type BlockId, hashContent, must, type Result, turnOf, unwrap } from "../base/index.ts";
import { archiveBlocks, pinBlocks, restoreBlocks, setBlockLevel } from "./change-facts.ts";
import { expire } from "./expire.ts";
import type { Delta } from "./frames/delta.ts";
import { parseFrame } from "./frames/frame-shape.ts";
import { lifecycleOf } from "./moment/lifecycle.ts";
import { attributesOf, momentAt, now, viewBlocks } from "./moment/moment.ts";
import { replayFrames } from "./reduce.ts";
import { stateFromPages } from "./snapshot.ts";
import { emptyState, type State } from "./state.ts";

const text = (value: unknown) => JSON.stringify(value);
const replayAll = (session: TestSession): State =>
  unwrap(replayFrames(emptyState(session.state.session), session.frames));
const codeOf = (result: Result<unknown>) => (result.ok ? null : result.error.code);
const ids = (session: TestSession) => [...viewBlocks(now(session.state), session.view())].map(({ id }) => id);

function expireBlocks(session: TestSession): void {
  const proposal = expire(session.by("policy"), turnOf(session.turnNow() - 1));
  if (proposal.deltas.length > 0) session.take(proposal, "policy");
}

function pairOf(session: TestSession): readonly BlockId[] {
  return session.addPair({ kind: "tool-call", span: 2 }, { kind: "tool-result", span: 2 });
}

describe("a system of frames and facets", () => {
  it("hid a block for ever that was removed and added again: here it is back, and in its old place", () => {
    const session = new TestSession();
    const block = session.wished();
    session.append([{ type: "block-added", block }]);
    session.add();
    const before = ids(session);
    session.append([{ type: "block-removed", block }]);
    session.append([{ type: "block-added", block }]);
    session.turns(1);
    expect(ids(session)).toEqual(before);
    expect(lifecycleOf(session.place(block.id))).toBe("active");
  });

  it("merged a rewritten value in three ways: here a value is replaced, live and in replay alike", () => {
    const session = new TestSession();
    const block = session.add();
    const tokens = { count: 1, exact: true };
    const [first, second] = [
      { content: hashContent("a"), tokens },
      { content: hashContent("b"), tokens: { ...tokens, count: 2 } },
    ];
    session.append([{ type: "topics-set", block, from: [], to: ["p", "q"] }]);
    session.append([{ type: "topics-set", block, from: ["p", "q"], to: ["p"] }]);
    session.append([{ type: "rendition-set", block, level: "trimmed", from: null, to: first }]);
    session.append([{ type: "rendition-set", block, level: "trimmed", from: first, to: second }]);
    for (const state of [session.state, replayAll(session)]) {
      expect(attributesOf(now(state), block)).toMatchObject({
        topics: ["p"],
        renditions: { trimmed: second },
      });
    }
  });

  it("forgot in replay what its live state swept away: here an expiry is a frame like any other", () => {
    const session = new TestSession();
    const block = session.add({ span: 1 });
    for (let turn = 0; turn < 5; turn += 1) {
      session.turns(1);
      expireBlocks(session);
    }
    expect(session.fact(block, "archive")).not.toBeNull();
    expect(dump(replayAll(session))).toEqual(dump(session.state));
  });

  it("gave a past that never was: here the state as of any seq is the one that was live", () => {
    const session = new TestSession();
    const seen = [text(describeMoment(now(session.state)))];
    const note = () => seen.push(text(describeMoment(now(session.state))));
    const [block = session.add()] = pairOf(session);
    note();
    session.turns(3);
    note();
    session.take(pinBlocks(session.by("model"), [block], "top"));
    note();
    const last = session.state;
    const found = [1, 3, 9, 10].map((seq) => text(describeMoment(unwrap(momentAt(last, seq)))));
    expect(found).toEqual(seen);
  });

  it("changed the snapshot it had been handed: here two states made from one do not touch it or each other", () => {
    const session = new TestSession();
    const block = session.add();
    const taken = stateToPages(session.state, new Set());
    const bytes = text([
      taken.root,
      [...taken.pages].map(([name, page]) => [name, Buffer.from(page).toString("hex")]),
    ]);
    const [one, other] = [unwrap(stateFromPages(taken)), unwrap(stateFromPages(taken))];
    session.state = one;
    session.set(block, { pin: "top" });
    session.add();
    expect(dump(other)).toEqual(dump(unwrap(stateFromPages(taken))));
    expect(
      text([taken.root, [...taken.pages].map(([name, page]) => [name, Buffer.from(page).toString("hex")])]),
    ).toBe(bytes);
  });

  it("wrote on frames that were frozen: here a frame is the same after it was applied", () => {
    const session = new TestSession();
    const frame = session.frame([{ type: "run-started", stream: session.stream().id, from: 0, to: 1 }]);
    const before = text(frame);
    session.append(frame.deltas);
    expect(text(frame)).toBe(before);
  });

  it("skipped changes of blocks older than what it had kept: here a snapshot is a whole baseline", () => {
    const session = new TestSession();
    const block = session.add();
    session.pass(5);
    const base = unwrap(stateFromPages(stateToPages(session.state, new Set())));
    const { length } = session.frames;
    session.append([{ type: "topics-set", block, from: [], to: ["a"] }]);
    session.take(setBlockLevel(session.by("model"), [block], "minimal"));
    const reopened = unwrap(replayFrames(base, session.frames.slice(length)));
    expect(dump(reopened)).toEqual(dump(session.state));
  });

  it("dropped operations no reducer knew: here they are refused at the door", () => {
    const session = new TestSession();
    const odd = { type: "facet-deleted", id: 1 } as unknown as Delta;
    expect(codeOf(parseFrame(session.frame([odd])))).toBe("AP_FRAME_SHAPE");
  });

  it("left gaps in its log and then refused to start: here a gap never gets in", () => {
    const session = new TestSession();
    session.pass(3);
    const gap = session.frames.filter(({ seq }) => seq !== 2);
    expect(codeOf(replayFrames(emptyState(session.state.session), gap))).toBe("AP_FRAME_ORDER");
  });

  it("showed a removed block in a fork, or lost it there: here a fork has what was there when it left", () => {
    const session = new TestSession();
    const block = session.wished();
    const added = session.append([{ type: "block-added", block }]);
    const removed = session.append([{ type: "block-removed", block }]);
    const [with_, without] = [session.fork({ seq: added }), session.fork({ seq: removed })];
    session.append([{ type: "block-added", block }]);
    expect([with_, without, mainView].map((view) => session.isInReach(block.id, view))).toEqual([
      true,
      false,
      true,
    ]);
  });
});

describe("a system of parts and depths", () => {
  it("counted a ttl by what was left in the list: here it is a turn, and nothing moves it back", () => {
    const session = new TestSession();
    const old = session.add({ span: 3 });
    const ends = [];
    for (let turn = 0; turn < 3; turn += 1) {
      const newer = session.add({ span: 9 });
      session.turns(1);
      ends.push(session.fact(old, "ttl")?.at);
      session.take(unwrap(archiveBlocks(session.by("model"), [newer], "pruned")));
    }
    expect(ends).toEqual([4, 4, 4]);
    session.turns(1);
    expireBlocks(session);
    expect(session.fact(old, "level")).toBe("trimmed");
  });

  it("showed an expired part again when newer ones were pruned: here what fell stays down", () => {
    const session = new TestSession();
    const old = session.add({ span: 1 });
    const newer = [1, 2, 3, 4].map(() => session.add({ span: 50 }));
    for (let turn = 0; turn < 6; turn += 1) {
      session.turns(1);
      expireBlocks(session);
    }
    const fallen = factsOf(session.place(old)).archive;
    session.take(unwrap(archiveBlocks(session.by("model"), newer, "pruned")));
    session.turns(3);
    expireBlocks(session);
    expect(fallen.value).toEqual({ reason: "expired" });
    expect(factsOf(session.place(old)).archive).toEqual(fallen);
  });

  it("collected what was pruned one message later: here an archived block is there for ever, and comes back", () => {
    const session = new TestSession();
    const block = session.add();
    session.take(unwrap(archiveBlocks(session.by("model"), [block], "pruned")));
    session.turns(40);
    expect(session.isInReach(block)).toBe(true);
    session.take(restoreBlocks(session.by("model"), [block]));
    expect(session.fact(block, "archive")).toBeNull();
  });

  it("let the parts around a pinned one go: here a pinned part keeps its pair", () => {
    const session = new TestSession();
    const pair = pairOf(session);
    session.take(pinBlocks(session.by("model"), [pair[1] as BlockId], "top"));
    const { deltas } = unwrap(archiveBlocks(session.by("model"), [pair[0] as BlockId], "pruned"));
    for (let turn = 0; turn < 9; turn += 1) {
      session.turns(1);
      expireBlocks(session);
    }
    expect(deltas).toEqual([]);
    expect(pair.map((block) => session.fact(block, "level"))).toEqual(["original", "original"]);
  });

  it("pruned a pinned part inside a range: here it is skipped, and only that one", () => {
    const session = new TestSession();
    const [a, b, c] = [session.add(), session.add(), session.add()];
    session.take(pinBlocks(session.by("user"), [b], "bottom"), "user");
    const proposal = unwrap(archiveBlocks(session.by("model"), [a, b, c], "setup done"));
    expect(proposal.deltas.map((delta) => ("block" in delta ? delta.block : null))).toEqual([a, c]);
    expect(proposal.skipped).toMatchObject([{ block: b, error: { code: "AP_CHANGE_PINNED" } }]);
  });

  it("could leave a result without its call: here they go together, and come back together", () => {
    const session = new TestSession();
    const pair = pairOf(session);
    session.take(unwrap(archiveBlocks(session.by("model"), [pair[1] as BlockId], "pruned")));
    expect(pair.map((block) => session.fact(block, "archive") !== null)).toEqual([true, true]);
    session.take(restoreBlocks(session.by("model"), [pair[0] as BlockId]));
    expect(pair.map((block) => session.fact(block, "archive") !== null)).toEqual([false, false]);
  });

  it("lost the reason of a pruning: here there is none without, and it is kept", () => {
    const session = new TestSession();
    const block = session.add();
    expect(codeOf(archiveBlocks(session.by("model"), [block], " "))).toBe("AP_CHANGE_REASON");
    session.take(unwrap(archiveBlocks(session.by("model"), [block], "setup done")));
    expect(must(session.fact(block, "archive"), "archived").reason).toBe("setup done");
  });

  it("counted tokens anew with every model: here a count that was shown once stays", () => {
    const session = new TestSession();
    const block = session.add();
    const counted = (count: number): Delta => ({
      type: "tokens-counted",
      block,
      tokens: { count, exact: true },
    });
    session.append([counted(7)]);
    expect(codeOf(session.attempt([counted(8)]))).toBe("AP_TOKENS_FROZEN");
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mainView, TestSession } from "../../test/support/engine.ts";
import { intents, live } from "../../test/support/random-session.ts";
import { hostileText, nonce, shownFacts } from "../../test/support/render-facts.ts";
import { type Change, changesIn } from "../awareness/index.ts";
import { type BlockId, must, unwrap, viewId } from "../base/index.ts";
import type { Frame } from "../engine/frames/index.ts";
import { changes } from "../engine/index.ts";
import { now } from "../engine/moment/index.ts";
import { changesText } from "./changes-text.ts";

/** Blocks with their sizes, sent and answered. */
function talk(...tokens: readonly number[]): {
  readonly session: TestSession;
  readonly blocks: readonly BlockId[];
} {
  const session = new TestSession();
  const blocks = tokens.map((count) => {
    const block = session.add();
    session.append([{ type: "tokens-counted", block, tokens: { count, exact: true } }]);
    return block;
  });
  session.turns(1);
  return { session, blocks };
}

function changesSince(session: TestSession, seq: number): readonly Change[] {
  const frames: readonly Frame[] = session.frames.slice(seq);
  return changesIn(frames, now(session.state), mainView);
}

const ids = (...numbers: readonly number[]) => numbers as readonly BlockId[];

describe("what changed", () => {
  it("is told by who did it, neighbours of one step together", () => {
    const { session } = talk(1_000, 2_000, 3_000, 400);
    const { seq } = session.state;
    session.take(unwrap(changes.archive(session.by("model"), ids(1, 2), "setup done")));
    session.take(changes.pin(session.by("user"), ids(3), "top"), "user");
    session.take(changes.supersede(session.by("policy"), 4 as BlockId, 3 as BlockId), "policy");
    expect(changesSince(session, seq)).toEqual([
      { actor: "model", what: "archived", blocks: [1, 2], tokens: 3_000, reason: "setup done" },
      { actor: "user", what: "pinned", blocks: [3], tokens: 0, reason: "" },
      { actor: "policy", what: "superseded", blocks: [4], tokens: 0, reason: "", by: 3 },
    ]);
  });

  it("of two steps is told twice", () => {
    const { session } = talk(10, 10);
    const { seq } = session.state;
    for (const id of ids(1, 2)) session.take(changes.pin(session.by("model"), [id], "top"));
    expect(changesSince(session, seq).map(({ blocks }) => blocks)).toEqual([[1], [2]]);
  });

  it.each([
    ["restored", (session: TestSession) => changes.restore(session.by("user"), ids(1))],
    ["unpinned", (session: TestSession) => changes.unpin(session.by("user"), ids(2))],
    ["compressed", (session: TestSession) => changes.setLevel(session.by("user"), ids(3), "minimal")],
    ["expanded", (session: TestSession) => changes.setLevel(session.by("user"), ids(4), "original")],
    ["focused", (session: TestSession) => changes.focus(session.by("user"), ids(3))],
    ["selected", (session: TestSession) => changes.select(session.by("user"), ids(3, 5))],
    ["deselected", (session: TestSession) => changes.select(session.by("user"), [])],
  ] as const)("has a word for it: %s", (what, act) => {
    const { session } = talk(10, 10, 10, 10, 10);
    session.take(unwrap(changes.archive(session.by("user"), ids(1), "done")), "user");
    session.take(changes.pin(session.by("user"), ids(2), "top"), "user");
    session.take(changes.setLevel(session.by("user"), ids(4), "trimmed"), "user");
    session.take(changes.select(session.by("user"), ids(5)), "user");
    const { seq } = session.state;
    session.take(act(session), "user");
    expect(changesSince(session, seq).map((change) => change.what)).toEqual([what]);
  });

  it("has words for withheld, purged, created and updated", () => {
    const { session } = talk(10, 10);
    const { seq } = session.state;
    session.set(1 as BlockId, { withhold: true }, { by: "user" });
    session.set(1 as BlockId, { withhold: false }, { by: "user" });
    session.set(2 as BlockId, { withhold: true }, { by: "user" });
    session.append([{ type: "block-purged", block: 1 as BlockId }], { actor: "user" });
    const memory = session.add({ kind: "memory" });
    session.add({ kind: "memory", supersedes: memory });
    session.add({ kind: "user" });
    expect(changesSince(session, seq).map(({ what, blocks }) => [what, ...blocks])).toEqual([
      ["withheld", 2],
      ["purged", 1],
      ["created", 3],
      ["updated", 4],
    ]);
  });

  it("says what lowering frees and why, and not that what was put away was lowered first", () => {
    const { session } = talk(1_000, 1_000);
    const content = session.place(1 as BlockId).block.content;
    const to = { content, tokens: { count: 300, exact: true } };
    session.append([{ type: "rendition-set", block: 1 as BlockId, level: "trimmed", from: null, to }]);
    const { seq } = session.state;
    session.take(changes.setLevel(session.by("policy"), ids(1, 2), "trimmed"), "policy");
    expect(changesSince(session, seq)).toEqual([
      { actor: "policy", what: "compressed", blocks: [1, 2], tokens: 700, reason: "test" },
    ]);
    session.take(unwrap(changes.archive(session.by("policy"), ids(1, 2), "expired")), "policy");
    expect(changesSince(session, seq)).toEqual([
      { actor: "policy", what: "archived", blocks: [1, 2], tokens: 2_000, reason: "expired" },
    ]);
  });

  it("is nothing where it was undone, and the undoing where the deed was told before", () => {
    const { session } = talk(10);
    const { seq } = session.state;
    const step = session.take(unwrap(changes.archive(session.by("model"), ids(1), "done")));
    const told = session.state.seq;
    session.reverse(step);
    expect(changesSince(session, seq)).toEqual([]);
    expect(changesSince(session, told)).toEqual([
      { actor: "user", what: "restored", blocks: [1], tokens: 0, reason: "" },
    ]);
  });

  it("in another view is not told here", () => {
    const { session } = talk(10);
    const other = session.agent(null);
    const { seq } = session.state;
    session.set(1 as BlockId, { pin: "top" }, { view: other });
    expect(changesSince(session, seq)).toEqual([]);
    expect(changesIn(session.frames.slice(seq), now(session.state), other)).toHaveLength(1);
  });

  it("names blocks in order and frees nothing below zero, in any session", () => {
    fc.assert(
      fc.property(intents(50), fc.nat(), (list, pick) => {
        const { frames, states } = live(list);
        const state = must(states.at(-1), "a history has a state");
        const from = pick % frames.length;
        for (const change of changesIn(frames.slice(from), now(state), viewId(1))) {
          // Only a command may be about no block at all.
          expect(change.blocks.length > 0 || change.verb !== undefined).toBe(true);
          expect([...change.blocks].sort((a, b) => a - b)).toEqual(change.blocks);
          expect(change.tokens).toBeGreaterThanOrEqual(0);
        }
        expect(changesIn([], now(state), viewId(1))).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

describe("changes in words", () => {
  const { changes } = shownFacts;

  it("say who, what, how much and why", () => {
    expect(changesText(changes, { nonce, max: 9 })).toBe(
      'you archived #3..#9 (-6.2k, "setup done"); user pinned #31; #29 superseded by #41',
    );
  });

  it("are cut to the most telling, the user's before the model's own", () => {
    expect(changesText(changes, { nonce, max: 2 })).toBe("user pinned #31; #29 superseded by #41; +1 more");
    expect(changesText(changes, { nonce, max: 1 })).toBe("user pinned #31; +2 more");
    expect(changesText(changes, { nonce, max: 0 })).toBe("3 changes");
    expect(changesText([], { nonce, max: 9 })).toBe("");
  });

  it("name a few ranges of ids and count the rest", () => {
    const change: Change = {
      actor: "sidecar",
      what: "archived",
      blocks: [1, 3, 5, 7, 9],
      tokens: 0,
      reason: "",
    };
    expect(changesText([change], { nonce, max: 9 })).toBe("aperture archived #1 #3 #5 +2");
  });

  it("quote a reason that cannot end its quotes", () => {
    fc.assert(
      fc.property(hostileText, (reason) => {
        const text = changesText([{ actor: "model", what: "archived", blocks: [1], tokens: 0, reason }], {
          nonce,
          max: 1,
        });
        expect(text).toMatch(/^you archived #1(?: \("[^"\p{Cc}\p{Zl}\p{Zp}[\]|]*"\))?$/u);
        expect(text.toLowerCase()).not.toContain(nonce);
      }),
    );
  });
});

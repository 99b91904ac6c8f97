import { describe, expect, it } from "vitest";
import { TestSession } from "../../test/support/engine.ts";
import { type BlockId, must } from "../base/index.ts";
import { mayChange, pinBlocks, setBlockLevel, setSelection, unpinBlocks } from "./change-facts.ts";
import { type Actor, actors } from "./frames/facts.ts";
import { factOf } from "./moment/moment.ts";

/** Only the user changes what the user set; the model beats policy; among equals the later actor wins. */
const ranks: Readonly<Record<Actor, number>> = { user: 3, client: 2, model: 2, sidecar: 1, policy: 1 };
const combinations = actors.flatMap((by) => actors.map((actor) => [actor, by] as const));
const allowed = combinations.filter(([actor, by]) => ranks[actor] >= ranks[by]);
const denied = combinations.filter(([actor, by]) => ranks[actor] < ranks[by]);

/** A block that the actor pinned to the top. */
function pinnedBy(by: Actor): { readonly session: TestSession; readonly block: BlockId } {
  const session = new TestSession();
  const block = session.add();
  session.take(pinBlocks(session.by(by), [block], "top"), by);
  return { session, block };
}

const pinOf = (session: TestSession, block: BlockId) => factOf(session.place(block), "pin");

describe("changing a fact another actor set", () => {
  it.each(allowed)("the %s may change what the %s set, and then owns it", (actor, by) => {
    const { session, block } = pinnedBy(by);
    expect(mayChange(pinOf(session, block), actor)).toBe(true);
    session.take(pinBlocks(session.by(actor), [block], "bottom"), actor);
    expect(pinOf(session, block)).toEqual({ value: "bottom", by: actor });
  });

  it.each(denied)("the %s may not change what the %s set, and the error names the setter", (actor, by) => {
    const { session, block } = pinnedBy(by);
    expect(mayChange(pinOf(session, block), actor)).toBe(false);
    const { deltas, skipped } = pinBlocks(session.by(actor), [block], "bottom");
    expect(deltas).toEqual([]);
    expect(skipped).toMatchObject([
      { block, error: { code: "AP_CHANGE_LOCKED", details: { block, fact: "pin", by, actor } } },
    ]);
    expect(skipped[0]?.error.message).toBe(
      `#${block} keeps its pin: ${by} set it, and ${actor} may not change that.`,
    );
  });

  it("the ranks allow exactly this many combinations", () => {
    expect([allowed.length, denied.length]).toEqual([17, 8]);
  });

  it.each(actors)("the %s may change a fact that was never set", (actor) => {
    const session = new TestSession();
    const block = session.add();
    session.take(setBlockLevel(session.by(actor), [block], "trimmed"), actor);
    expect(factOf(session.place(block), "level")).toEqual({ value: "trimmed", by: actor });
  });

  it("rank decides, never age: a fact the user set long ago still belongs to the user", () => {
    const { session, block } = pinnedBy("user");
    session.turns(60);
    expect(unpinBlocks(session.by("model"), [block]).skipped).toMatchObject([
      { error: { code: "AP_CHANGE_LOCKED" } },
    ]);
  });

  it("the model may not pin a block again that the user unpinned", () => {
    const { session, block } = pinnedBy("user");
    session.take(unpinBlocks(session.by("user"), [block]), "user");
    expect(pinBlocks(session.by("model"), [block], "top").skipped).toMatchObject([
      { error: { code: "AP_CHANGE_LOCKED" } },
    ]);
  });

  it("one locked fact does not lock the others", () => {
    const session = new TestSession();
    const block = session.add();
    session.take(setSelection(session.by("user"), [block]), "user");
    expect(setBlockLevel(session.by("policy"), [block], "trimmed").deltas).toHaveLength(1);
  });

  it("the model cannot deselect the user's blocks by selecting others", () => {
    const session = new TestSession();
    const [theirs, other] = [session.add(), session.add()];
    session.take(setSelection(session.by("user"), [theirs]), "user");
    const proposal = setSelection(session.by("model"), [other]);
    expect(proposal.skipped).toMatchObject([{ block: theirs, error: { code: "AP_CHANGE_LOCKED" } }]);
  });
});

describe("setting a fact to the value it has", () => {
  it("the user takes over the model's value, and then only the user changes it", () => {
    const { session, block } = pinnedBy("model");
    session.take(pinBlocks(session.by("user"), [block], "top"), "user");
    expect(pinOf(session, block)).toEqual({ value: "top", by: "user" });
    expect(unpinBlocks(session.by("model"), [block]).deltas).toEqual([]);
  });

  it("the user takes over the initial value", () => {
    const session = new TestSession();
    const block = session.add();
    session.take(setBlockLevel(session.by("user"), [block], "original"), "user");
    expect(setBlockLevel(session.by("model"), [block], "minimal").deltas).toEqual([]);
  });

  it.each(combinations.filter(([actor, by]) => ranks[actor] <= ranks[by]))(
    "the %s asking for what the %s has set already is no change, and no refusal",
    (actor, by) => {
      const { session, block } = pinnedBy(by);
      expect(pinBlocks(session.by(actor), [block], "top")).toEqual({ deltas: [], skipped: [] });
    },
  );
});

describe("a pair is changed whole or not at all", () => {
  /** The user pinned the call before its result came. */
  function halfLocked(): { readonly session: TestSession; readonly call: BlockId; readonly result: BlockId } {
    const session = new TestSession();
    const [call = session.add()] = session.addPair({ kind: "tool-call" });
    session.take(setBlockLevel(session.by("user"), [call], "trimmed"), "user");
    const { pair } = must(session.state.blocks.get(call), "call").block;
    return { session, call, result: session.add({ kind: "tool-result", pair }) };
  }

  it("a lock on one block refuses the whole pair and names both blocks", () => {
    const { session, call, result } = halfLocked();
    const other = session.add();
    const { deltas, skipped } = setBlockLevel(session.by("model"), [result, other], "minimal");
    expect(skipped.map(({ block, error }) => [block, error.code])).toEqual([
      [call, "AP_CHANGE_LOCKED"],
      [result, "AP_CHANGE_LOCKED"],
    ]);
    expect(deltas).toMatchObject([{ type: "level-set", block: other }]);
  });

  it("the actor that locked it may change the whole pair", () => {
    const { session, call, result } = halfLocked();
    session.take(setBlockLevel(session.by("user"), [result], "minimal"), "user");
    expect([session.fact(call, "level"), session.fact(result, "level")]).toEqual(["minimal", "minimal"]);
  });
});

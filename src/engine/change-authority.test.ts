import { describe, expect, it } from "vitest";
import { TestSession } from "../../test/support/engine.ts";
import { type BlockId, must } from "../base/index.ts";
import { mayChange, pin, select, unpin, wantLevel } from "./change.ts";
import { type Actor, actors } from "./facts.ts";
import { factOf } from "./moment.ts";

/** DESIGN: what the user set only the user changes; the model beats policy; among equals the later wins. */
const ranks: Readonly<Record<Actor, number>> = { user: 3, client: 2, model: 2, sidecar: 1, policy: 1 };
const every = actors.flatMap((by) => actors.map((actor) => [actor, by] as const));
const allowed = every.filter(([actor, by]) => ranks[actor] >= ranks[by]);
const denied = every.filter(([actor, by]) => ranks[actor] < ranks[by]);

/** A block that somebody pinned to the top. */
function pinnedBy(by: Actor): { readonly session: TestSession; readonly block: BlockId } {
  const session = new TestSession();
  const block = session.add();
  session.take(pin(session.by(by), [block], "top"), by);
  return { session, block };
}

const pinOf = (session: TestSession, block: BlockId) => factOf(session.place(block), "pin");

describe("who may change what somebody else set", () => {
  it.each(allowed)("the %s may change what the %s set, and then it is theirs", (actor, by) => {
    const { session, block } = pinnedBy(by);
    expect(mayChange(pinOf(session, block), actor)).toBe(true);
    session.take(pin(session.by(actor), [block], "bottom"), actor);
    expect(pinOf(session, block)).toEqual({ value: "bottom", by: actor });
  });

  it.each(denied)("the %s may not change what the %s set, and is told who did", (actor, by) => {
    const { session, block } = pinnedBy(by);
    expect(mayChange(pinOf(session, block), actor)).toBe(false);
    const { deltas, skipped } = pin(session.by(actor), [block], "bottom");
    expect(deltas).toEqual([]);
    expect(skipped).toMatchObject([
      { block, error: { code: "AP_CHANGE_LOCKED", details: { block, fact: "pin", by, actor } } },
    ]);
    expect(skipped[0]?.error.message).toBe(
      `#${block} keeps its pin: ${by} set it, and ${actor} may not change that.`,
    );
  });

  it("there are as many who may as the ranks say", () => {
    expect([allowed.length, denied.length]).toEqual([17, 8]);
  });

  it.each(actors)("the %s may change what nobody has touched", (actor) => {
    const session = new TestSession();
    const block = session.add();
    session.take(wantLevel(session.by(actor), [block], "trimmed"), actor);
    expect(factOf(session.place(block), "level")).toEqual({ value: "trimmed", by: actor });
  });

  it("rank decides, never age: what the user set long ago is still theirs", () => {
    const { session, block } = pinnedBy("user");
    session.turns(60);
    expect(unpin(session.by("model"), [block]).skipped).toMatchObject([
      { error: { code: "AP_CHANGE_LOCKED" } },
    ]);
  });

  it("a fact the user let go of is still the user's: the model does not pin again what they unpinned", () => {
    const { session, block } = pinnedBy("user");
    session.take(unpin(session.by("user"), [block]), "user");
    expect(pin(session.by("model"), [block], "top").skipped).toMatchObject([
      { error: { code: "AP_CHANGE_LOCKED" } },
    ]);
  });

  it("one fact that is locked does not lock the others", () => {
    const session = new TestSession();
    const block = session.add();
    session.take(select(session.by("user"), [block]), "user");
    expect(wantLevel(session.by("policy"), [block], "trimmed").deltas).toHaveLength(1);
  });

  it("the model does not take a block out of the user's selection by selecting another", () => {
    const session = new TestSession();
    const [theirs, other] = [session.add(), session.add()];
    session.take(select(session.by("user"), [theirs]), "user");
    const proposal = select(session.by("model"), [other]);
    expect(proposal.skipped).toMatchObject([{ block: theirs, error: { code: "AP_CHANGE_LOCKED" } }]);
  });
});

describe("taking over a value that is already there", () => {
  it("the user makes the model's value theirs, and then only they change it", () => {
    const { session, block } = pinnedBy("model");
    session.take(pin(session.by("user"), [block], "top"), "user");
    expect(pinOf(session, block)).toEqual({ value: "top", by: "user" });
    expect(unpin(session.by("model"), [block]).deltas).toEqual([]);
  });

  it("the user makes the first value theirs, which nobody had set", () => {
    const session = new TestSession();
    const block = session.add();
    session.take(wantLevel(session.by("user"), [block], "original"), "user");
    expect(wantLevel(session.by("model"), [block], "minimal").deltas).toEqual([]);
  });

  it.each(every.filter(([actor, by]) => ranks[actor] <= ranks[by]))(
    "the %s asking for what the %s has set already is no change, and no refusal",
    (actor, by) => {
      const { session, block } = pinnedBy(by);
      expect(pin(session.by(actor), [block], "top")).toEqual({ deltas: [], skipped: [] });
    },
  );
});

describe("a pair is changed whole or not at all", () => {
  /** The user pinned the call before its result came. */
  function halfLocked(): { readonly session: TestSession; readonly call: BlockId; readonly result: BlockId } {
    const session = new TestSession();
    const [call = session.add()] = session.addPair({ kind: "tool-call" });
    session.take(wantLevel(session.by("user"), [call], "trimmed"), "user");
    const { pair } = must(session.state.blocks.get(call), "call").block;
    return { session, call, result: session.add({ kind: "tool-result", pair }) };
  }

  it("what locks one block of it keeps the other from changing too, and both are named", () => {
    const { session, call, result } = halfLocked();
    const other = session.add();
    const { deltas, skipped } = wantLevel(session.by("model"), [result, other], "minimal");
    expect(skipped.map(({ block, error }) => [block, error.code])).toEqual([
      [call, "AP_CHANGE_LOCKED"],
      [result, "AP_CHANGE_LOCKED"],
    ]);
    expect(deltas).toMatchObject([{ type: "level-set", block: other }]);
  });

  it("the one who locked it may change all of it", () => {
    const { session, call, result } = halfLocked();
    session.take(wantLevel(session.by("user"), [result], "minimal"), "user");
    expect([session.fact(call, "level"), session.fact(result, "level")]).toEqual(["minimal", "minimal"]);
  });
});

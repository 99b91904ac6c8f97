import { describe, expect, it } from "vitest";
import { mainView, TestSession } from "../../test/support/engine.ts";
import { blockId, hashContent, limits, turnOf, unwrap } from "../base/index.ts";
import { archive } from "./change.ts";
import { type AddedMemory, addMemory, type MemoryWish, setScope } from "./change-memory.ts";
import { expire } from "./expire.ts";
import { actors } from "./facts.ts";
import { lifecycleOf, zoneOf } from "./lifecycle.ts";
import { blockOf, notesOf, now } from "./moment.ts";

function wish(session: TestSession, over: Partial<MemoryWish> = {}): MemoryWish {
  const { id, message } = session.wished();
  return {
    id,
    message,
    content: hashContent(`memory ${id}`),
    tokens: { count: 7, exact: false },
    topic: "ports",
    supersedes: null,
    isTainted: false,
    ...over,
  };
}

/** As an executor appends it: what can be taken back as a step, the count behind it. */
function remember(session: TestSession, over: Partial<MemoryWish> = {}) {
  const added: AddedMemory = unwrap(addMemory(session.by("model"), wish(session, over)));
  const step = session.take(added);
  session.append([added.counted]);
  return { ...added, id: added.block.id, step };
}

describe("a memory", () => {
  it("has a message of its own, a topic, a size and no end, and stands in primacy", () => {
    const session = new TestSession();
    session.add();
    session.turns(2);
    const { id, block } = remember(session);
    expect(block).toMatchObject({ kind: "memory", turn: 2, ttl: null, pair: null, supersedes: null });
    expect(notesOf(now(session.state), id)).toMatchObject({
      topics: ["ports"],
      tokens: { count: 7, exact: false },
      scope: "session",
    });
    expect(zoneOf(session.place(id))).toBe("primacy");
    expect(lifecycleOf(session.place(id))).toBe("fresh");
    session.turns(200);
    expect(expire(session.by("policy"), turnOf(0)).deltas).toEqual([]);
    expect(lifecycleOf(session.place(id))).toBe("active");
  });

  it.each([
    ["model", false, "model"],
    ["model", true, "untrusted"],
    ["sidecar", false, "model"],
    ["user", false, "user"],
    ["user", true, "untrusted"],
  ] as const)("made by %s, tainted: %s, counts as %s", (actor, isTainted, taint) => {
    const session = new TestSession();
    const { block } = unwrap(addMemory(session.by(actor), wish(session, { isTainted })));
    expect(block).toMatchObject({ taint, speaker: actor });
  });

  it.each([[null], [""], ["  "]])("without a topic (%j) has none", (topic) => {
    const session = new TestSession();
    const { deltas } = unwrap(addMemory(session.by("model"), wish(session, { topic })));
    expect(deltas.map(({ type }) => type)).toEqual(["block-added"]);
  });

  it("keeps a long topic within its limit", () => {
    const session = new TestSession();
    const { id } = remember(session, { topic: "x".repeat(limits.topicCharsMax + 9) });
    expect(notesOf(now(session.state), id)?.topics[0]).toHaveLength(limits.topicCharsMax);
  });

  it("can be purged", () => {
    const session = new TestSession();
    const { id } = remember(session);
    session.append([{ type: "block-purged", block: id }], { actor: "user" });
    expect(lifecycleOf(session.place(id))).toBe("evicted");
  });
});

describe("a memory that says another block anew", () => {
  it("marks it as outdated, and stale if that is a memory", () => {
    const session = new TestSession();
    const older = remember(session).id;
    session.turns(1);
    const { id, skipped } = remember(session, { supersedes: older });
    expect([session.fact(older, "supersession"), skipped]).toEqual([id, []]);
    expect(blockOf(now(session.state), id)?.supersedes).toBe(older);
    expect(lifecycleOf(session.place(older))).toBe("stale");
  });

  it("may archive it in the same step", () => {
    const session = new TestSession();
    const older = remember(session).id;
    const added = unwrap(addMemory(session.by("model"), wish(session, { supersedes: older })));
    const cold = unwrap(archive(session.by("model"), [older], "covered"));
    const step = session.take({ deltas: [...added.deltas, ...cold.deltas] });
    expect(lifecycleOf(session.place(older))).toBe("archived");
    session.reverse(step);
    expect(lifecycleOf(session.place(older))).toBe("fresh");
  });

  it("leaves alone what the user has said about it, and stands beside it", () => {
    const session = new TestSession();
    const [older, other] = [session.add(), session.add()];
    session.set(older, { supersession: other }, { by: "user" });
    const { id, skipped } = remember(session, { supersedes: older });
    expect(skipped).toMatchObject([{ block: older, error: { code: "AP_CHANGE_LOCKED" } }]);
    expect(session.fact(older, "supersession")).toBe(other);
    expect(session.isInReach(id)).toBe(true);
  });

  it("must be able to see it", () => {
    const session = new TestSession();
    const fork = session.fork();
    const elsewhere = session.add({ view: fork });
    for (const supersedes of [elsewhere, blockId(99)]) {
      const refused = addMemory(session.by("model", mainView), wish(session, { supersedes }));
      expect(refused).toMatchObject({ error: { code: "AP_BLOCK_UNKNOWN", details: { block: supersedes } } });
    }
  });

  it("is taken back whole, although it was counted, and comes back whole", () => {
    const session = new TestSession();
    const older = session.add();
    const { id, step } = remember(session, { supersedes: older });
    session.reverse(step);
    expect([session.isInReach(id), session.fact(older, "supersession")]).toEqual([false, null]);
    session.reverse(step);
    expect([session.isInReach(id), session.fact(older, "supersession")]).toEqual([true, id]);
    expect(notesOf(now(session.state), id)).toMatchObject({ topics: ["ports"], tokens: { count: 7 } });
  });
});

describe("the scope of a memory", () => {
  it.each(actors.filter((actor) => actor !== "user"))("is not for %s to widen", (actor) => {
    const session = new TestSession();
    const { id } = remember(session);
    expect(setScope(session.by(actor), id, "project")).toMatchObject({ error: { code: "AP_CHANGE_USER" } });
  });

  it("is set by the user, as a step; what is purged does not outlive the session", () => {
    const session = new TestSession();
    const { id } = remember(session);
    const scope = () => notesOf(now(session.state), id)?.scope;
    const step = session.take({ deltas: unwrap(setScope(session.by("user"), id, "project")) }, "user");
    expect([scope(), unwrap(setScope(session.by("user"), id, "project"))]).toEqual(["project", []]);
    session.reverse(step);
    expect(scope()).toBe("session");
    session.append([{ type: "block-purged", block: id }], { actor: "user" });
    expect(setScope(session.by("user"), id, "project")).toMatchObject({ error: { code: "AP_BLOCK_PURGED" } });
    expect(setScope(session.by("user"), blockId(98), "project").ok).toBe(false);
  });
});

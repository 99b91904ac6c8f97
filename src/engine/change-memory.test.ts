import { describe, expect, it } from "vitest";
import { mainView, TestSession } from "../../test/support/engine.ts";
import { blockId, hashContent, limits, turnOf, unwrap } from "../base/index.ts";
import { archiveBlocks } from "./change-facts.ts";
import { addMemory, type MemoryInput, type MemoryProposal, setScope } from "./change-memory.ts";
import { expire } from "./expire.ts";
import { actors } from "./frames/facts.ts";
import { lifecycleOf, zoneOf } from "./moment/lifecycle.ts";
import { attributesOf, blockOf, now } from "./moment/moment.ts";

function memoryInput(session: TestSession, over: Partial<MemoryInput> = {}): MemoryInput {
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

/** Appends as an executor does: the undoable deltas as a step, then the token count. */
function appendMemory(session: TestSession, over: Partial<MemoryInput> = {}) {
  const added: MemoryProposal = unwrap(addMemory(session.by("model"), memoryInput(session, over)));
  const step = session.take(added);
  session.append([added.counted]);
  return { ...added, id: added.block.id, step };
}

describe("a memory", () => {
  it("has its own message, a topic, a token count, no expiry, and belongs to primacy", () => {
    const session = new TestSession();
    session.add();
    session.turns(2);
    const { id, block } = appendMemory(session);
    expect(block).toMatchObject({ kind: "memory", turn: 2, ttl: null, pair: null, supersedes: null });
    expect(attributesOf(now(session.state), id)).toMatchObject({
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
    const { block } = unwrap(addMemory(session.by(actor), memoryInput(session, { isTainted })));
    expect(block).toMatchObject({ taint, speaker: actor });
  });

  it.each([[null], [""], ["  "]])("gets no topic from %j", (topic) => {
    const session = new TestSession();
    const { deltas } = unwrap(addMemory(session.by("model"), memoryInput(session, { topic })));
    expect(deltas.map(({ type }) => type)).toEqual(["block-added"]);
  });

  it("cuts a long topic to the limit", () => {
    const session = new TestSession();
    const { id } = appendMemory(session, { topic: "x".repeat(limits.topicCharsMax + 9) });
    expect(attributesOf(now(session.state), id)?.topics[0]).toHaveLength(limits.topicCharsMax);
  });

  it("can be purged", () => {
    const session = new TestSession();
    const { id } = appendMemory(session);
    session.append([{ type: "block-purged", block: id }], { actor: "user" });
    expect(lifecycleOf(session.place(id))).toBe("evicted");
  });
});

describe("a memory that supersedes another block", () => {
  it("marks the block as superseded, and a superseded memory is stale", () => {
    const session = new TestSession();
    const older = appendMemory(session).id;
    session.turns(1);
    const { id, skipped } = appendMemory(session, { supersedes: older });
    expect([session.fact(older, "supersession"), skipped]).toEqual([id, []]);
    expect(blockOf(now(session.state), id)?.supersedes).toBe(older);
    expect(lifecycleOf(session.place(older))).toBe("stale");
  });

  it("may archive the block in the same step", () => {
    const session = new TestSession();
    const older = appendMemory(session).id;
    const added = unwrap(addMemory(session.by("model"), memoryInput(session, { supersedes: older })));
    const cold = unwrap(archiveBlocks(session.by("model"), [older], "covered"));
    const step = session.take({ deltas: [...added.deltas, ...cold.deltas] });
    expect(lifecycleOf(session.place(older))).toBe("archived");
    session.reverse(step);
    expect(lifecycleOf(session.place(older))).toBe("fresh");
  });

  it("skips a block whose supersession the user set, and is added all the same", () => {
    const session = new TestSession();
    const [older, other] = [session.add(), session.add()];
    session.set(older, { supersession: other }, { by: "user" });
    const { id, skipped } = appendMemory(session, { supersedes: older });
    expect(skipped).toMatchObject([{ block: older, error: { code: "AP_CHANGE_LOCKED" } }]);
    expect(session.fact(older, "supersession")).toBe(other);
    expect(session.isInReach(id)).toBe(true);
  });

  it("cannot supersede a block out of reach", () => {
    const session = new TestSession();
    const fork = session.fork();
    const elsewhere = session.add({ view: fork });
    for (const supersedes of [elsewhere, blockId(99)]) {
      const refused = addMemory(session.by("model", mainView), memoryInput(session, { supersedes }));
      expect(refused).toMatchObject({ error: { code: "AP_BLOCK_UNKNOWN", details: { block: supersedes } } });
    }
  });

  it("is undone and redone as a whole, although its tokens were counted", () => {
    const session = new TestSession();
    const older = session.add();
    const { id, step } = appendMemory(session, { supersedes: older });
    session.reverse(step);
    expect([session.isInReach(id), session.fact(older, "supersession")]).toEqual([false, null]);
    session.reverse(step);
    expect([session.isInReach(id), session.fact(older, "supersession")]).toEqual([true, id]);
    expect(attributesOf(now(session.state), id)).toMatchObject({ topics: ["ports"], tokens: { count: 7 } });
  });
});

describe("the scope of a memory", () => {
  it.each(actors.filter((actor) => actor !== "user"))("may not be widened by %s", (actor) => {
    const session = new TestSession();
    const { id } = appendMemory(session);
    expect(setScope(session.by(actor), id, "project")).toMatchObject({ error: { code: "AP_CHANGE_USER" } });
  });

  it("is set by the user as a step; a purged memory cannot be kept for the project", () => {
    const session = new TestSession();
    const { id } = appendMemory(session);
    const scope = () => attributesOf(now(session.state), id)?.scope;
    const step = session.take({ deltas: unwrap(setScope(session.by("user"), id, "project")) }, "user");
    expect([scope(), unwrap(setScope(session.by("user"), id, "project"))]).toEqual(["project", []]);
    session.reverse(step);
    expect(scope()).toBe("session");
    session.append([{ type: "block-purged", block: id }], { actor: "user" });
    expect(setScope(session.by("user"), id, "project")).toMatchObject({ error: { code: "AP_BLOCK_PURGED" } });
    expect(setScope(session.by("user"), blockId(98), "project").ok).toBe(false);
  });
});

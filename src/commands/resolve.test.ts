import { describe, expect, it } from "vitest";
import { TestSession } from "../../test/support/engine.ts";
import { type BlockId, blockId, must, type Result, type ViewId } from "../base/index.ts";
import { now } from "../engine/moment/index.ts";
import { parseTarget } from "./grammar.ts";
import { resolveTarget, topicBlocksMax } from "./resolve.ts";

type Topics = Readonly<Record<string, readonly number[]>>;

function resolver(session: TestSession, topics: Topics = {}, view?: ViewId) {
  const deps = {
    moment: now(session.state),
    view: session.view(view),
    findByTopic: (words: string) => (topics[words] ?? []).map(blockId),
  };
  return (text: string): Result<readonly BlockId[]> => {
    const target = parseTarget(text);
    return target.ok ? resolveTarget(deps, target.value) : target;
  };
}

const idsOrError = (result: Result<readonly BlockId[]>): unknown =>
  result.ok ? result.value : result.error.message;

/** Messages 1 to 3; the second has two blocks. */
function fourBlocks(): { readonly session: TestSession; readonly ids: readonly BlockId[] } {
  const session = new TestSession();
  const first = session.add();
  const pair = session.addPair({ kind: "tool-call" }, { kind: "tool-result" });
  return { session, ids: [first, ...pair, session.add()] };
}

describe("a target", () => {
  it("by id, range, message and list is found in the view's order, each block once", () => {
    const { session, ids } = fourBlocks();
    const [a, b, c, d] = ids.map((id) => must(id, "four blocks"));
    const find = resolver(session);
    const message = session.place(must(b, "second")).block.message;
    expect(idsOrError(find(`#${c}`))).toEqual([c]);
    expect(idsOrError(find(`${a}..${d}`))).toEqual([a, b, c, d]);
    expect(idsOrError(find(`${a}..999999999`))).toEqual([a, b, c, d]);
    expect(idsOrError(find(`message-${message}`))).toEqual([b, c]);
    expect(idsOrError(find(`message-1..999`))).toEqual([a, b, c, d]);
    expect(idsOrError(find(`#${d}, message-${message}, #${a}, #${d}`))).toEqual([a, b, c, d]);
  });

  it("by zone follows what the facts say now", () => {
    const session = new TestSession();
    const system = session.add({ kind: "system" });
    const [old, cold] = [session.add(), session.add()];
    session.set(cold, { archive: { reason: "done" } });
    session.run();
    const recent = session.add();
    const find = resolver(session);
    expect(idsOrError(find("primacy"))).toEqual([system]);
    expect(idsOrError(find("middle"))).toEqual([old]);
    expect(idsOrError(find("recency"))).toEqual([recent]);
    expect(idsOrError(find("cold"))).toEqual([cold]);
    expect(idsOrError(find("cold, primacy"))).toEqual([system, cold]);
  });

  it("that is stale was not referenced for five turns; an empty list is a valid result", () => {
    const session = new TestSession();
    const [old, used] = [session.add(), session.add()];
    session.turns(4);
    expect(idsOrError(resolver(session)("stale"))).toEqual([]);
    session.turns(2);
    session.set(used, { reference: { turn: session.turnNow(), count: 1 } });
    expect(idsOrError(resolver(session)("stale"))).toEqual([old]);
  });

  it("by topic is found by its words, in this view only", () => {
    const { session, ids } = fourBlocks();
    const [a, , c] = ids.map((id) => must(id, "four blocks"));
    const find = resolver(session, { "auth flow": [must(c, "third"), must(a, "first"), 999] });
    expect(idsOrError(find('"auth flow"'))).toEqual([a, c]);
    expect(idsOrError(find('"tea"'))).toBe(
      'Nothing in this view is about "tea"; use other words, or ids such as block-12.',
    );
  });

  it("by a topic that fits too many blocks is refused with the first of them", () => {
    const session = new TestSession();
    const ids = Array.from({ length: topicBlocksMax + 1 }, () => session.add());
    const find = resolver(session, { it: ids, one: ids.slice(1) });
    expect(idsOrError(find("it"))).toBe(
      `"it" may mean #${ids[0]}, #${ids[1]}, #${ids[2]}, #${ids[3]}, #${ids[4]} and 16 more; ` +
        "name the blocks that are meant, or use more words.",
    );
    expect(idsOrError(find("one"))).toEqual(ids.slice(1));
  });
});

describe("an unknown id", () => {
  it("is refused with the nearest known ids", () => {
    const { session, ids } = fourBlocks();
    const all = ids.map((id) => `#${id}`).join(", ");
    const find = resolver(session);
    expect(idsOrError(find("#77"))).toBe(`There is no block #77 in this view; the nearest are ${all}.`);
    expect(idsOrError(find("70..80"))).toBe(
      `There is no block from #70 to #80 in this view; the nearest are ${all}.`,
    );
    expect(idsOrError(find("message-50"))).toMatch(
      /^There is no message 50 in this view; the nearest are \d+, \d+, \d+\.$/,
    );
    expect(idsOrError(find("message-50..60"))).toMatch(
      /^There is no message from 50 to 60 in this view; the nearest/,
    );
    expect(idsOrError(find(`#${ids[0]}, #77`))).toMatch(/no block #77/);
  });

  it("is refused with at most five neighbours, from both sides", () => {
    const session = new TestSession();
    const ids = Array.from({ length: 9 }, () => session.add());
    const other = session.fork({ seq: 1 });
    const foreign = session.add({ view: other });
    for (let count = 0; count < 3; count += 1) session.add();
    expect(idsOrError(resolver(session)(`#${foreign}`))).toMatch(/the nearest are (?:#\d+, ){4}#\d+\.$/);
    expect(ids).toHaveLength(9);
  });

  it("in an empty view is refused with a note that there are no blocks yet", () => {
    const find = resolver(new TestSession());
    expect(idsOrError(find("#1"))).toBe("There is no block #1 in this view; it has no blocks yet.");
    expect(idsOrError(find("message-1"))).toBe("There is no message 1 in this view; it has none yet.");
  });

  it("is refused in the same words, whether it never existed or belongs to another view", () => {
    const session = new TestSession();
    const mine = session.add();
    const other = session.fork({ seq: session.state.seq });
    const [foreign, never] = [session.add({ view: other }), blockId(9_999)];
    const message = session.place(foreign, other).block.message;
    const find = resolver(session, { secret: [foreign] });
    const same = (text: string, a: number, b: number): string => text.replaceAll(`${a}`, `${b}`);
    expect(idsOrError(find(`#${foreign}`))).toBe(same(String(idsOrError(find(`#${never}`))), never, foreign));
    expect(idsOrError(find(`message-${message}`))).toBe(
      same(String(idsOrError(find("message-9999"))), 9_999, message),
    );
    expect(idsOrError(find('"secret"'))).toBe(
      same(String(idsOrError(find('"nothing"'))), 0, 0).replace("nothing", "secret"),
    );
    expect(idsOrError(find(`#${mine}`))).toEqual([mine]);
  });
});

import { describe, expect, it } from "vitest";
import { sessionId, streamId, unwrap } from "../../src/base/index.ts";
import { now, streamOf, viewBlocks, viewOf } from "../../src/engine/moment/index.ts";
import { openMemoryStore } from "../../src/store/index.ts";
import { call, mark, model, RecorderKit, result, text, user } from "../support/recorder-kit.ts";

const claude = (id: string, agent?: string) => ({
  "x-claude-code-session-id": id,
  "user-agent": "claude-cli/2.1.325 (external, sdk-cli)",
  ...(agent === undefined ? {} : { "x-claude-code-agent-id": agent }),
});
const hello = [user("hello")];
const onward = [user("hello"), model([text("done")]), user("and now?")];

function kit(): RecorderKit {
  return new RecorderKit(openMemoryStore());
}

describe("a client that names its session", () => {
  it("is recognised by that name, not by its history", async () => {
    const one = kit();
    await one.turn({ talk: hello, headers: claude("A") });
    await one.turn({ talk: hello, headers: claude("B") });
    await one.turn({ talk: onward, headers: claude("A") });
    expect(await one.sessions()).toHaveLength(2);
    expect(await one.standings("s-1")).toEqual(["turn first", "turn append"]);
    expect(await one.standings("s-2")).toEqual(["turn first"]);
  });

  it("keeps its session when its credential is refreshed", async () => {
    const one = kit();
    await one.turn({ talk: hello, headers: claude("A"), credential: "c1" });
    await one.turn({ talk: onward, headers: claude("A"), credential: "c2" });
    expect(await one.standings("s-1")).toEqual(["turn first", "turn append"]);
  });

  it("has a stream of its own for each sub-agent, below the main one, sharing nothing with it", async () => {
    const one = kit();
    await one.turn({ talk: hello, headers: claude("A") });
    await one.turn({ talk: [user("look around")], headers: claude("A", "a1f0") });
    await one.turn({ talk: [user("look elsewhere")], headers: claude("A", "a2f0") });
    await one.turn({ talk: onward, headers: claude("A") });
    const { state } = { state: unwrap(await one.recorder.cache.log(sessionId("s-1"))).state() };
    const streams = [...state.streams.entries()].map(([, stream]) => stream);
    expect(streams.map(({ name }) => name)).toEqual(["main", "agent a1f0", "agent a2f0"]);
    expect(streams.map(({ parent }) => parent?.stream ?? null)).toEqual([null, streamId(1), streamId(1)]);
    const [, , child] = [...state.views.entries()].map(([, view]) => view);
    const own = [...viewBlocks(now(state), child ?? (viewOf(now(state), 1 as never) as never))];
    expect(own.every(({ stream }) => stream === child?.stream)).toBe(true);
    expect(await one.standings("s-1")).toEqual(["turn first", "turn first", "turn first", "turn append"]);
    expect(streamOf(now(state), streamId(1))?.turns.size).toBe(2);
  });

  it("takes no turn for side requests without tools, such as titles", async () => {
    const one = kit();
    await one.turn({ talk: [user("title for: hello")], tools: [], headers: claude("A") });
    await one.turn({ talk: hello, headers: claude("A") });
    await one.turn({ talk: [user("classify this")], tools: [], headers: claude("A") });
    await one.turn({ talk: onward, headers: claude("A") });
    const expected = ["side none", "turn first", "side none", "turn append"];
    expect(await one.standings("s-1")).toEqual(expected);
  });

  it("counts tokens without taking a turn", async () => {
    const one = kit();
    await one.turn({ talk: hello, headers: claude("A") });
    await one.turn({ talk: onward, headers: claude("A"), target: "/v1/messages/count_tokens?beta=true" });
    expect(await one.standings("s-1")).toEqual(["turn first", "count none"]);
  });
});

describe("compaction", () => {
  const summary = "The user greeted us and we are porting the parser.\nNext: finish the tests in parser.ts.";

  it("is recognised when it is requested, and when its summary replaces the history", async () => {
    const one = kit();
    const headers = claude("A");
    const tool = [...hello, model([call("t1")]), user([result("t1", "file text")])];
    await one.turn({ talk: hello, headers }, { content: [call("t1")] });
    await one.turn({ talk: tool, headers }, { content: [text("I read it.")] });
    const prompt = [
      ...hello,
      model([{ ...call("t1"), ...mark }]),
      user([result("t1", "file text"), text("Summarise everything.")]),
    ];
    await one.turn({ talk: prompt, headers }, { content: [text(summary)] });
    const rest = [user(`Earlier:\n${summary}`), model([text("I read it.")]), user("go on")];
    await one.turn({ talk: rest, headers });
    expect(await one.standings("s-1")).toEqual([
      "turn first",
      "turn append",
      "compaction none",
      "turn compacted 3",
    ]);
  });

  it("of an unknown client is a turn, recognised by the next request", async () => {
    const one = kit();
    const headers = { "x-aperture-session": "mine" };
    await one.turn({ talk: hello, headers }, { content: [text("done")] });
    await one.turn({ talk: onward, headers }, { content: [text(summary)] });
    await one.turn({ talk: [user(`Summary so far: ${summary}`)], headers });
    expect(await one.standings("s-1")).toEqual(["turn first", "turn append", "turn compacted 2"]);
  });
});

describe("the same request again", () => {
  const headers = claude("A");

  it("is a retry of the same turn if the answer was not whole", async () => {
    for (const failure of [{ status: 529 }, { outcome: "truncated" }, { outcome: "aborted" }] as const) {
      const one = kit();
      await one.turn({ talk: hello, headers }, failure);
      await one.turn({ talk: hello, headers });
      await one.turn({ talk: onward, headers });
      expect(await one.standings("s-1")).toEqual(["turn first", "turn retry 1", "turn append"]);
      const state = unwrap(await one.recorder.cache.log(sessionId("s-1"))).state();
      expect([...(state.views.get(1)?.sent.entries() ?? [])].map(([, { turn }]) => turn)).toEqual([1, 1, 2]);
    }
  });

  it("is a twin beside one that is open; the next request shows which answer counts", async () => {
    const one = kit();
    const [first, second] = [
      await one.ask({ talk: hello, headers }),
      await one.ask({ talk: hello, headers }),
    ];
    await one.answer(second, { content: [call("t2")] });
    await one.answer(first, { content: [call("t1")] });
    const chosen = [...hello, model([call("t2")]), user([result("t2", "x")])];
    await one.turn({ talk: chosen, headers });
    expect(await one.standings("s-1")).toEqual(["turn first", "turn twin 1", "turn append"]);
    const state = unwrap(await one.recorder.cache.log(sessionId("s-1"))).state();
    const shown = [...(state.views.get(1)?.shown.entries() ?? [])].map(([block]) => block);
    const calls = [...state.blocks.entries()].filter(([, { block }]) => block.kind === "tool-call");
    const [ofSecond, ofFirst] = calls.map(([id]) => id);
    expect(shown).toContain(ofSecond);
    expect(shown).not.toContain(ofFirst);
  });

  it("is a rewind after a whole answer", async () => {
    const one = kit();
    await one.turn({ talk: hello, headers });
    await one.turn({ talk: hello, headers });
    expect(await one.standings("s-1")).toEqual(["turn first", "turn rewind 1"]);
  });
});

describe("a client that goes back", () => {
  it("keeps the blocks before that point", async () => {
    const one = kit();
    const headers = claude("A");
    await one.turn({ talk: hello, headers });
    await one.turn({ talk: onward, headers });
    await one.turn({ talk: [...onward.slice(0, 2), user("something else")], headers });
    expect(await one.standings("s-1")).toEqual(["turn first", "turn append", "turn rewind 2"]);
    const state = unwrap(await one.recorder.cache.log(sessionId("s-1"))).state();
    const texts = [...state.blocks.entries()].filter(([, { block }]) => block.kind === "user");
    expect(texts).toHaveLength(3);
  });
});

describe("a client that names nothing", () => {
  const later = [...onward, model([text("done")]), user("more")];

  it("is recognised by its history", async () => {
    const one = kit();
    await one.turn({ talk: hello });
    await one.turn({ talk: onward });
    await one.turn({ talk: later });
    expect(await one.standings("s-1")).toEqual(["turn first", "turn append", "turn append"]);
  });

  it("begins a new session with the same first message, and the answers distinguish the two", async () => {
    const one = kit();
    await one.turn({ talk: hello }, { content: [call("t1")] });
    await one.turn({ talk: hello }, { content: [call("t2")] });
    await one.turn({ talk: [...hello, model([call("t1")]), user([result("t1", "x")])] });
    await one.turn({ talk: [...hello, model([call("t2")]), user([result("t2", "x")])] });
    expect(await one.standings("s-1")).toEqual(["turn first", "turn append"]);
    expect(await one.standings("s-2")).toEqual(["turn first", "turn append"]);
  });

  it("is distinguished from many that begin alike", async () => {
    const one = kit();
    const callIds = Array.from({ length: 40 }, (_, n) => `t${n}`);
    for (const id of callIds) await one.turn({ talk: hello }, { content: [call(id)] });
    for (const id of callIds)
      await one.turn({ talk: [...hello, model([call(id)]), user([result(id, "x")])] });
    expect(await one.sessions()).toHaveLength(40);
    for (const id of await one.sessions())
      expect(await one.standings(id)).toEqual(["turn first", "turn append"]);
  });

  it("is kept apart from others by its credential", async () => {
    const one = kit();
    await one.turn({ talk: hello, credential: "c1" });
    await one.turn({ talk: hello, credential: "c2" });
    await one.turn({ talk: onward, credential: "c2" });
    await one.turn({ talk: onward, credential: "c3" });
    const counts = await Promise.all((await one.sessions()).map((id) => one.standings(id)));
    expect(counts.map((list) => list.length).sort()).toEqual([1, 1, 2]);
  });

  it("may retry its first request", async () => {
    const one = kit();
    await one.turn({ talk: hello }, { status: 500 });
    await one.turn({ talk: hello });
    expect(await one.standings("s-1")).toEqual(["turn first", "turn retry 1"]);
  });
});

describe("after a restart", () => {
  it("a session continues where the log ends, by name and by history", async () => {
    const store = openMemoryStore();
    const before = new RecorderKit(store, "old");
    await before.turn({ talk: hello, headers: claude("A") });
    await before.turn({ talk: hello });
    const after = new RecorderKit(store, "new");
    await after.turn({ talk: onward, headers: claude("A") });
    await after.turn({ talk: onward });
    expect((await after.sessions()).every((id) => id.startsWith("old"))).toBe(true);
    expect(await after.standings("old-1")).toEqual(["turn first", "turn append"]);
    expect(await after.standings("old-2")).toEqual(["turn first", "turn append"]);
  });

  it("an exchange left open is closed as interrupted, and the next request is a retry", async () => {
    const store = openMemoryStore();
    const before = new RecorderKit(store, "old");
    await before.ask({ talk: hello, headers: claude("A") });
    const after = new RecorderKit(store, "new");
    await after.turn({ talk: hello, headers: claude("A") });
    const [first, second] = await after.exchanges("old-1");
    expect(first?.end?.outcome).toBe("interrupted");
    expect(second).toMatchObject({ relation: "retry", of: 1 });
  });

  it("an exchange left open is closed without waiting for another request", async () => {
    const store = openMemoryStore();
    await new RecorderKit(store, "old").ask({ talk: hello, headers: claude("A") });
    const after = new RecorderKit(store, "new");
    await after.recorder.recover();
    const [first] = await after.exchanges("old-1");
    expect(first?.end?.outcome).toBe("interrupted");
  });
});

describe("many sessions at once", () => {
  it("all keep their open requests", async () => {
    const one = kit();
    const names = Array.from({ length: 90 }, (_, n) => `S${n}`);
    const open: string[] = [];
    for (const name of names) open.push(await one.ask({ talk: hello, headers: claude(name) }));
    for (const id of open) await one.answer(id);
    for (const name of names) await one.turn({ talk: onward, headers: claude(name) });
    expect(one.recorder.counts().gaps).toBe(0);
    for (const id of await one.sessions()) {
      const outcomes = (await one.exchanges(id)).map(({ end }) => end?.outcome);
      expect(outcomes).toEqual(["complete", "complete"]);
    }
  });

  it("are not disturbed by a request that cannot be read", async () => {
    const one = kit();
    const headers = claude("A");
    await one.turn({ talk: hello, headers });
    const waiting = await one.ask({ talk: onward, headers });
    const crowd = [user(Array.from({ length: 10_001 }, (_, n) => text(`part ${n}`)))];
    const odd = await one.turn({ talk: crowd, headers });
    await one.answer(waiting);
    await one.turn({ talk: [...onward, model([text("done")]), user("and then?")], headers });
    const found = await one.exchanges("s-1");
    expect(found.map(({ role, end }) => `${role} ${end?.outcome}`)).toEqual([
      "turn complete",
      "turn complete",
      "unread complete",
      "turn complete",
    ]);
    const key = { session: sessionId("s-1"), exchange: 3, side: "client-request" } as const;
    expect(one.sent.get(odd)?.equals(unwrap(await one.store.body(key)))).toBe(true);
  });

  it("do not store their history again after a restart", async () => {
    const store = openMemoryStore();
    const long = [user("x".repeat(100_000)), model([text("done")]), user("next")];
    await new RecorderKit(store, "old").turn({ talk: long, headers: claude("A") });
    const after = new RecorderKit(store, "new");
    const id = await after.turn({
      talk: [...long, model([text("done")]), user("more")],
      headers: claude("A"),
    });
    const key = { session: sessionId("old-1"), exchange: 2, side: "client-request" } as const;
    expect(after.sent.get(id)?.equals(unwrap(await store.body(key)))).toBe(true);
    expect(after.literalBytes).toBeLessThan(2_000);
  });
});

import { describe, expect, it } from "vitest";
import { ObservedSession, textBlock } from "../../test/support/observed-session.ts";
import { clock, first, scene, second } from "../../test/support/query-scene.ts";
import { blockId, fail, hashContent, unwrap, viewId } from "../base/index.ts";
import type { ActDeps } from "../execute/index.ts";
import { openSession } from "../log/index.ts";
import { openMemoryStore } from "../store/index.ts";
import { answerQuestion } from "./answer-question.ts";
import type { Question } from "./questions.ts";

describe("a session row", () => {
  it("names the client and the task, and says how full the window is", async () => {
    const { watched, ask } = await scene();
    await watched.talk(first);
    clock.advance(5_000);
    await watched.talk(second);
    const { session, streams, seq } = await ask({ type: "session", session: "s1" });
    expect(session).toEqual({
      id: "s1",
      name: "Fix the login page, please",
      client: "claude-code",
      project: "shop",
      upstream: "anthropic",
      model: "claude-opus-5-5",
      state: "idle",
      failed: null,
      mode: "observe",
      seq: 5,
      window: { used: 1_160, free: 840, size: 2_000, exact: true },
      lastActivity: clock.now(),
      requests: 2,
      rendered: 0,
      cached: 1_100,
      streams: 1,
      usage: { input: 20, cacheRead: 2_000, cacheWrite: 200, output: 100 },
      usages: [
        {
          model: "claude-opus-5-5",
          usage: { input: 20, cacheRead: 2_000, cacheWrite: 200, output: 100 },
        },
      ],
    });
    const main = { id: 1, name: "main", title: "Fix the login page, please", parent: null, turns: 2 };
    expect(streams).toEqual([{ ...main, window: session.window }]);
    expect(seq).toBe(5);
  });

  it("is active while a request is open, and its window an estimate until the first count", async () => {
    const { watched, ask } = await scene();
    await watched.talk({ user: "twelve chars", answer: null });
    const { session } = await ask({ type: "session", session: "s1" });
    expect(session.state).toBe("active");
    expect(session.window).toEqual({ used: 12, free: 1_988, size: 2_000, exact: false });
  });

  it.each([
    [{ status: 529 }, "complete", "error"],
    [{ outcome: "failed", status: null }, "failed", "error"],
    [{ outcome: "truncated" }, "truncated", "error"],
    [{ outcome: "interrupted", status: null }, "interrupted", "error"],
    // A user who stops an answer has not met an error.
    [{ outcome: "aborted" }, "aborted", "idle"],
  ] as const)("of which the last request ended as %o says so", async (end, outcome, state) => {
    const { watched, ask } = await scene();
    await watched.talk(first);
    await watched.talk({ ...second, end: { usage: null, ...end } });
    const { session } = await ask({ type: "session", session: "s1" });
    const { status = 200 } = end as { readonly status?: number | null };
    const failed = state === "idle" ? null : { exchange: 2, outcome, status };
    expect([session.state, session.failed]).toEqual([state, failed]);
    await watched.talk(second);
    const after = await ask({ type: "session", session: "s1" });
    expect([after.session.state, after.session.failed]).toEqual(["idle", null]);
  });

  it("ignores a token count that failed", async () => {
    const { watched, ask } = await scene();
    await watched.talk(first);
    await watched.talk({ ...second, exchange: { role: "count" }, end: { status: 404, usage: null } });
    const { session } = await ask({ type: "session", session: "s1" });
    expect([session.state, session.failed]).toEqual(["idle", null]);
  });

  it("of a session without user messages has the client and the start of the id", async () => {
    const { ask } = await scene("0123456789abcdef");
    const { session } = await ask({ type: "session", session: "0123456789abcdef" });
    expect(session.name).toBe("claude-code 01234567");
    expect(session.window).toEqual({ used: 0, free: 100, size: 100, exact: false });
  });

  it("has a window at least as large as the accepted prompt, so that used and free add up", async () => {
    const { watched, ask } = await scene();
    const usage = { input: 5_000, cacheRead: 0, cacheWrite: 0, output: 1 };
    await watched.talk({ ...first, end: { usage } });
    const { window } = await ask({ type: "state", session: "s1" });
    expect(window).toEqual({ used: 5_001, free: 0, size: 5_001, exact: true });
  });

  it("keeps the count of the last answered turn when one fails", async () => {
    const { watched, ask } = await scene();
    await watched.talk(first);
    await watched.talk({ ...second, end: { outcome: "failed", status: 529, usage: null } });
    expect((await ask({ type: "state", session: "s1" })).window).toMatchObject({ used: 1_160, exact: true });
  });
});

describe("the list of sessions", () => {
  it("has the newest first, in pages without overlaps or gaps", async () => {
    const { store, ask } = await scene("a");
    for (const name of ["b", "c", "d", "e"]) {
      if (name !== "d") clock.advance(1_000);
      await ObservedSession.open(store, name, clock);
    }
    const names: string[] = [];
    let before: string | undefined;
    do {
      const page = await ask({ type: "sessions", limit: 2, ...(before === undefined ? {} : { before }) });
      names.push(...page.rows.map(({ id }) => id));
      before = page.next ?? undefined;
    } while (before !== undefined);
    expect(names).toEqual(["e", "c", "d", "b", "a"]);
    expect((await ask({ type: "session", session: "last" })).session.id).toBe("e");
  });

  it("shows a session as it is now, also when it was listed before", async () => {
    const { watched, ask } = await scene();
    const seqs = async () => (await ask({ type: "sessions", limit: 9 })).rows.map(({ seq }) => seq);
    expect(await seqs()).toEqual([1]);
    await watched.talk(first);
    expect(await seqs()).toEqual([3]);
  });

  it("names a session that cannot be opened, and lists the others", async () => {
    const { store, library } = await scene("a");
    await ObservedSession.open(store, "b", clock);
    const open: ActDeps["openLog"] = (id) =>
      id === "a" ? Promise.resolve(fail("AP_STORE_IO", { problem: "rot" })) : library.openLog(id);
    const broken: ActDeps = { ...library, openLog: open };
    const page = unwrap(await answerQuestion(broken, { type: "sessions", limit: 9 }));
    expect(page).toMatchObject({ rows: [{ id: "b" }], damaged: ["a"] });
  });

  it("refuses an invalid cursor", async () => {
    const { library } = await scene();
    const answer = await answerQuestion(library, { type: "sessions", limit: 1, before: "yesterday" });
    expect(answer).toMatchObject({ error: { code: "AP_QUERY_INVALID" } });
  });
});

describe("the state of a session", () => {
  it("has a row per block and a strip whose pieces add up", async () => {
    const { watched, ask } = await scene();
    await watched.talk(first);
    await watched.talk({ user: "result", answer: "ok", kind: "tool-result", taint: "untrusted" });
    const state = await ask({ type: "state", session: "s1" });
    expect(state).toMatchObject({
      session: "s1",
      seq: 5,
      head: 5,
      stream: 1,
      turn: 2,
      model: "claude-opus-5-5",
    });
    expect(
      state.blocks.map(({ n, kind, origin, shown, counted }) => [n, kind, origin, shown, counted]),
    ).toEqual([
      [1, "user", "user", "original", true],
      [2, "assistant", "model", "original", true],
      [3, "tool-result", "tool", "original", true],
      // The last answer counts in the window, but no request has sent it yet.
      [4, "assistant", "model", "absent", true],
    ]);
    expect(state.blocks.map(({ firstRequest }) => firstRequest)).toEqual([1, 2, 2, null]);
    const sum = (rows: readonly { readonly tokens: number }[]) =>
      rows.reduce((all, { tokens }) => all + tokens, 0);
    expect(sum(state.strip) + state.otherTokens).toBe(state.window.used);
    expect(sum(state.zones)).toBe(sum(state.strip));
    expect(state.strip.map(({ blocks }) => blocks).reduce((a, b) => a + b)).toBe(4);
  });

  it("as of an earlier seq is what it was then", async () => {
    const { watched, ask } = await scene();
    await watched.talk(first);
    const then = await ask({ type: "state", session: "s1" });
    await watched.talk(second);
    expect(await ask({ type: "state", session: "s1", at: 3 })).toEqual({ ...then, head: 5 });
    const open = await ask({ type: "state", session: "s1", at: 2 });
    expect(open.window.exact).toBe(false);
    expect(open.blocks).toHaveLength(1);
  });

  it("comes in pages with the totals of the whole, even while the session continues", async () => {
    const { watched, ask } = await scene();
    await watched.talk(first);
    await watched.talk(second);
    const whole = await ask({ type: "state", session: "s1" });
    const start = await ask({ type: "state", session: "s1", rows: 3 });
    expect(start).toEqual({ ...whole, blocks: whole.blocks.slice(0, 3) });
    expect([start.total, whole.total]).toEqual([4, 4]);
    await watched.talk(first);
    const rest = await ask({ type: "state", session: "s1", at: start.seq, from: 3, rows: 9 });
    expect([...start.blocks, ...rest.blocks]).toEqual(whole.blocks);
    expect(rest.head).toBe(whole.head + 2);
    expect((await ask({ type: "state", session: "s1", from: 99, rows: 1 })).blocks).toEqual([]);
  });

  it("lists an archived block as cold once it is not shown, and counts it until then", async () => {
    const { watched, ask } = await scene();
    await watched.talk(first);
    await watched.append([archived(1), archived(2)]);
    const { cold, strip, blocks } = await ask({ type: "state", session: "s1" });
    expect(blocks.map(({ zone, state }) => [zone, state])).toEqual([
      ["cold", "archived"],
      ["cold", "archived"],
    ]);
    expect(strip).toEqual([{ zone: "cold", tokens: first.user.length, blocks: 1, from: 1, to: 1 }]);
    expect(cold).toEqual({ tokens: first.answer.length, blocks: 1 });
  });

  it("of an unknown stream is an error that names it", async () => {
    const { library } = await scene();
    const answer = await answerQuestion(library, { type: "state", session: "s1", stream: 9 });
    expect(answer).toMatchObject({ error: { code: "AP_STREAM_UNKNOWN" } });
  });
});

const archived = (n: number) =>
  ({
    type: "archive-set",
    view: viewId(1),
    block: blockId(n),
    from: { value: null, by: "policy" },
    to: { value: { reason: "done" }, by: "user" },
  }) as const;

describe("a block", () => {
  it("that will be pruned shows its placeholder, without the nonce of the session", async () => {
    const { watched, ask } = await scene();
    await watched.talk(first);
    expect((await ask({ type: "block", session: "s1", block: 1 })).placeholder).toBeNull();
    await watched.append([archived(1), archived(2)]);
    const { placeholder } = await ask({ type: "block", session: "s1", block: 1 });
    expect(placeholder).toMatch(/^\[---- #1 user ~\d+ pruned \(done\) -> expand #1\]$/);
  });

  it("comes with its content, its type and the frames that mention it", async () => {
    const { watched, ask } = await scene();
    await watched.talk(first);
    await watched.talk(second);
    await watched.append([archived(2)]);
    const detail = await ask({ type: "block", session: "s1", block: 2 });
    expect(detail).toMatchObject({
      seq: 6,
      wireType: "text",
      problem: null,
      placeholder: null,
      content: { text: textBlock(first.answer), encoding: "utf-8", from: 0 },
      block: { n: 2, zone: "cold", firstRequest: 2, addedSeq: 3 },
    });
    expect(detail.history.map(({ seq, actor, deltas }) => [seq, actor, deltas])).toEqual([
      [3, "model", ["block-added", "tokens-counted", "unit-sent"]],
      [4, "client", ["turn-sent"]],
      [6, "user", ["archive-set"]],
    ]);
  });

  it("comes in pages on request", async () => {
    const { watched, ask } = await scene();
    await watched.talk(first);
    const { content } = await ask({ type: "block", session: "s1", block: 1, from: 3, length: 4 });
    expect(content).toMatchObject({ text: textBlock(first.user).slice(3, 7), from: 3, length: 4 });
  });

  it("as of an earlier seq has the history up to there, and is unknown before it was added", async () => {
    const { watched, ask, library } = await scene();
    await watched.talk(first);
    await watched.append([archived(2)]);
    const then = await ask({ type: "block", session: "s1", block: 2, at: 3 });
    expect(then.history.map(({ seq }) => seq)).toEqual([3]);
    expect(then.block.zone).not.toBe("cold");
    const before = await answerQuestion(library, { type: "block", session: "s1", block: 2, at: 2 });
    expect(before).toMatchObject({ error: { code: "AP_BLOCK_UNKNOWN" } });
  });

  it("that was purged is still described, and says why its content is missing", async () => {
    const { watched, store, ask } = await scene();
    await watched.talk(first);
    unwrap(await store.purge([hashContent(textBlock(first.user))]));
    const detail = await ask({ type: "block", session: "s1", block: 1 });
    expect(detail).toMatchObject({ content: null, problem: "AP_CONTENT_PURGED", block: { n: 1 } });
  });

  it.each([0, 99, -1, 1.5, Number.NaN])("number %d is unknown", async (block) => {
    const { library } = await scene();
    const answer = await answerQuestion(library, { type: "block", session: "s1", block });
    expect(answer).toMatchObject({ error: { code: "AP_BLOCK_UNKNOWN" } });
  });
});

describe("frames", () => {
  it("come as they are stored, in pages", async () => {
    const { watched, ask } = await scene();
    const { frames } = await watched.talk(first);
    const page = await ask({ type: "frames", session: "s1", after: 1, limit: 1 });
    expect(page).toEqual({ session: "s1", seq: 3, frames: [frames[0]], next: 2 });
    const rest = await ask({ type: "frames", session: "s1", after: 2, limit: 1_000 });
    expect(rest).toEqual({ session: "s1", seq: 3, frames: [frames[1]], next: null });
  });
});

describe("an unknown session", () => {
  const questions: readonly Question[] = [
    { type: "session", session: "x" },
    { type: "state", session: "x" },
    { type: "block", session: "x", block: 1 },
    { type: "requests", session: "x", after: 0, limit: 1 },
    { type: "request", session: "x", exchange: 1 },
    { type: "body", session: "x", exchange: 1, side: "client-request" },
    { type: "frames", session: "x", after: 0, limit: 1 },
    { type: "selection", session: "x" },
    { type: "select", session: "x", blocks: [1] },
    { type: "manifest", session: "x", detail: "summary" },
    { type: "expansion", session: "x", from: { block: 1 } },
  ];

  it.each(questions)("is the same error as a malformed id: $type", async (question) => {
    const { library } = await scene();
    for (const session of ["x", "S1", "../s1", "", "s1%00"]) {
      const answer = await answerQuestion(library, { ...question, session } as Question);
      expect(answer).toMatchObject({ ok: false, error: { code: "AP_SESSION_UNKNOWN" } });
    }
  });

  it("is the same error as `last` of an empty store", async () => {
    const store = openMemoryStore();
    const openLog: ActDeps["openLog"] = (session) => openSession({ store, session, clock });
    const { library: other } = await scene();
    const library: ActDeps = { ...other, store, openLog };
    const answer = await answerQuestion(library, { type: "session", session: "last" });
    expect(answer).toMatchObject({ error: { code: "AP_SESSION_UNKNOWN" } });
  });
});

it("a bug in an answer becomes an error, not a rejection", async () => {
  const { library } = await scene();
  const openLog = () => Promise.reject(new Error("a bug"));
  const answer = await answerQuestion({ ...library, openLog }, { type: "session", session: "s1" });
  expect(answer).toMatchObject({ error: { code: "AP_CONTROL_FAULT", details: { problem: "a bug" } } });
});

import { describe, expect, it } from "vitest";
import { hashContent, unwrap } from "../../src/base/index.ts";
import { answerQuestion } from "../../src/host/answer-question.ts";
import type { Question } from "../../src/host/index.ts";
import { clock, first, scene, second } from "../support/query-scene.ts";

describe("requests", () => {
  it("are listed in order with their outcomes", async () => {
    const { watched, ask } = await scene();
    const one = await watched.talk(first);
    await watched.talk({ ...second, end: { outcome: "failed", status: 529, usage: null, stop: null } });
    await watched.talk({ user: "again", answer: null, exchange: { relation: "retry", of: 2 } });
    const page = await ask({ type: "requests", session: "s1", after: 0, limit: 10 });
    expect(page).toMatchObject({ session: "s1", seq: 6, total: 3, next: null });
    expect(page.rows[0]).toEqual({
      id: 1,
      request: "ap-1-1",
      role: "turn",
      relation: "first",
      of: null,
      stream: 1,
      turn: 1,
      model: "claude-opus-5-5",
      target: "POST /v1/messages?beta=true",
      rendering: "raw",
      rewrite: null,
      outcome: "complete",
      status: 200,
      usage: { input: 10, cacheRead: 1_000, cacheWrite: 100, output: 50 },
      bytesUp: one.request.length,
      bytesDown: one.response?.length,
      firstByteMs: 12,
      totalMs: 340,
      addedMs: null,
      stop: "end_turn",
      problem: null,
      time: clock.now(),
      openedSeq: 2,
    });
    expect(page.rows.map(({ outcome, status, turn }) => [outcome, status, turn])).toEqual([
      ["complete", 200, 1],
      ["failed", 529, 2],
      ["open", null, 3],
    ]);
  });

  it("come in pages", async () => {
    const { watched, ask } = await scene();
    for (const user of ["a", "b", "c"]) await watched.talk({ user, answer: "ok" });
    const page = await ask({ type: "requests", session: "s1", after: 0, limit: 2 });
    expect([page.rows.map(({ id }) => id), page.next]).toEqual([[1, 2], 2]);
    const rest = await ask({ type: "requests", session: "s1", after: 2, limit: 2 });
    expect([rest.rows.map(({ id }) => id), rest.next]).toEqual([[3], null]);
  });

  it("are shown as compactions once a later request continues from them", async () => {
    const { watched, ask } = await scene();
    await watched.talk(first);
    await watched.talk(second);
    await watched.talk({ user: "summary", answer: "ok", exchange: { relation: "compacted", of: 2 } });
    const { rows } = await ask({ type: "requests", session: "s1", after: 0, limit: 10 });
    expect(rows.map(({ role }) => role)).toEqual(["turn", "compaction", "turn"]);
  });

  it("that were retried list all attempts", async () => {
    const { watched, ask } = await scene();
    await watched.talk({ ...first, end: { outcome: "failed", status: 529 } });
    await watched.talk({ ...first, exchange: { relation: "retry", of: 1 }, end: { outcome: "aborted" } });
    await watched.talk({ ...first, exchange: { relation: "retry", of: 2 } });
    await watched.talk(second);
    for (const exchange of [1, 2, 3]) {
      const { attempts } = await ask({ type: "request", session: "s1", exchange });
      expect(attempts.map(({ id, outcome }) => [id, outcome])).toEqual([
        [1, "failed"],
        [2, "aborted"],
        [3, "complete"],
      ]);
    }
  });

  it("have bodies, which are the same on both sides if relayed unchanged", async () => {
    const { watched, ask } = await scene();
    const { request, response } = await watched.talk(first);
    const detail = await ask({ type: "request", session: "s1", exchange: 1 });
    expect(detail.bodies).toEqual([
      { side: "client-request", length: request.length, hash: hashContent(request) },
      { side: "upstream-response", length: response?.length, hash: hashContent(response ?? "") },
    ]);
    expect(detail.identical).toEqual({ request: true, response: true });
    for (const side of ["client-request", "upstream-request"] as const) {
      const body = await ask({ type: "body", session: "s1", exchange: 1, side });
      expect([Buffer.from(body.bytes), body.side]).toEqual([request, "client-request"]);
    }
    for (const side of ["upstream-response", "client-response"] as const) {
      const body = await ask({ type: "body", session: "s1", exchange: 1, side });
      expect([Buffer.from(body.bytes), body.side]).toEqual([response, "upstream-response"]);
    }
  });

  it("report an upstream body that differs", async () => {
    const { watched, store, ask } = await scene();
    await watched.talk(first);
    const bytes = Buffer.from("changed");
    const body = {
      session: watched.log.state().session,
      exchange: 1,
      side: "upstream-request",
      hash: hashContent(bytes),
      length: bytes.length,
      recipe: [{ from: "literal", bytes }],
    } as const;
    const appended = store.append({ bodies: [body] });
    if (appended.accepted) unwrap(await appended.durable);
    const detail = await ask({ type: "request", session: "s1", exchange: 1 });
    expect(detail.identical).toEqual({ request: false, response: true });
    const sent = await ask({ type: "body", session: "s1", exchange: 1, side: "upstream-request" });
    expect(Buffer.from(sent.bytes).toString()).toBe("changed");
  });

  it("that were rendered never return the client's bytes as the ones sent", async () => {
    const { watched, library: deps, ask } = await scene();
    await watched.talk({ ...first, exchange: { rendering: "managed" } });
    await watched.talk(second);
    const { rows } = await ask({ type: "requests", session: "s1", after: 0, limit: 10 });
    expect(rows.map(({ rendering }) => rendering)).toEqual(["managed", "raw"]);
    const detail = await ask({ type: "request", session: "s1", exchange: 1 });
    expect(detail.identical).toEqual({ request: false, response: true });
    const sent = { type: "body", session: "s1", exchange: 1, side: "upstream-request" } as const;
    expect(await answerQuestion(deps, sent)).toMatchObject({ error: { code: "AP_BODY_UNKNOWN" } });
  });

  it("are refused if the exchange or its body is unknown", async () => {
    const { watched, library: deps } = await scene();
    await watched.talk({ user: "x", answer: null });
    const code = async (question: Question) => {
      const answer = await answerQuestion(deps, question);
      return answer.ok ? null : answer.error.code;
    };
    for (const exchange of [0, 2, -1, 1.5]) {
      expect(await code({ type: "request", session: "s1", exchange })).toBe("AP_EXCHANGE_UNKNOWN");
      expect(await code({ type: "body", session: "s1", exchange, side: "client-request" })).toBe(
        "AP_EXCHANGE_UNKNOWN",
      );
    }
    expect(await code({ type: "body", session: "s1", exchange: 1, side: "client-response" })).toBe(
      "AP_BODY_UNKNOWN",
    );
  });
});

import { describe, expect, it } from "vitest";
import { unwrap } from "../../base/index.ts";
import type { SentBody } from "../../queries/answers/index.ts";
import { replayStrictly } from "./strict-model.ts";

const mark = { cache_control: { type: "ephemeral" } };
const long = "word ".repeat(4_000);

function body(exchange: number, messages: readonly object[], more: Partial<SentBody> = {}): SentBody {
  const request = { model: "claude-opus-5", max_tokens: 100, messages };
  const bytes = Buffer.from(JSON.stringify(request));
  return { exchange, target: "POST /v1/messages?beta=true", time: 1_000, bytes, ...more };
}
const user = (text: string) => ({ role: "user", content: [{ type: "text", text, ...mark }] });
const first = body(1, [user(long)]);
const second = body(2, [user(long), { role: "assistant", content: "yes" }, user("and on")]);

describe("the built-in strict model", () => {
  it("accepts a valid request, with an empty cache", async () => {
    const { verdict, behind } = unwrap(await replayStrictly({ sent: first, before: null }));
    expect(verdict).toMatchObject({ accepted: true, status: 200, prompt: { cacheRead: 0 } });
    expect(behind).toBeNull();
  });

  it("reads the cache of the previous request until it expires", async () => {
    const minuteMs = 60_000;
    for (const [gapMs, isRead] of [
      [4 * minuteMs, true],
      [6 * minuteMs, false],
    ] as const) {
      const sent = { ...second, time: 1_000 + gapMs };
      const { verdict, behind } = unwrap(await replayStrictly({ sent, before: first }));
      const read = verdict.accepted ? (verdict.prompt?.cacheRead ?? 0) : 0;
      expect([gapMs, read > 4_000]).toEqual([gapMs, isRead]);
      expect(behind).toEqual({ exchange: 1, accepted: true });
    }
  });

  it("refuses with its own message, and reports whether the previous request was refused", async () => {
    const broken = body(1, [{ role: "assistant", content: "first" }]);
    const { verdict, behind } = unwrap(await replayStrictly({ sent: second, before: broken }));
    expect([verdict.accepted, behind]).toEqual([true, { exchange: 1, accepted: false }]);
    expect(unwrap(await replayStrictly({ sent: broken, before: null })).verdict).toEqual({
      accepted: false,
      status: 400,
      type: "invalid_request_error",
      message: "messages.0: the first message must have the role user",
    });
  });

  it("detects a change before a signature", async () => {
    const thinking = { type: "thinking", thinking: "so", signature: "from elsewhere" };
    const conversation = (text: string) => [
      { role: "user", content: text },
      { role: "assistant", content: [thinking, { type: "text", text: "yes" }] },
      { role: "user", content: "and on" },
    ];
    const bound = (exchange: number, messages: readonly object[]): SentBody => {
      const request = { model: "claude-opus-5-5", max_tokens: 100, messages };
      return body(exchange, [], { bytes: Buffer.from(JSON.stringify(request)) });
    };
    const before = bound(1, conversation("hello"));
    expect(
      unwrap(await replayStrictly({ sent: bound(2, conversation("hello")), before })).verdict.accepted,
    ).toBe(true);
    expect(
      unwrap(await replayStrictly({ sent: bound(2, conversation("hullo")), before })).verdict,
    ).toMatchObject({
      message: expect.stringContaining("bound to a different conversation"),
    });
  });

  it("accepts the Messages API below any path, and no other API", async () => {
    const below = { ...first, target: "POST /gateway/v1/messages" };
    expect((await replayStrictly({ sent: below, before: null })).ok).toBe(true);
    const counted = unwrap(
      await replayStrictly({ sent: { ...first, target: "POST /v1/messages/count_tokens" }, before: null }),
    );
    expect(counted.verdict).toEqual({ accepted: true, status: 200, prompt: null });
    for (const target of ["POST /v1/responses", "POST /v1/messages/batches", "GET /v1/messages"]) {
      const refused = await replayStrictly({ sent: { ...first, target }, before: null });
      expect(refused).toMatchObject({ ok: false, error: { code: "AP_REPLAY_IMPOSSIBLE" } });
    }
  });
});

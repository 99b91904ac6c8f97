// The model uses our tools through the real proxy, and the client never notices.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RequestsPage } from "../../src/queries/answers/index.ts";
import { type ModelReply, type StrictUpstream, startStrictUpstream } from "../../src/testing/index.ts";
import { jsonIn, startTestApp, type TestApp } from "../support/app.ts";
import { prefixBreaks, rejections, TestClient } from "../support/test-client.ts";

type ReplyPart = ModelReply["content"][number];

const text = (words: string): ReplyPart => ({ type: "text", text: words });
const think = (words: string): ReplyPart => ({ type: "thinking", thinking: words });
const call = (name: string, input: Record<string, unknown>): ReplyPart =>
  ({ type: "tool_use", name, input }) as ReplyPart;

let upstream: StrictUpstream;
let app: TestApp;
let replies: (readonly ReplyPart[])[] = [];

beforeEach(async () => {
  replies = [];
  let next = 0;
  upstream = await startStrictUpstream({
    model: () => {
      next += 1;
      return { content: replies[next - 1] ?? [text("nothing more")] };
    },
  });
  app = await startTestApp(upstream.url, { mode: "auto", deadlineMs: 20_000, limits: { planMs: 30_000 } });
});
afterEach(async () => {
  await app.remove();
  await upstream.close();
});

const newTalker = (model: string) => new TestClient({ model, bulk: 80_000 });

async function playTurns(talker: TestClient, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const answer = await talker.turn(app.url, `question ${n}`);
    expect([answer.status, answer.isWhole]).toEqual([200, true]);
    await app.recorded();
  }
}

const bodies = (): readonly Buffer[] => upstream.exchanges.map(({ body }) => body);
const seenByClient = (talker: TestClient): string => JSON.stringify(talker.messages);
const models = ["claude-opus-5-5", "claude-opus-4-8", "claude-opus-4-6"];

it("the total time of a continued answer is not below its time to first byte", async () => {
  replies = [[text("one"), call("aperture_read", { verb: "manifest" })], [text("two")]];
  await playTurns(newTalker("claude-opus-4-6"), 1);
  const { rows } = jsonIn<RequestsPage>(await app.api("/sessions/last/requests"));
  expect(rows.map(({ relation }) => relation)).toEqual(["first", "round"]);
  for (const { firstByteMs, totalMs } of rows) expect(totalMs).toBeGreaterThanOrEqual(firstByteMs ?? 1);
});

describe.each(models)("with %s", (model) => {
  it("a call of our tools alone is executed, and the answer continues", async () => {
    replies = [
      [think("a"), text("one"), call("aperture_read", { verb: "manifest" })],
      [think("b"), text("two")],
      [think("c"), text("three")],
    ];
    const talker = newTalker(model);
    await playTurns(talker, 2);
    expect(rejections(upstream.exchanges)).toEqual([]);
    expect(upstream.exchanges).toHaveLength(3);
    const [, second, third] = bodies();
    expect(second?.toString()).toContain("CONTEXT MANIFEST");
    expect(third?.toString()).toContain('"name":"aperture_read"');
    expect(seenByClient(talker)).not.toContain("aperture");
    const texts = talker.messages[1]?.content.filter(({ type }) => type === "text").map(({ text: t }) => t);
    expect(texts).toEqual(["one", "two"]);
    expect(prefixBreaks(bodies())).toBe(0);
  });

  it("a call of our tools beside one of the client's is answered with the client's result", async () => {
    replies = [
      [think("a"), call("look", { n: 1 }), call("aperture_manage", { verb: "pin", target: "stale" })],
      [think("b"), call("aperture_read", { verb: "diff" }), call("look", { n: 2 })],
      [text("done")],
      [text("bye")],
    ];
    const talker = newTalker(model);
    await playTurns(talker, 4);
    expect(rejections(upstream.exchanges)).toEqual([]);
    expect(upstream.exchanges).toHaveLength(4);
    expect(seenByClient(talker)).not.toContain("aperture");
    expect(prefixBreaks(bodies())).toBe(0);
    expect(
      bodies()
        .at(-1)
        ?.toString()
        .match(/"name":"aperture_/g),
    ).toHaveLength(2 + 4);
  });

  it("rounds are limited, then the client gets the answer so far", async () => {
    const again = [call("aperture_read", { verb: "manifest" })];
    replies = [[text("start"), ...again], again, again, again, again, [text("after")], [text("end")]];
    const talker = newTalker(model);
    await playTurns(talker, 3);
    expect(rejections(upstream.exchanges)).toEqual([]);
    expect(upstream.exchanges).toHaveLength(7);
    const texts = talker.messages.flatMap(({ role, content }) =>
      role === "assistant" ? content.map((block) => block["text"]) : [],
    );
    expect(texts).toEqual(["start", "after", "end"]);
    expect(seenByClient(talker)).not.toContain("aperture");
    expect(prefixBreaks(bodies())).toBe(0);
  });
});

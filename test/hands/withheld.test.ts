// Withheld content leaves in no body, even after a restart and in bodies that cannot be read.
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { PricedCommand } from "../../src/control/index.ts";
import { type ModelReply, type StrictUpstream, startStrictUpstream } from "../../src/testing/index.ts";
import { type Answer, ask, jsonIn, startTestApp, type TestApp } from "../support/app.ts";
import { rejections, TestClient } from "../support/test-client.ts";

type ReplyPart = ModelReply["content"][number];

const secret = "my secret is a very blue elephant";
const text = (words: string): ReplyPart => ({ type: "text", text: words });

let upstream: StrictUpstream;
let app: TestApp;
let talker: TestClient;
let replies: (readonly ReplyPart[])[] = [];

beforeEach(async () => {
  replies = [];
  upstream = await startStrictUpstream({
    model: () => ({ content: replies.shift() ?? [text("nothing more")] }),
  });
  app = await startTestApp(upstream.url, { mode: "auto", deadlineMs: 20_000, limits: { planMs: 30_000 } });
  talker = new TestClient({ model: "claude-opus-4-6", bulk: 80_000 });
});
afterEach(async () => {
  await app.remove();
  await upstream.close();
});

async function turn(words: string): Promise<string> {
  const answer = await talker.turn(app.url, words);
  expect([answer.status, answer.isWhole]).toEqual([200, true]);
  await app.recorded();
  return bodyNow();
}
const bodyNow = (): string => upstream.exchanges.at(-1)?.body.toString() ?? "";

async function act(command: unknown): Promise<PricedCommand> {
  const headers = { authorization: `Bearer ${app.token}`, "content-type": "application/json" };
  const body = JSON.stringify({ command });
  const answer = await ask(`${app.url}/api/v1/sessions/last/ops`, { method: "POST", headers, body });
  expect([answer.status, answer.status === 200 ? "" : answer.body.toString()]).toEqual([200, ""]);
  return jsonIn(answer);
}

async function blockWith(words: string): Promise<number> {
  const recalled = await act({ verb: "recall", target: `"${words}"` });
  return Number(/#(\d+)/.exec(recalled.text)?.[1]);
}

/** Restarts on the same data, with a log that answers too late for every request. */
async function restartLate(): Promise<void> {
  const { dataDir } = app;
  await app.close();
  app = await startTestApp(upstream.url, {
    mode: "auto",
    dataDir,
    deadlineMs: 0,
    limits: { planMs: 30_000 },
  });
}

/** Plays three turns, the second with the secret alone in its message. */
async function tellSecret(): Promise<void> {
  await turn("first question");
  await turn(secret);
  await turn("third question");
}

const refusalIn = (answer: Answer): string => jsonIn<{ error: { message: string } }>(answer).error.message;

describe.each(["withhold", "purge"])("after %s", (verb) => {
  it("a placeholder is sent, even after a restart with a late log", async () => {
    await tellSecret();
    await act(`@${verb}(${await blockWith("blue elephant")})`);
    await restartLate();
    const sent = await turn("fourth question");
    expect(sent).not.toContain("blue elephant");
    expect(sent).toContain("withheld by the user");
    expect(rejections(upstream.exchanges)).toEqual([]);
  });

  it("a placeholder is sent, even if the client has joined it with other text", async () => {
    await tellSecret();
    await act(`@${verb}(${await blockWith("blue elephant")})`);
    await restartLate();
    const [first, second, third] = talker.messages;
    const joined = { role: "user", content: [text(`${textIn(first)}\n\n${secret}\nand more`)] };
    talker.messages = [joined, second, ...talker.messages.slice(4)].filter((one) => one !== undefined);
    expect(third).toBeDefined();
    const sent = await turn("fourth question");
    expect(sent).not.toContain("blue elephant");
    expect(sent).toContain("withheld by the user");
    expect(sent).toContain("and more");
    expect(rejections(upstream.exchanges)).toEqual([]);
  });

  it("results that showed it to the model are withheld, too", async () => {
    await tellSecret();
    const block = await blockWith("blue elephant");
    replies = [
      [
        {
          type: "tool_use",
          name: "aperture_read",
          input: { verb: "expand", target: `${block}` },
        } as ReplyPart,
      ],
      [text("I have read it")],
    ];
    expect((await turn("fourth question")).split("blue elephant")).toHaveLength(3);
    await act(`@${verb}(${block})`);
    expect(await turn("fifth question")).not.toContain("blue elephant");
    await restartLate();
    expect(await turn("sixth question")).not.toContain("blue elephant");
    expect(rejections(upstream.exchanges)).toEqual([]);
  });
});

describe("a body that cannot be read", () => {
  const unread = "its session has withheld content, and Aperture could not read the body";
  const bodies = {
    compressed: () => ({ body: gzipSync(next()), headers: { "content-encoding": "gzip" } }),
    "with a digest": () => ({ body: next(), headers: { "content-digest": "sha-256=:AAAA:" } }),
    "too large": () => ({ body: next("x".repeat(33 * 1024 * 1024)), headers: {} }),
    "that is no JSON": () => ({ body: Buffer.from(next().toString().slice(0, -1)), headers: {} }),
  } as const;
  const next = (words = "fourth question"): Buffer => talker.body([...talker.messages, talker.next(words)]);

  it("is refused with the reason", async () => {
    await tellSecret();
    await act(`@withhold(${await blockWith("blue elephant")})`);
    await restartLate();
    const before = upstream.exchanges.length;
    for (const [name, made] of Object.entries(bodies)) {
      const { body, headers } = made();
      const answer = await talker.post(app.url, body, headers);
      expect([name, answer.status, refusalIn(answer)]).toEqual([name, 409, expect.stringContaining(unread)]);
    }
    expect(upstream.exchanges).toHaveLength(before);
    // A session without withheld content is not affected.
    const other = new TestClient({ model: "claude-opus-4-6", bulk: 80_000 });
    const passed = await other.post(app.url, gzipSync(other.body([other.next("first")])), {
      "content-encoding": "gzip",
    });
    expect(passed.status).not.toBe(409);
    expect(upstream.exchanges.length).toBeGreaterThan(before);
  });
});

function textIn(message: TestClient["messages"][number] | undefined): string {
  return String(message?.content[0]?.["text"] ?? "");
}

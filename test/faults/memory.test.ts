// When memory runs out, recording stops first, then management, but answers never; and both come back.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { must } from "../../src/base/index.ts";
import { type StrictUpstream, startStrictUpstream } from "../../src/testing/index.ts";
import { type Answer, ask, jsonIn, modelHeaders } from "../support/app.ts";
import { type Child, startNode } from "../support/child.ts";
import { TestClient } from "../support/test-client.ts";

let upstream: StrictUpstream;
let folder = "";
let child: Child;
let url = "";
let token = "";

beforeEach(async () => {
  upstream = await startStrictUpstream({ bodiesKept: 50 });
  folder = mkdtempSync(join(tmpdir(), "aperture-memory-"));
});
afterEach(async () => {
  child.process.stdin?.end();
  const { code, signal } = await child.ended;
  expect({ code, signal }, "it ended by itself").toEqual({ code: 0, signal: null });
  await upstream.close();
  rmSync(folder, { recursive: true });
});

async function start(megabytes: number): Promise<void> {
  const flags = [`--max-old-space-size=${megabytes}`, "--expose-gc"];
  child = startNode([...flags, "test/faults/app-child.mjs", upstream.url, folder], "pipe");
  const line = must(await child.said(() => true), "it has started");
  ({ url, token } = JSON.parse(line));
}

async function fill(share: number): Promise<void> {
  child.process.stdin?.write(`${share}\n`);
  await child.said((line) => line === `taken ${share}`);
}

type Health = { readonly storage: string; readonly message: string | null };

/** The health as panel and command line get it. */
async function health(): Promise<Health> {
  const headers = { authorization: `Bearer ${token}` };
  return jsonIn<Health>(await ask(`${url}/api/v1/health`, { headers }));
}

async function sessions(): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await ask(`${url}/api/v1/sessions?limit=1000`, { headers });
  return answer.status === 200 ? jsonIn<{ rows: readonly unknown[] }>(answer).rows.length : 0;
}

/** Polls until the count is stable: the engine may be restarting or behind. */
async function settledSessions(): Promise<number> {
  for (let before = -1; ; await sleep(500)) {
    const count = await sessions();
    if (count > 0 && count === before) return count;
    before = count;
  }
}

async function expectMessage(text: string): Promise<void> {
  await expect.poll(async () => (await health()).message).toContain(text);
}

async function expectOk(): Promise<void> {
  const storage = async () => (await health()).storage;
  await expect.poll(storage).toBe("ok");
}

function isWhole({ status, isWhole: isAll }: Answer): boolean {
  return status === 200 && isAll;
}

test("at 85 % bodies are not recorded, at 95 % requests only pass, and both end again", async () => {
  await start(300);
  const talker = new TestClient({ bulk: 80_000 });
  const turn = async (who: TestClient): Promise<boolean> => {
    expect(isWhole(await who.turn(url, "say hello"))).toBe(true);
    return upstream.exchanges.at(-1)?.body.includes("managed by Aperture") ?? false;
  };
  expect(await turn(talker)).toBe(true);
  await expectOk();

  await fill(0.88);
  await expectMessage("bodies are not recorded");
  expect(await turn(talker), "a managed session stays managed").toBe(true);
  expect(await turn(new TestClient({ bulk: 80_000 })), "a new session is not managed").toBe(false);

  await fill(0.96);
  await expectMessage("requests are relayed and nothing else");
  expect(await turn(talker), "the client's body is sent").toBe(false);

  await fill(0);
  await expectOk();
  expect(await turn(talker), "it is managed again").toBe(true);
  expect((await health()).message).toBe(null);
});

test("large bodies that fill the engine's memory fail no request, and recording resumes", async () => {
  await start(64);
  const messages = new Set<string>();
  let failed = 0;
  const send = async (n: number): Promise<void> => {
    const headers = { ...modelHeaders, "x-claude-code-session-id": `s-${n}` };
    const names = Array.from({ length: 12_000 }, () => `read_${randomBytes(6).toString("hex")}.ts`);
    const content = Array.from({ length: 60 }, (_, at) => ({
      type: "text",
      text: names.slice(at * 200, (at + 1) * 200).join(" "),
    }));
    const body = JSON.stringify({
      model: "claude-opus-4-8",
      max_tokens: 9,
      tools: [{ name: "look", input_schema: { type: "object" } }],
      messages: [{ role: "user", content }],
    });
    if (!isWhole(await ask(`${url}/v1/messages`, { headers, body }))) failed += 1;
    messages.add((await health()).message ?? "");
  };
  const hasRunOut = () => [...messages].some((message) => message.startsWith("Memory is low"));
  // How much fits depends on garbage collection: it sends until memory runs out, within bounds.
  for (let n = 0; n < 300 && !hasRunOut(); n += 3) await Promise.all([send(n), send(n + 1), send(n + 2)]);
  expect(failed).toBe(0);
  expect(hasRunOut()).toBe(true);
  await expectOk();
  const recorded = await settledSessions();
  await send(1_000);
  await expect.poll(sessions).toBe(recorded + 1);
});

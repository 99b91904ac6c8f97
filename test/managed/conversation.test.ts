// A managed session over real sockets, with a model that binds its reasoning to everything before it.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type StrictUpstream, startStrictUpstream } from "../../src/testing/index.ts";
import { jsonIn, type Starting, startTestApp, type TestApp } from "../support/app.ts";
import { prefixBreaks, rejections, TestClient } from "../support/test-client.ts";

let upstream: StrictUpstream;
let app: TestApp;

beforeEach(async () => {
  let n = 0;
  upstream = await startStrictUpstream({
    model: () => {
      n += 1;
      const thinking = { type: "thinking", thinking: `thought ${n}` } as const;
      const calls = [1, 2].map(
        (at) => ({ type: "tool_use", name: at === 1 ? "look" : "find", input: { n } }) as const,
      );
      const blocks =
        n % 4 === 0 ? [{ type: "text", text: `answer ${n}` } as const] : calls.slice(0, (n % 2) + 1);
      return { content: [thinking, ...blocks] };
    },
  });
});

afterEach(async () => {
  await app.remove();
  await upstream.close();
});

const start = (starting: Starting = {}): Promise<TestApp> =>
  startTestApp(upstream.url, { mode: "auto", ...patient, ...starting });

/** Deadlines for a busy machine; missed deadlines have tests of their own. */
const patient = { deadlineMs: 20_000, limits: { planMs: 30_000 } };
const bodies = (): readonly Buffer[] => upstream.exchanges.map(({ body }) => body);

async function turns(
  client: TestClient,
  count: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const answer = await client.turn(app.url, `prompt ${at}`, headers);
    expect([answer.status, answer.isWhole]).toEqual([200, true]);
  }
}

it("is accepted turn after turn, extends what was sent, and is recorded byte for byte", async () => {
  app = await start();
  const client = new TestClient();
  await turns(client, 20);
  expect(rejections(upstream.exchanges)).toEqual([]);
  expect(prefixBreaks(bodies())).toBe(0);
  await app.recorded();
  const [session] = jsonIn<{ rows: readonly { id: string }[] }>(await app.api("/sessions")).rows;
  for (const [at, body] of bodies().entries()) {
    const sent = await app.api(`/sessions/${session?.id}/requests/${at + 1}/upstream`);
    expect(sent.body.equals(body), `request ${at + 1}`).toBe(true);
    expect(body.toString()).toMatch(new RegExp(`CONTEXT MANIFEST \\w{4} turn ${at + 1} `));
  }
});

it("continues after a restart", async () => {
  app = await start();
  const client = new TestClient();
  await turns(client, 6);
  await app.recorded();
  await app.close();
  app = await start({ dataDir: app.dataDir });
  await turns(client, 6);
  expect(rejections(upstream.exchanges)).toEqual([]);
  expect(prefixBreaks(bodies())).toBe(0);
});

describe("a change of mode", () => {
  it("to observe and back causes no refusal", async () => {
    app = await start();
    const client = new TestClient();
    await turns(client, 4);
    await turns(client, 3, { "x-aperture-mode": "observe" });
    await turns(client, 4);
    await turns(client, 1, { "x-aperture-bypass": "1" });
    await turns(client, 2);
    expect(rejections(upstream.exchanges)).toEqual([]);
    // Each change to observe breaks the prefix once; a change back continues from what was sent meanwhile.
    expect(prefixBreaks(bodies())).toBe(1 + 1);
  });
});

it("a session that began without Aperture becomes managed", async () => {
  app = await start();
  const client = new TestClient({ bulk: 300_000 });
  for (let at = 0; at < 5; at += 1) await client.turn(upstream.url, `prompt ${at}`);
  await turns(client, 5);
  expect(rejections(upstream.exchanges)).toEqual([]);
  expect(prefixBreaks(bodies())).toBe(0);
  expect(bodies().at(-1)?.toString()).toContain("managed by Aperture");
});

it("a stuck engine thread does not affect a live session", async () => {
  app = await start({ faults: { stickAfter: 3, stuckMs: 1_000 } });
  const client = new TestClient();
  await turns(client, 12);
  expect(rejections(upstream.exchanges)).toEqual([]);
  expect(prefixBreaks(bodies())).toBe(0);
});

it("a stream is reported again to a replaced engine thread, so that a restart finds it", async () => {
  app = await start({ faults: { dieAfter: 3 } });
  const client = new TestClient();
  for (let round = 0; round < 3; round += 1) {
    await turns(client, 2);
    await app.recorded();
    await expect.poll(() => app.engine.status().storage.storage, { timeout: 10_000 }).toBe("ok");
  }
  await app.close();
  app = await start({ dataDir: app.dataDir });
  await turns(client, 3);
  expect(rejections(upstream.exchanges)).toEqual([]);
  expect(prefixBreaks(bodies())).toBe(0);
});

it("dead storage does not affect a live session", async () => {
  app = await start({ faults: { maxPages: 40 } });
  const client = new TestClient();
  await turns(client, 12);
  expect(rejections(upstream.exchanges)).toEqual([]);
  expect(prefixBreaks(bodies())).toBe(0);
});

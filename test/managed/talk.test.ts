// A managed session over real sockets, with a model that binds its reasoning to everything before it.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type StrictUpstream, startStrictUpstream } from "../../src/testing/index.ts";
import { jsonIn, type Starting, startTestApp, type TestApp } from "../support/app.ts";
import { prefixBreaks, rejections, Talker } from "../support/talker.ts";

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
      const said =
        n % 4 === 0 ? [{ type: "text", text: `answer ${n}` } as const] : calls.slice(0, (n % 2) + 1);
      return { content: [thinking, ...said] };
    },
  });
});

afterEach(async () => {
  await app.remove();
  await upstream.close();
});

const start = (starting: Starting = {}): Promise<TestApp> =>
  startTestApp(upstream.url, { mode: "auto", ...patient, ...starting });

/** A busy machine may take its time; what happens after the deadline has tests of its own. */
const patient = { deadlineMs: 20_000, limits: { takeMs: 30_000 } };
const bodies = (): readonly Buffer[] => upstream.exchanges.map(({ body }) => body);

async function turns(
  talker: Talker,
  count: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const answer = await talker.turn(app.url, `prompt ${at}`, headers);
    expect([answer.status, answer.isWhole]).toEqual([200, true]);
  }
}

it("is accepted turn after turn, goes on from what was sent, and is recorded to the byte", async () => {
  app = await start();
  const talker = new Talker();
  await turns(talker, 20);
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

it("goes on after a restart where it was", async () => {
  app = await start();
  const talker = new Talker();
  await turns(talker, 6);
  await app.recorded();
  await app.close();
  app = await start({ dataDir: app.dataDir });
  await turns(talker, 6);
  expect(rejections(upstream.exchanges)).toEqual([]);
  expect(prefixBreaks(bodies())).toBe(0);
});

describe("a change of mode", () => {
  it("leaves and comes back without a refusal", async () => {
    app = await start();
    const talker = new Talker();
    await turns(talker, 4);
    await turns(talker, 3, { "x-aperture-mode": "observe" });
    await turns(talker, 4);
    await turns(talker, 1, { "x-aperture-bypass": "1" });
    await turns(talker, 2);
    expect(rejections(upstream.exchanges)).toEqual([]);
    // Leaving is one break; coming back joins what was sent meanwhile.
    expect(prefixBreaks(bodies())).toBe(1 + 1);
  });
});

it("a session begun without Aperture is joined", async () => {
  app = await start();
  const talker = new Talker({ bulk: 300_000 });
  for (let at = 0; at < 5; at += 1) await talker.turn(upstream.url, `prompt ${at}`);
  await turns(talker, 5);
  expect(rejections(upstream.exchanges)).toEqual([]);
  expect(prefixBreaks(bodies())).toBe(0);
  expect(bodies().at(-1)?.toString()).toContain("managed by Aperture");
});

it("a thread that is stuck is not noticed by a session that lives", async () => {
  app = await start({ faults: { stickAfter: 3, stuckMs: 1_000 } });
  const talker = new Talker();
  await turns(talker, 12);
  expect(rejections(upstream.exchanges)).toEqual([]);
  expect(prefixBreaks(bodies())).toBe(0);
});

it("what a replaced thread had heard is told to the next one, so that a restart still finds it", async () => {
  app = await start({ faults: { dieAfter: 3 } });
  const talker = new Talker();
  for (let round = 0; round < 3; round += 1) {
    await turns(talker, 2);
    await app.recorded();
    await expect.poll(() => app.engine.status().storage.storage, { timeout: 10_000 }).toBe("ok");
  }
  await app.close();
  app = await start({ dataDir: app.dataDir });
  await turns(talker, 3);
  expect(rejections(upstream.exchanges)).toEqual([]);
  expect(prefixBreaks(bodies())).toBe(0);
});

it("storage that is dead does not end a session that lives", async () => {
  app = await start({ faults: { maxPages: 40 } });
  const talker = new Talker();
  await turns(talker, 12);
  expect(rejections(upstream.exchanges)).toEqual([]);
  expect(prefixBreaks(bodies())).toBe(0);
});

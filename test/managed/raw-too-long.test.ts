// A session whose full history exceeds the window continues as long as its record exists. If the record is
// lost, nothing is dropped silently: the client gets the provider's error, and the user was warned before.
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { NoticeEvent } from "../../src/log/engine-events.ts";
import { type StrictUpstream, startStrictUpstream } from "../../src/testing/index.ts";
import { ask, startTestApp, type TestApp } from "../support/app.ts";
import { rejections, TestClient } from "../support/test-client.ts";

const window = 40_000;
const windows = [{ pattern: /./, tokens: window }];
const page = (n: number): string => `page ${n}: ${`shelf ${n} holds books, `.repeat(1_100)}`;

let upstream: StrictUpstream;
let app: TestApp;
let folder: string;
const notices: NoticeEvent[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "aperture-raw-"));
  upstream = await startStrictUpstream({
    windowTokens: window,
    model: () => ({ content: [{ type: "text", text: "Read." }] }),
  });
  app = await start(folder);
});
afterEach(async () => {
  await app.remove();
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(dataDir: string): Promise<TestApp> {
  const patient = { deadlineMs: 20_000, limits: { planMs: 30_000 } };
  const started = await startTestApp(upstream.url, { mode: "auto", windows, dataDir, ...patient });
  started.engine.watch((event) => {
    if (event.type === "notice") notices.push(event);
  });
  return started;
}

async function archive(target: string): Promise<void> {
  const headers = { authorization: `Bearer ${app.token}`, "content-type": "application/json" };
  const body = JSON.stringify({ command: { verb: "archive", target, reason: "read" } });
  const answer = await ask(`${app.url}/api/v1/sessions/last/ops`, { method: "POST", headers, body });
  expect([answer.status, answer.status === 200 ? "" : answer.body.toString()]).toEqual([200, ""]);
}

const headers = { "x-aperture-session": "long" };
const models = ["claude-opus-4-6", "claude-opus-4-8"];

/** The same conversation with another model. Its cache is empty, so archived blocks are pruned at once. */
function withModel(talker: TestClient, model: string | undefined): TestClient {
  const other = new TestClient({ session: talker.session, bulk: 0, headers, ...(model ? { model } : {}) });
  other.messages = talker.messages;
  return other;
}

/** Reads ten pages, of which the window holds six, and archives those it has read. */
async function readAll(): Promise<TestClient> {
  let talker = new TestClient({ bulk: 0, headers });
  for (let n = 1; n <= 10; n += 1) {
    if (n % 2 === 1) talker = withModel(talker, models[(n >> 1) % 2]);
    expect((await talker.turn(app.url, page(n))).status).toBe(200);
    await app.recorded();
    if (n % 2 === 0) await archive(`1..${n * 4}`);
  }
  return talker;
}

it("passes on the provider's error if its record is lost, and fits again once it is back", async () => {
  const talker = withModel(await readAll(), models[0]);
  expect(notices.map(({ code }) => code)).toContain("AP_RAW_FULL");
  expect(rejections(upstream.exchanges)).toEqual([]);
  await app.close();
  const [database, copy] = [join(folder, "aperture.db"), join(folder, "copy.db")];
  copyFileSync(database, copy);
  writeFileSync(database, "this is no database");
  app = await start(folder);
  const lost = await talker.turn(app.url, "What did you read?");
  expect([lost.status, lost.body.toString()]).toEqual([400, expect.stringContaining("prompt is too long")]);
  const body = upstream.exchanges.at(-1)?.body.toString() ?? "";
  for (let n = 1; n <= 10; n += 1) expect(body).toContain(page(n));
  await app.close();
  copyFileSync(copy, database);
  app = await start(folder);
  expect((await talker.turn(app.url, "What did you read?")).status).toBe(200);
  expect(upstream.exchanges.at(-1)?.body.toString()).not.toContain(page(1));
}, 120_000);

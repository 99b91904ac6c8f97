// If storage fails, recording stops, but every request is answered.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type StrictUpstream, startStrictUpstream } from "../../src/testing/index.ts";
import { ask, jsonIn, modelHeaders, type Starting, startTestApp, type TestApp } from "../support/app.ts";

const count = process.env["APERTURE_TEST_LONG"] === "1" ? 10_000 : 1_000;
let upstream: StrictUpstream;
let app: TestApp;

afterEach(async () => {
  await app.remove();
  await upstream.close();
});

/** The ways in which the data folder can be unusable. */
const failures: readonly (readonly [string, () => Starting])[] = [
  ["a full disk", () => ({ faults: { maxPages: 16 } })],
  [
    "a folder where the file should be",
    () => {
      const dataDir = mkdtempSync(join(tmpdir(), "aperture-dead-"));
      mkdirSync(join(dataDir, "aperture.db"));
      return { dataDir };
    },
  ],
  [
    "a file where the folder should be",
    () => {
      const folder = mkdtempSync(join(tmpdir(), "aperture-dead-"));
      writeFileSync(join(folder, "data"), "");
      return { dataDir: join(folder, "data") };
    },
  ],
];

describe.each(failures)("with %s", (_name, starting) => {
  it(`answers ${count} of ${count} requests, and reports that it does not record`, {
    timeout: 120_000,
  }, async () => {
    upstream = await startStrictUpstream({ bodiesKept: 10 });
    app = await startTestApp(upstream.url, starting());
    const text = "say hello\n".concat("filler ".repeat(400));
    const body = JSON.stringify({
      model: "claude-opus-4-8",
      max_tokens: 9,
      messages: [{ role: "user", content: text }],
      stream: true,
    });
    let answered = 0;
    for (let sent = 0; sent < count; sent += 50) {
      const batch = Array.from({ length: 50 }, (_, n) => {
        const headers = { ...modelHeaders, "x-claude-code-session-id": `s-${n}` };
        return ask(`${app.url}/v1/messages`, { headers, body });
      });
      const answers = await Promise.all(batch);
      answered += answers.filter((answer) => answer.status === 200 && answer.isWhole).length;
    }
    expect(answered).toBe(count);
    // Recording has the lowest priority: it may notice late, but never delays an answer.
    const storage = async () => jsonIn<{ storage: string }>(await ask(`${app.url}/readyz`)).storage;
    await expect.poll(storage, { timeout: 20_000 }).toBe("degraded");
    expect((await ask(`${app.url}/readyz`)).status).toBe(200);
  });
});

it("keeps relaying when the folder becomes unreadable", { timeout: 60_000 }, async () => {
  upstream = await startStrictUpstream();
  const dataDir = mkdtempSync(join(tmpdir(), "aperture-gone-"));
  app = await startTestApp(upstream.url, { dataDir });
  const body = JSON.stringify({
    model: "claude-opus-4-8",
    max_tokens: 9,
    messages: [{ role: "user", content: "say hello" }],
  });
  const one = () => ask(`${app.url}/v1/messages`, { headers: modelHeaders, body });
  expect((await one()).status).toBe(200);
  rmSync(dataDir, { recursive: true });
  for (let n = 0; n < 50; n += 1) expect((await one()).status).toBe(200);
  mkdirSync(dataDir, { recursive: true });
  chmodSync(dataDir, 0o700);
});

it("keeps relaying while the engine's thread dies, and records again afterwards", {
  timeout: 60_000,
}, async () => {
  upstream = await startStrictUpstream();
  app = await startTestApp(upstream.url, { faults: { dieAfter: 5 } });
  const body = JSON.stringify({
    model: "claude-opus-4-8",
    max_tokens: 9,
    messages: [{ role: "user", content: "say hello" }],
  });
  let n = 0;
  const send = async (): Promise<void> => {
    n += 1;
    const headers = { ...modelHeaders, "x-claude-code-session-id": `s-${n}` };
    expect((await ask(`${app.url}/v1/messages`, { headers, body })).status).toBe(200);
  };
  const sessions = async (): Promise<number> => {
    const answer = await app.api("/sessions?limit=100");
    return answer.status === 200 ? jsonIn<{ rows: readonly unknown[] }>(answer).rows.length : 0;
  };
  while (app.engine.status().replaced === 0) await send();
  expect(app.notes.some((line) => line.includes("The engine is not running"))).toBe(true);
  expect(app.engine.status().counts.gaps).toBeGreaterThan(0);
  // Each thread dies after five requests, so more than five were recorded by more than one thread.
  while ((await sessions()) <= 5) await send();
});

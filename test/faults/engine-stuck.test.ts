// A stuck engine costs some of the record, but no answer, and it is replaced soon.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { unwrap } from "../../src/base/index.ts";
import type { EngineEvent } from "../../src/log/index.ts";
import { openSqliteStore } from "../../src/store/index.ts";
import { type StrictUpstream, startStrictUpstream } from "../../src/testing/index.ts";
import { ask, jsonIn, modelHeaders, type Starting, startTestApp, type TestApp } from "../support/app.ts";
import { startChild } from "../support/child.ts";
import { isLong } from "../support/runs.ts";

let upstream: StrictUpstream;
let app: TestApp;

beforeEach(async () => {
  upstream = await startStrictUpstream();
});
afterEach(async () => {
  await app.remove();
  await upstream.close();
});

async function start(faults: NonNullable<Starting["faults"]>): Promise<void> {
  app = await startTestApp(upstream.url, { faults });
}

async function send(session: string): Promise<number> {
  const headers = { ...modelHeaders, "x-claude-code-session-id": session };
  const message = { role: "user", content: "say hello" };
  const body = JSON.stringify({ model: "claude-opus-4-8", max_tokens: 9, messages: [message] });
  const answer = await ask(`${app.url}/v1/messages`, { headers, body });
  return answer.isWhole ? answer.status : 0;
}

/** 0 while the engine restarts. */
async function sessionCount(): Promise<number> {
  const answer = await app.api("/sessions?limit=1000");
  if (answer.status !== 200) return 0;
  return jsonIn<{ rows: readonly unknown[] }>(answer).rows.length;
}

async function expectWholeStore(): Promise<void> {
  await app.close();
  const store = openSqliteStore({ path: join(app.dataDir, "aperture.db") });
  const report = unwrap(await store.verify("all"));
  expect(report.damage).toEqual([]);
  expect(report.frames).toBeGreaterThan(0);
  await store.close();
}

describe("an engine that is stuck", () => {
  it("is replaced with a notice, and recording resumes; no request fails", async () => {
    await start({ stickAfter: 4, stuckMs: 400 });
    const events: EngineEvent[] = [];
    app.engine.watch((event) => events.push(event));
    let sent = 0;
    for (; app.engine.status().replaced < 2; sent += 1) {
      expect(await send(`s-${sent}`)).toBe(200);
      await sleep(40);
    }
    const before = await sessionsAtLeast(1);
    for (let n = 0; n < 3; n += 1) expect(await send(`after-${n}`)).toBe(200);
    expect(await sessionsAtLeast(before + 1)).toBeGreaterThan(before);

    const { counts, replaced } = app.engine.status();
    expect(counts.gaps).toBeGreaterThan(0);
    expect(counts.gaps).toBeLessThan(sent + 3);
    expect(replaced).toBeGreaterThanOrEqual(2);
    const notices = events.filter((event) => event.type === "notice");
    expect(notices[0]).toMatchObject({ code: "AP_ENGINE_DOWN", session: null });
    expect(notices[0]).toMatchObject({ message: expect.stringContaining("stuck for 0.4 s") });
    expect(app.notes.some((line) => line.includes("stuck for 0.4 s"))).toBe(true);
    await expectWholeStore();
  });

  it("blocks neither questions nor the end of the process", async () => {
    await start({ stickAfter: 1, stuckMs: 500 });
    expect(await send("s")).toBe(200);
    const question = { type: "sessions", limit: 1 } as const;
    let answer = await app.engine.ask(question);
    while (answer.ok) answer = await app.engine.ask(question);
    expect(answer.error.code).toBe("AP_ENGINE_DOWN");
    await expect.poll(() => app.engine.status().replaced).toBe(1);
    await expect.poll(async () => (await app.api("/sessions")).status).toBe(200);
    expect(await send("t")).toBe(200);
    await expectWholeStore();
  });
});

/** Waits until at least this many sessions are recorded, and returns their number. */
async function sessionsAtLeast(count: number): Promise<number> {
  await expect.poll(sessionCount).toBeGreaterThanOrEqual(count);
  return sessionCount();
}

it("replacing many engines under load never ends the process", async () => {
  await start({});
  const replacements = isLong ? 20 : 4;
  const child = startChild("test/faults/stuck-child.mjs", [upstream.url, String(replacements)]);
  const { code, signal, stderr } = await child.ended;
  expect({ code, signal, stderr }).toEqual({ code: 0, signal: null, stderr: "" });
  const { replaced, failed, damage, frames } = JSON.parse(child.lines.at(-1) ?? "{}");
  expect({ failed, damage }).toEqual({ failed: 0, damage: [] });
  expect(replaced).toBeGreaterThanOrEqual(replacements);
  expect(frames).toBeGreaterThan(replacements);
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { must } from "../../src/base/index.ts";
import { type StrictUpstream, startStrictUpstream } from "../../src/testing/index.ts";
import { ask, jsonIn, modelHeaders } from "../support/app.ts";
import { type Child, startNode } from "../support/child.ts";
import { isLong } from "../support/runs.ts";

const kills = isLong ? 4 : 2;
const folder = mkdtempSync(join(tmpdir(), "aperture-killed-"));
let upstream: StrictUpstream;

beforeAll(async () => {
  upstream = await startStrictUpstream({
    pace: { chunkMs: 200 },
    model: () => ({ content: [{ type: "text", text: "one word after the other ".repeat(60) }] }),
  });
});
afterAll(async () => {
  await upstream.close();
  rmSync(folder, { recursive: true });
});

type Started = { readonly child: Child; readonly url: string; readonly token: string };

async function start(): Promise<Started> {
  const child = startNode(["test/faults/app-child.mjs", upstream.url, folder], "pipe");
  const line = must(await child.said(() => true), "it has started");
  return { child, ...JSON.parse(line) };
}

/** The outcomes of the requests of the newest session. */
async function outcomes({ url, token }: Started): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await ask(`${url}/api/v1/sessions/last/requests`, { headers });
  if (answer.status !== 200) return [];
  const { rows } = jsonIn<{ rows: readonly { outcome: string }[] }>(answer);
  return rows.map(({ outcome }) => outcome);
}

test(`a kill breaks the connection, and the next process marks it interrupted: ${kills} times`, async () => {
  let running = await start();
  for (let n = 0; n < kills; n += 1) {
    const headers = { ...modelHeaders, "x-claude-code-session-id": `s-${n}` };
    const message = { role: "user", content: "say something" };
    const request = { model: "claude-opus-4-8", max_tokens: 900, stream: true, messages: [message] };
    const answer = ask(`${running.url}/v1/messages`, { headers, body: JSON.stringify(request) });
    await expect.poll(() => outcomes(running)).toEqual(["open"]);
    await sleep(n * 150);
    running.child.process.kill("SIGKILL");
    await running.child.ended;
    expect(await answer).toMatchObject({ status: 200, isWhole: false });
    running = await start();
    await expect.poll(() => outcomes(running)).toEqual(["interrupted"]);
  }
  running.child.process.stdin?.end();
  expect((await running.child.ended).code).toBe(0);
});

// While an engine is stuck or replaced, answers arrive as fast as before.
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ask, modelHeaders, type Starting, startTestApp, type TestApp } from "../support/app.ts";
import { isLong } from "../support/runs.ts";
import { TestClient } from "../support/test-client.ts";

const lanes = 4;
const deltas = isLong ? 400 : 150;
const everyMs = 10;
const rounds = isLong ? 4 : 2;

let upstream: Server;
let url: string;
beforeAll(async () => {
  upstream = createServer((request, response) => {
    request.resume();
    const isSmall = Number(request.headers["content-length"]) < 1_000;
    request.once("end", () => void (isSmall ? response.end("{}") : answer(response)));
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  // A server that listens on a TCP port has an address with that port.
  url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => upstream.close(resolve)));

/** Each delta contains the time when it was sent. */
async function answer(response: ServerResponse): Promise<void> {
  const write = (event: { readonly type: string; readonly [field: string]: unknown }): boolean =>
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], usage };
  write({ type: "message_start", message });
  write({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
  for (let n = 0; n < deltas; n += 1) {
    await sleep(everyMs);
    const text = `<${performance.now()}>`;
    write({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
  }
  write({ type: "content_block_stop", index: 0 });
  write({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage });
  write({ type: "message_stop" });
  response.end();
}

/** The delays of the deltas of one answer. */
async function delaysOf(app: TestApp): Promise<readonly number[]> {
  const talker = new TestClient();
  const named = { "x-claude-code-session-id": talker.session ?? "" };
  const body = talker.body([talker.next("go on")]);
  const got = await fetch(`${app.url}/v1/messages`, {
    method: "POST",
    headers: { ...modelHeaders, ...named },
    body: new Uint8Array(body),
  });
  const delays: number[] = [];
  for await (const chunk of got.body ?? []) {
    const now = performance.now();
    const left = Buffer.from(chunk)
      .toString()
      .matchAll(/<([\d.]+)>/g);
    for (const [, at] of left) delays.push(now - Number(at));
  }
  return delays;
}

/** Sends small requests meanwhile, each of which is work for the engine. */
async function sendSmallRequests(app: TestApp, isOver: () => boolean): Promise<void> {
  for (let n = 0; !isOver(); n += 1) {
    const headers = { ...modelHeaders, "x-claude-code-session-id": `small-${n}` };
    await ask(`${app.url}/v1/messages`, { headers, body: '{"messages":[]}' });
    await sleep(100);
  }
}

async function measure(faults: NonNullable<Starting["faults"]>) {
  const app = await startTestApp(url, { mode: "auto", faults });
  // A thread that has not reported yet is given more time than this test has.
  await app.api("/sessions");
  let isOver = false;
  const small = sendSmallRequests(app, () => isOver);
  const delays = (await Promise.all(Array.from({ length: lanes }, () => delaysOf(app)))).flat();
  isOver = true;
  await small;
  const { replaced } = app.engine.status();
  await app.remove();
  return { delays, replaced };
}

function p99(delays: readonly number[]): number {
  return [...delays].sort((a, b) => a - b)[Math.floor(delays.length * 0.99)] ?? Number.NaN;
}

it("an engine that is stuck or replaced does not delay answers", { timeout: 180_000 }, async () => {
  const healthy: number[] = [];
  const stuck: number[] = [];
  let replaced = 0;
  for (let round = 0; round < rounds; round += 1) {
    healthy.push(...(await measure({})).delays);
    const faulty = await measure({ stickAfter: 3, stuckMs: 300 });
    stuck.push(...faulty.delays);
    replaced += faulty.replaced;
  }
  const [before, during] = [p99(healthy), p99(stuck)];
  console.log(
    `p99 of ${healthy.length} deltas: ${before.toFixed(2)} ms before, ${during.toFixed(2)} ms while ` +
      `${replaced} engines were stuck and replaced: ${(during / before).toFixed(2)}x`,
  );
  expect(replaced).toBeGreaterThanOrEqual(rounds);
  expect([healthy.length, stuck.length]).toEqual([0, 0].map(() => rounds * lanes * deltas));
  // A relay that waited for the engine would be late by the time the engine is stuck.
  expect(during).toBeLessThan(Math.max(4 * before, 100));
});

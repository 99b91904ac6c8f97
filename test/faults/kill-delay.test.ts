// While an engine is stuck, or another takes its place, answers of living sessions arrive as before.
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ask, modelHeaders, type Starting, startTestApp, type TestApp } from "../support/app.ts";
import { isLong } from "../support/runs.ts";
import { Talker } from "../support/talker.ts";

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

/** Each delta says when it left. */
async function answer(response: ServerResponse): Promise<void> {
  const say = (event: { readonly type: string; readonly [field: string]: unknown }): boolean =>
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], usage };
  say({ type: "message_start", message });
  say({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
  for (let n = 0; n < deltas; n += 1) {
    await sleep(everyMs);
    const text = `<${performance.now()}>`;
    say({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
  }
  say({ type: "content_block_stop", index: 0 });
  say({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage });
  say({ type: "message_stop" });
  response.end();
}

/** One answer, and how long each of its deltas was on its way. */
async function delaysOf(app: TestApp): Promise<readonly number[]> {
  const talker = new Talker();
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

/** Small requests beside the talk: each of them is work for the engine. */
async function busy(app: TestApp, isOver: () => boolean): Promise<void> {
  for (let n = 0; !isOver(); n += 1) {
    const headers = { ...modelHeaders, "x-claude-code-session-id": `small-${n}` };
    await ask(`${app.url}/v1/messages`, { headers, body: '{"messages":[]}' });
    await sleep(100);
  }
}

async function measure(faults: NonNullable<Starting["faults"]>) {
  const app = await startTestApp(url, { mode: "auto", faults });
  // A thread that has never been heard of is given more time than this test has.
  await app.api("/sessions");
  let isOver = false;
  const small = busy(app, () => isOver);
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

it("an engine that is stuck or replaced delays nobody's deltas", { timeout: 180_000 }, async () => {
  const well: number[] = [];
  const stuck: number[] = [];
  let replaced = 0;
  for (let round = 0; round < rounds; round += 1) {
    well.push(...(await measure({})).delays);
    const faulty = await measure({ stickAfter: 3, stuckMs: 300 });
    stuck.push(...faulty.delays);
    replaced += faulty.replaced;
  }
  const [before, during] = [p99(well), p99(stuck)];
  console.log(
    `p99 of ${well.length} deltas: ${before.toFixed(2)} ms before, ${during.toFixed(2)} ms while ` +
      `${replaced} engines were stuck and replaced: ${(during / before).toFixed(2)}x`,
  );
  expect(replaced).toBeGreaterThanOrEqual(rounds);
  expect([well.length, stuck.length]).toEqual([0, 0].map(() => rounds * lanes * deltas));
  // A thread that waits for a stuck one would be late by as much as that is stuck.
  expect(during).toBeLessThan(Math.max(4 * before, 100));
});

// While an engine is stuck or replaced, answers reach their clients: the relay does not wait for it.
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ask, modelHeaders, startTestApp, type TestApp } from "../support/app.ts";
import { isLong } from "../support/runs.ts";
import { TestClient } from "../support/test-client.ts";

const lanes = 4;
const replacements = isLong ? 8 : 2;

/** The answers in progress. Each sends its next delta when its client has the one before. */
const answers = new Map<string, () => void>();
let isOver = false;
let upstream: Server;
let url: string;
beforeAll(async () => {
  upstream = createServer((request, response) => {
    request.resume();
    const lane = request.headers["x-lane"];
    const isSmall = typeof lane !== "string";
    request.once("end", () => void (isSmall ? response.end("{}") : answer(response, lane)));
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  // A server that listens on a TCP port has an address with that port.
  url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => upstream.close(resolve)));

async function answer(response: ServerResponse, lane: string): Promise<void> {
  const write = (event: { readonly type: string; readonly [field: string]: unknown }): boolean =>
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], usage };
  write({ type: "message_start", message });
  write({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
  for (let n = 0; !isOver; n += 1) {
    const received = new Promise<void>((resolve) => answers.set(lane, resolve));
    write({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: `<${n}>` } });
    await received;
  }
  write({ type: "content_block_stop", index: 0 });
  write({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage });
  write({ type: "message_stop" });
  response.end();
}

type Lane = { deltas: number; text: string; readonly ended: Promise<void> };

/** A client that reads one answer. */
function startLane(app: TestApp, name: string): Lane {
  const client = new TestClient();
  const read = async (): Promise<void> => {
    const got = await fetch(`${app.url}/v1/messages`, {
      method: "POST",
      headers: { ...modelHeaders, "x-claude-code-session-id": client.session ?? "", "x-lane": name },
      body: new Uint8Array(client.body([client.next("go on")])),
    });
    for await (const chunk of got.body ?? []) {
      lane.text += Buffer.from(chunk).toString();
      const deltas = lane.text.match(/<\d+>/g)?.length ?? 0;
      if (deltas === lane.deltas) continue;
      lane.deltas = deltas;
      // Lets other work through between two deltas.
      await new Promise((resume) => setTimeout(resume, 1));
      answers.get(name)?.();
    }
  };
  const lane: Lane = { deltas: 0, text: "", ended: Promise.resolve() };
  return Object.assign(lane, { ended: read() });
}

it("answers arrive while an engine is stuck and replaced", async () => {
  const app = await startTestApp(url, { mode: "auto", faults: { stickAfter: 3, stuckMs: 300 } });
  const running = Array.from({ length: lanes }, (_, n) => startLane(app, `lane-${n}`));
  const counts = (): readonly number[] => running.map(({ deltas }) => deltas);
  await expect.poll(() => Math.min(...counts())).toBeGreaterThan(0);
  let stuck = 0;
  for (let n = 0; stuck < replacements; n += 1) {
    const headers = { ...modelHeaders, "x-claude-code-session-id": `small-${n}` };
    expect((await ask(`${app.url}/v1/messages`, { headers, body: '{"messages":[]}' })).status).toBe(200);
    const before = counts();
    const asked = app.engine.status().replaced;
    const question = await app.engine.ask({ type: "sessions", limit: 1 });
    // An engine that has the question and is replaced was stuck all the time between.
    if (question.ok || app.engine.status().replaced === asked) continue;
    stuck += 1;
    const arrived = counts().map((deltas, at) => deltas - (before[at] ?? 0));
    expect(Math.min(...arrived), `deltas while it was stuck: ${arrived}`).toBeGreaterThan(0);
  }
  isOver = true;
  await Promise.all(running.map(({ ended }) => ended));
  for (const { text, deltas } of running) {
    expect(text).toContain("message_stop");
    expect(text).toContain(`<${deltas - 1}>`);
  }
  await app.remove();
});

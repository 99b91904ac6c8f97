import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import { say, script } from "./model-reply.ts";
import { type StrictUpstream, type StrictUpstreamOptions, startStrictUpstream } from "./strict-upstream.ts";
import { internalError, overloaded, rateLimited, tooLarge, type UpstreamFault } from "./upstream-faults.ts";

const open: StrictUpstream[] = [];

async function start(options: StrictUpstreamOptions = {}): Promise<StrictUpstream> {
  const upstream = await startStrictUpstream({ model: () => say("hello wörld"), ...options });
  open.push(upstream);
  return upstream;
}

afterEach(async () => {
  for (const upstream of open.splice(0)) await upstream.close();
});

const headers = { "x-api-key": "sk-secret", "anthropic-version": "2023-06-01" };
const body = { model: "claude-opus-5-5", max_tokens: 100, messages: [{ role: "user", content: "hi" }] };

function post(upstream: StrictUpstream, fields: object = {}, init: RequestInit = {}): Promise<Response> {
  const target = `${upstream.url}/v1/messages?beta=true`;
  return fetch(target, { method: "POST", headers, body: JSON.stringify({ ...body, ...fields }), ...init });
}

const stream = { stream: true };

test("answers in one piece, and records the exchange byte for byte", async () => {
  const upstream = await start();
  const response = await post(upstream, { safeguards: 1 });
  const text = await response.text();
  expect(JSON.parse(text)).toMatchObject({ type: "message", content: [{ text: "hello wörld" }] });
  expect(response.headers.get("request-id")).toMatch(/^req_/);
  const [exchange] = upstream.exchanges;
  expect(exchange).toMatchObject({
    n: 1,
    method: "POST",
    target: "/v1/messages?beta=true",
    status: 200,
    error: null,
    closed: "answered",
    unknownFields: ["safeguards"],
    usage: { cache_read_input_tokens: 0 },
  });
  expect(exchange?.body.toString()).toBe(JSON.stringify({ ...body, safeguards: 1 }));
  expect(exchange?.sent.toString()).toBe(text);
  expect(exchange?.rawHeaders).toContain("sk-secret");
});

test("streams wire events", async () => {
  const upstream = await start();
  const response = await post(upstream, stream);
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const text = await response.text();
  expect(text.startsWith("event: message_start\ndata: ")).toBe(true);
  expect(text.endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')).toBe(true);
  expect(upstream.exchanges[0]?.sent.toString()).toBe(text);
});

test("has routes for counting, models and hello, and no others", async () => {
  const upstream = await start();
  const { max_tokens: _, ...counted } = body;
  const count = await fetch(`${upstream.url}/v1/messages/count_tokens`, {
    method: "POST",
    headers,
    body: JSON.stringify(counted),
  });
  expect(await count.json()).toEqual({ input_tokens: expect.any(Number) as number });
  const models = await fetch(`${upstream.url}/v1/models`, { headers });
  expect(await models.json()).toMatchObject({
    data: expect.arrayContaining([]) as unknown[],
    has_more: false,
  });
  expect((await fetch(`${upstream.url}/api/hello`, { method: "HEAD" })).status).toBe(200);
  expect((await fetch(`${upstream.url}/v1/other`, { headers })).status).toBe(404);
});

test("refuses wrong credentials, versions, betas, models and bodies, with the reason", async () => {
  const upstream = await start({ keys: ["sk-secret"] });
  const refusal = async (init: RequestInit, fields = {}) => {
    const response = await post(upstream, fields, init);
    const { error, type, request_id } = (await response.json()) as Record<
      string,
      { type: string; message: string }
    >;
    expect(type).toBe("error");
    expect(request_id).toBe(response.headers.get("request-id"));
    return `${response.status} ${error?.type} ${error?.message}`;
  };
  const version = { "anthropic-version": "2023-06-01" };
  expect(await refusal({ headers: version })).toMatch(/^401 authentication_error/);
  expect(await refusal({ headers: { ...version, "x-api-key": "other" } })).toMatch(/^401/);
  expect(await refusal({ headers: { "x-api-key": "sk-secret" } })).toMatch(/^400 .* anthropic-version/);
  expect(await refusal({ headers: { ...headers, "anthropic-version": "1999" } })).toMatch(/^400/);
  expect(await refusal({ headers: { ...headers, "anthropic-beta": "mine-2026-01-01" } })).toMatch(
    /`mine-2026/,
  );
  expect(await refusal({}, { model: "gpt-6" })).toMatch(/^404 not_found_error/);
  expect(await refusal({ body: "{" })).toMatch(/^400 invalid_request_error body/);
  const bearer = { ...version, authorization: "Bearer sk-secret" };
  expect((await post(upstream, {}, { headers: bearer })).status).toBe(200);
  expect(upstream.exchanges[0]?.error).toMatchObject({ type: "authentication_error" });
});

test("a script answers in order, and fails when it has run out", async () => {
  const upstream = await start({ model: script([say("one"), say("two")]) });
  expect(await (await post(upstream)).text()).toContain("one");
  expect(await (await post(upstream)).text()).toContain("two");
  const third = await post(upstream);
  expect(third.status).toBe(500);
  expect(await third.text()).toContain("the script has 2 replies");
});

test("a long prompt is too long, and a large body too large", async () => {
  const upstream = await start({ bodyBytesMax: 1_000_000 });
  const long = { model: "claude-haiku-4-5", messages: [{ role: "user", content: "x".repeat(900_000) }] };
  expect(await (await post(upstream, long)).text()).toContain("prompt is too long: 2250");
  const large = { messages: [{ role: "user", content: "x".repeat(1_100_000) }] };
  expect((await post(upstream, large)).status).toBe(413);
});

test("a small window is full early, with the error text of the real API", async () => {
  const upstream = await start({ windowTokens: 1_000 });
  const ask = async (chars: number): Promise<unknown> => {
    const messages = [{ role: "user", content: "x".repeat(chars) }];
    const response = await post(upstream, { model: "claude-opus-5-5", messages });
    return response.status === 200 ? 200 : [response.status, await response.json()];
  };
  expect(await ask(3_900)).toBe(200);
  const message = expect.stringMatching(/^prompt is too long: 1\d{3} tokens > 1000 maximum$/);
  expect(await ask(4_100)).toEqual([
    400,
    expect.objectContaining({ type: "error", error: { type: "invalid_request_error", message } }),
  ]);
});

test("compresses event by event if the client accepts it", async () => {
  const upstream = await start({ compress: true });
  const response = await post(upstream, stream);
  expect(response.headers.get("content-encoding")).toBe("gzip");
  expect(await response.text()).toContain("message_stop");
  expect(upstream.exchanges[0]?.sent.subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
  const plain = await post(upstream, {}, { headers: { ...headers, "accept-encoding": "identity" } });
  expect(plain.headers.get("content-encoding")).toBeNull();
});

test("keeps only as many of the latest bodies as bodiesKept says", async () => {
  const upstream = await start({ bodiesKept: 1 });
  for (const _ of [1, 2]) await (await post(upstream)).text();
  expect(upstream.exchanges.map((exchange) => exchange.body.length > 0)).toEqual([false, true]);
});

/** The chunks of a body as they arrive, and the way it ended. */
function chunksOf(upstream: StrictUpstream): Promise<{ readonly chunks: string[]; readonly end: string }> {
  return new Promise((resolve) => {
    const chunks: string[] = [];
    const sent = httpRequest(`${upstream.url}/v1/messages`, { method: "POST", headers }, (response) => {
      response.on("data", (chunk: Buffer) => chunks.push(chunk.toString("latin1")));
      response.on("end", () => resolve({ chunks, end: "end" }));
      response.on("error", () => undefined);
    });
    sent.on("error", () => undefined);
    sent.on("close", () => resolve({ chunks, end: chunks.length > 0 ? "broken" : "no answer" }));
    sent.end(JSON.stringify({ ...body, stream: true }));
  });
}

test("bytes arrive in pieces of the configured size", async () => {
  const upstream = await start({ split: 7 });
  const { chunks } = await chunksOf(upstream);
  expect(chunks.slice(0, -1).every((chunk) => chunk.length === 7)).toBe(true);
  const single = await start({ split: 1 });
  const pieces = await chunksOf(single);
  expect(pieces.chunks.length).toBe(single.exchanges[0]?.sent.length);
});

describe("faults", () => {
  test.each<[UpstreamFault, number, string]>([
    [rateLimited(3), 429, "rate_limit_error"],
    [overloaded(), 529, "overloaded_error"],
    [internalError(), 500, "api_error"],
    [tooLarge(), 413, "request_too_large"],
    [{ type: "echo-credential" }, 401, "sk-secret"],
    [{ type: "headers", headers: { "content-type": "text/html" } }, 200, "message_stop"],
    [{ type: "early-hints" }, 200, "message_stop"],
    [{ type: "slow-head", ms: 5 }, 200, "message_stop"],
    [{ type: "slow-events", ms: 1 }, 200, "message_stop"],
    [{ type: "huge-event", events: 1, bytes: 300_000 }, 200, "message_stop"],
    [{ type: "error-event", events: 3, errorType: "api_error", message: "m" }, 200, "event: error"],
  ])("%o is answered", async (fault, status, text) => {
    const upstream = await start({ fault: () => fault });
    const response = await post(upstream, stream);
    expect(response.status).toBe(status);
    expect(await response.text()).toContain(text);
    if (status === 429) expect(response.headers.get("retry-after")).toBe("3");
    if (fault.type === "headers") expect(response.headers.get("content-type")).toBe("text/html");
  });

  test.each<[UpstreamFault, string, string]>([
    [{ type: "reset-before-head" }, "no answer", "reset"],
    [{ type: "not-http", text: "hello there\r\n\r\n" }, "no answer", "answered"],
    [{ type: "reset-after-events", events: 2 }, "broken", "reset"],
    [{ type: "reset-after-bytes", bytes: 10 }, "broken", "reset"],
    [{ type: "close-after-events", events: 2 }, "broken", "answered"],
    [{ type: "end-after-events", events: 2 }, "end", "answered"],
    [{ type: "end-after-bytes", bytes: 10 }, "end", "answered"],
    [{ type: "short-body", missing: 3 }, "broken", "answered"],
  ])("%o breaks the answer off", async (fault, end, closed) => {
    const upstream = await start({ fault: () => fault });
    const received = await chunksOf(upstream);
    expect(received.end).toBe(end);
    expect(received.chunks.join("")).toBe(upstream.exchanges[0]?.sent.toString("latin1"));
    await vi.waitFor(() => expect(upstream.exchanges[0]?.closed).toBe(closed));
  });

  test("a script keeps its reply if no part of an answer is sent", async () => {
    const faults: readonly (UpstreamFault | null)[] = [{ type: "reset-before-head" }, overloaded(), null];
    const upstream = await start({ model: script([say("only")]), fault: ({ n }) => faults[n - 1] ?? null });
    await expect(post(upstream)).rejects.toThrow();
    expect((await post(upstream)).status).toBe(529);
    expect(await (await post(upstream)).text()).toContain("only");
  });

  test("a redirect sends the request to another server", async () => {
    const goal = await start();
    const upstream = await start({
      fault: () => ({ type: "redirect", location: `${goal.url}/v1/messages` }),
    });
    expect(await (await post(upstream)).text()).toContain("hello");
    expect(goal.exchanges).toHaveLength(1);
  });

  test("the chooser is called once per request, and only the chosen request fails", async () => {
    const fault = vi.fn((request: { n: number }) => (request.n === 2 ? overloaded() : null));
    const upstream = await start({ fault });
    const statuses: number[] = [];
    for (const _ of [1, 2, 3]) statuses.push((await post(upstream)).status);
    expect(statuses).toEqual([200, 529, 200]);
    expect(fault).toHaveBeenCalledTimes(3);
    expect(fault.mock.calls[0]?.[0]).toMatchObject({ parsed: { model: "claude-opus-5-5" } });
  });

  test.each<UpstreamFault>([
    { type: "hang-before-head" },
    { type: "hang-after-events", events: 1 },
    { type: "pause-after-events", events: 1, ms: 60_000 },
  ])("a client that leaves during %o is noticed", async (fault) => {
    const upstream = await start({ fault: () => fault });
    const controller = new AbortController();
    const answer = post(upstream, stream, { signal: controller.signal }).then((response) => response.text());
    answer.catch(() => undefined);
    await vi.waitFor(() => expect(upstream.exchanges).toHaveLength(1));
    await sleep(20);
    expect(upstream.exchanges[0]?.closed).toBeNull();
    controller.abort();
    await vi.waitFor(() => expect(upstream.exchanges[0]?.closed).toBe("client-left"));
    await expect(answer).rejects.toThrow();
  });

  test("a fault at the head does not wait for the body", async () => {
    const upstream = await start({ faultAtHead: () => tooLarge() });
    const { port } = new URL(upstream.url);
    const socket = connect(Number(port), "127.0.0.1");
    const text = new Promise<string>((resolve) =>
      socket.once("data", (bytes: Buffer) => resolve(bytes.toString())),
    );
    socket.write("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n{");
    expect(await text).toMatch(/^HTTP\/1\.1 413/);
    socket.destroy();
  });

  test("a client that leaves in the middle of its request is noticed", async () => {
    const upstream = await start();
    const socket = connect(Number(new URL(upstream.url).port), "127.0.0.1");
    socket.write("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{");
    await vi.waitFor(() => expect(upstream.exchanges).toHaveLength(1));
    socket.destroy();
    await vi.waitFor(() => expect(upstream.exchanges[0]?.closed).toBe("client-left"));
    expect(upstream.exchanges[0]).toMatchObject({ status: null });
  });
});

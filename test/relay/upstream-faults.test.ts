import type { ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { fakePlanner, managedPlan } from "./fake-planner.ts";
import {
  ignore,
  json,
  pause,
  postJson,
  sendRequest,
  startRelay,
  startSocketUpstream,
  startUpstream,
  type TestRelay,
  type TestUpstream,
  until,
} from "./harness.ts";

let upstream: TestUpstream;
let relay: TestRelay;

afterEach(async () => {
  await relay.proxy.close();
  await upstream.close();
});

const body = Buffer.from('{"a":1}');
const errorOf = (bytes: Buffer): unknown => JSON.parse(bytes.toString());

describe("before an answer", () => {
  test.each([
    ["/v1/messages", { type: "error", error: { type: "api_error", message: expect.any(String) } }],
    ["/v1/chat/completions", { error: { type: "server_error", code: "AP_UPSTREAM_CONNECT" } }],
    ["/v1beta/models/m:generateContent", { error: { code: 502, status: "UNAVAILABLE" } }],
    ["/model/m/invoke", { message: expect.any(String) }],
  ])("a refused connection is an error in the form of %s", async (path, shape) => {
    upstream = await startUpstream((_seen, response) => response.end());
    const closed = await startUpstream((_seen, response) => response.end());
    await closed.close();
    relay = await startRelay(closed.url);
    const got = await postJson(relay.proxy.port, path, body);
    expect(got.status).toBe(502);
    expect(got.headers["content-type"]).toBe("application/json");
    expect(got.headers["x-content-type-options"]).toBe("nosniff");
    expect(errorOf(got.body)).toMatchObject(shape);
    expect(got.body.toString()).toContain("AP_UPSTREAM_CONNECT");
    await until(() => relay.responses.length === 1);
    expect(relay.requests).toMatchObject([{ length: body.length, body: new Uint8Array(body) }]);
    expect(relay.responses).toMatchObject([
      { status: null, outcome: "failed", length: 0, firstByteMs: null },
    ]);
    expect(relay.proxy.metrics()).toMatchObject({ failed: 1, active: 0 });
  });

  test("an unknown name is an error that says so", async () => {
    upstream = await startUpstream((_seen, response) => response.end());
    relay = await startRelay(new URL("http://no-such-host.invalid"));
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect([got.status, got.body.toString()]).toEqual([502, expect.stringContaining("AP_UPSTREAM_DNS")]);
  });

  test("a failed handshake is an error that says so", async () => {
    upstream = await startSocketUpstream((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    relay = await startRelay(new URL(`https://127.0.0.1:${upstream.url.port}`));
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect([got.status, got.body.toString()]).toEqual([502, expect.stringContaining("AP_UPSTREAM_TLS")]);
  });

  test("a reset is an error that says so, and is not retried", async () => {
    upstream = await startSocketUpstream((socket) => socket.once("data", () => socket.resetAndDestroy()));
    relay = await startRelay(upstream.url);
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect([got.status, got.body.toString()]).toEqual([502, expect.stringContaining("AP_UPSTREAM_RESET")]);
    expect(upstream.openedCount()).toBe(1);
  });

  test.each([
    ["not HTTP at all", "hello\r\n\r\n"],
    ["a length given twice", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx"],
    [
      "length and chunks",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["headers without end", `HTTP/1.1 200 OK\r\nX: ${"x".repeat(70_000)}\r\n\r\n`],
    ["another protocol", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhello"],
    ["another protocol that it does not name", "HTTP/1.1 101 Switching\r\n\r\n"],
    ["a control character in its status line", "HTTP/1.1 200 O\x01K\r\nContent-Length: 0\r\n\r\n"],
    ["a delete character in its status line", "HTTP/1.1 200 O\x7fK\r\nContent-Length: 0\r\n\r\n"],
  ])("%s is refused, and the next request is answered", async (_name, text) => {
    upstream = await startSocketUpstream((socket) => socket.once("data", () => socket.write(text)));
    relay = await startRelay(upstream.url);
    for (let round = 1; round <= 2; round += 1) {
      const got = await postJson(relay.proxy.port, "/v1/messages", body);
      expect([got.status, got.message]).toEqual([502, "Bad Gateway"]);
      expect(got.body.toString()).toContain("AP_UPSTREAM_PROTOCOL");
    }
    await until(() => relay.responses.length === 2 && upstream.openCount() === 0);
    expect(relay.responses).toMatchObject([{ outcome: "failed" }, { outcome: "failed" }]);
  });

  test("another protocol is refused if the upstream hangs up, too", async () => {
    const answer = "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n";
    upstream = await startSocketUpstream((socket) => socket.once("data", () => socket.end(answer)));
    relay = await startRelay(upstream.url);
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect([got.status, got.body.toString()]).toEqual([502, expect.stringContaining("AP_UPSTREAM_PROTOCOL")]);
  });

  test("a status line that cannot be written is refused behind an answer that was held", async () => {
    const message = '{"type":"message","content":[]}';
    const head = `HTTP/1.1 200 O\x01K\r\nContent-Type: application/json\r\nContent-Length: ${message.length}`;
    upstream = await startSocketUpstream((socket) =>
      socket.once("data", () => socket.write(`${head}\r\n\r\n${message}`)),
    );
    const planner = fakePlanner({ plan: (meta) => managedPlan(meta, ["{}"], { isOwnTool: () => true }) });
    relay = await startRelay(upstream.url, { planner });
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect([got.status, got.message]).toEqual([502, "Bad Gateway"]);
    await until(() => relay.responses.length === 1);
    expect(relay.responses).toMatchObject([{ outcome: "failed" }]);
  });
});

describe("time", () => {
  test("a handshake that does not finish is given up", async () => {
    const sockets = await startSocketUpstream((socket) => socket.resume());
    upstream = sockets;
    relay = await startRelay(new URL(`https://127.0.0.1:${sockets.url.port}`), {
      limits: { connectMs: 100 },
    });
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect([got.status, got.body.toString()]).toEqual([504, expect.stringContaining("AP_UPSTREAM_SLOW")]);
  });

  test("a silent upstream is given up with an error if its answer has not begun", async () => {
    upstream = await startSocketUpstream((socket) => socket.resume());
    relay = await startRelay(upstream.url, { limits: { idleMs: 200 } });
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect([got.status, got.body.toString()]).toEqual([504, expect.stringContaining("AP_UPSTREAM_SILENT")]);
    await until(() => upstream.openCount() === 0);
  });

  test("a silent upstream is cut off if its answer has begun", async () => {
    upstream = await startUpstream((_seen, response) => response.writeHead(200).write("x"));
    relay = await startRelay(upstream.url, { limits: { idleMs: 200 } });
    await expect(postJson(relay.proxy.port, "/v1/messages", body)).rejects.toThrow();
    await until(() => relay.responses.length === 1);
    expect(relay.responses).toMatchObject([{ outcome: "truncated", status: 200 }]);
  });

  test("a slow upstream is awaited as long as bytes keep coming", async () => {
    upstream = await startUpstream((_seen, response) => {
      response.writeHead(200);
      for (let at = 0; at < 8; at += 1) setTimeout(() => response.write("."), at * 100);
      setTimeout(() => response.end(), 900);
    });
    relay = await startRelay(upstream.url, { limits: { idleMs: 300 } });
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect(got.body.toString()).toBe("........");
  });

  test("the head of an answer does not wait for its body", async () => {
    let held: ServerResponse | null = null;
    upstream = await startUpstream((_seen, response) => {
      held = response;
      response.writeHead(200, { "X-Early": "1" });
      response.flushHeaders();
    });
    relay = await startRelay(upstream.url);
    const got = fetch(`${relay.proxy.url}/v1/models`);
    expect((await got).headers.get("x-early")).toBe("1");
    await until(() => held !== null);
    (held as unknown as ServerResponse).end("late");
    expect(await (await got).text()).toBe("late");
  });
});

describe("a connection that the upstream closed while it was idle", () => {
  test("is replaced, and the request is sent again", async () => {
    let requests = 0;
    upstream = await startSocketUpstream((socket) => {
      let served = 0;
      socket.on("data", (chunk) => {
        requests += 1;
        served += 1;
        // The second request on a connection finds it closed.
        if (served > 1) socket.resetAndDestroy();
        else if (chunk.includes("POST")) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      });
    });
    relay = await startRelay(upstream.url);
    for (let round = 0; round < 10; round += 1) {
      const got = await postJson(relay.proxy.port, "/v1/messages", body);
      expect([got.status, got.body.toString()]).toEqual([200, "ok"]);
    }
    await until(() => relay.responses.length === 10);
    expect(relay.proxy.metrics()).toMatchObject({ retried: 9, failed: 0 });
    expect(requests).toBe(19);
    expect(relay.requests.every(({ length }) => length === body.length)).toBe(true);
  });

  test("is an error if the body is no longer held", async () => {
    upstream = await startSocketUpstream((socket) => {
      let served = 0;
      socket.on("data", () => {
        served += 1;
        if (served > 1) socket.resetAndDestroy();
        else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      });
    });
    relay = await startRelay(upstream.url, { limits: { keptBytesMax: 5 } });
    expect((await postJson(relay.proxy.port, "/v1/messages", body)).status).toBe(200);
    expect((await postJson(relay.proxy.port, "/v1/messages", body)).status).toBe(502);
    await until(() => relay.responses.length === 2);
    expect(relay.requests[0]).toMatchObject({ body: null, length: body.length });
  });

  test("is an error if the upstream may have started to work", async () => {
    upstream = await startSocketUpstream((socket) => {
      let served = 0;
      socket.on("data", () => {
        served += 1;
        if (served > 1) setTimeout(() => socket.resetAndDestroy(), 1_200);
        else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      });
    });
    relay = await startRelay(upstream.url);
    expect((await postJson(relay.proxy.port, "/v1/messages", body)).status).toBe(200);
    expect((await postJson(relay.proxy.port, "/v1/messages", body)).status).toBe(502);
    expect(relay.proxy.metrics().retried).toBe(0);
  });
});

describe("size", () => {
  test("a body with too large a length is refused before it is sent", async () => {
    upstream = await startUpstream((_seen, response) => response.end());
    relay = await startRelay(upstream.url, { limits: { bodyBytesMax: 10 } });
    const got = await postJson(relay.proxy.port, "/v1/messages", Buffer.alloc(11));
    expect(got.status).toBe(413);
    expect(errorOf(got.body)).toMatchObject({ error: { type: "request_too_large" } });
    expect((await postJson(relay.proxy.port, "/v1/messages", Buffer.alloc(10))).status).toBe(200);
    expect(upstream.seen).toHaveLength(1);
  });

  test("a chunked body is refused once it is too large, and never arrives whole", async () => {
    upstream = await startUpstream((_seen, response) => response.end());
    relay = await startRelay(upstream.url, { limits: { bodyBytesMax: 100_000 } });
    const chunks = Array.from({ length: 10 }, () => Buffer.alloc(20_000));
    const headers = ["Content-Type", "application/json", "Transfer-Encoding", "chunked"];
    const got = await sendRequest({ port: relay.proxy.port, headers, body: chunks });
    expect(got.status).toBe(413);
    await pause(50);
    expect(upstream.seen).toEqual([]);
  });

  test("a body that is too large to keep is relayed, and recorded without its bytes", async () => {
    const large = Buffer.alloc(200_000, 1);
    upstream = await startUpstream((seen, response) => response.end(seen.body));
    relay = await startRelay(upstream.url, { limits: { keptBytesMax: 100_000 } });
    expect((await postJson(relay.proxy.port, "/v1/messages", large)).body).toEqual(large);
    await until(() => relay.responses.length === 1);
    expect(relay.requests).toMatchObject([{ body: null, length: large.length }]);
    expect(relay.responses).toMatchObject([{ body: null, length: large.length, outcome: "complete" }]);
  });

  test("large bodies are relayed whole, both ways", async () => {
    const large = Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => (at * 7) % 251));
    upstream = await startUpstream((seen, response) => response.end(seen.body));
    relay = await startRelay(upstream.url);
    const got = await sendRequest({ port: relay.proxy.port, headers: json(large.length), body: large });
    expect(got.body.equals(large)).toBe(true);
    await until(() => relay.responses.length === 1);
    expect(Buffer.from(relay.requests[0]?.body ?? []).equals(large)).toBe(true);
    expect(Buffer.from(relay.responses[0]?.body ?? []).equals(large)).toBe(true);
  });
});

test("a recorder that throws does not affect the client", async () => {
  upstream = await startUpstream((_seen, response) => response.end("fine"));
  const broken = (): never => {
    throw new Error("recorder");
  };
  const recorder = { recordRequest: broken, recordResend: broken, recordResponse: broken };
  relay = await startRelay(upstream.url, { recorder });
  const got = await postJson(relay.proxy.port, "/v1/messages", body);
  expect([got.status, got.body.toString()]).toEqual([200, "fine"]);
  await until(() => relay.proxy.metrics().recorderFaults === 2);
});

test("an own route that throws ends one request, never the process", async () => {
  upstream = await startUpstream((_seen, response) => response.end("fine"));
  relay = await startRelay(upstream.url, {
    handleOwn: () => {
      throw new Error("own");
    },
  });
  const got = await sendRequest({ port: relay.proxy.port, method: "GET", path: "/" });
  expect([got.status, got.body.toString()]).toEqual([500, expect.stringContaining("AP_CONTROL_FAULT")]);
  expect((await postJson(relay.proxy.port, "/v1/messages", body)).status).toBe(200);
});

test("an untrusted certificate is refused", async () => {
  upstream = await startUpstream((_seen, response) => response.end());
  const server = createTlsServer({}, ignore);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  relay = await startRelay(new URL(`https://localhost:${port}`));
  const got = await postJson(relay.proxy.port, "/v1/messages", body);
  server.close();
  expect([got.status, got.body.toString()]).toEqual([502, expect.stringContaining("AP_UPSTREAM_TLS")]);
});

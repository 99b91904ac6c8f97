import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { numRuns } from "../support/runs.ts";
import {
  type AnswerHandler,
  sendBytes,
  sendRequest,
  startRelay,
  startUpstream,
  type TestRelay,
  type TestUpstream,
  until,
} from "./harness.ts";

let upstream: TestUpstream;
let relay: TestRelay;
let answer: AnswerHandler;

beforeAll(async () => {
  upstream = await startUpstream((seen, response) => answer(seen, response));
  relay = await startRelay(upstream.url);
});

afterAll(async () => {
  await relay.proxy.close();
  await upstream.close();
});

beforeEach(() => {
  upstream.seen.length = 0;
  relay.requests.length = 0;
  relay.responses.length = 0;
  answer = (_seen, response) => response.end("ok");
});

const token = fc.stringMatching(/^Q[A-Za-z0-9!#$%&'*+.^_`|~-]{0,15}$/);
const value = fc.stringMatching(/^(?:[!-~\u00a1-\u00ff](?:[ -~\u00a1-\u00ff]{0,30}[!-~\u00a1-\u00ff])?)?$/);
const headers = fc.array(fc.tuple(token, value), { maxLength: 12 }).map((pairs) => pairs.flat());
const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 5_000 }), { maxLength: 4 });
const query = fc.stringMatching(/^(?:\?[!$-;=?-~]{0,40})?$/).filter((text) => !text.includes("\\"));

const requests = fc.record({
  method: fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE"),
  path: fc.constantFrom(
    "/v1/messages",
    "/v1//x//y",
    "/v1/files/%2Fa%20b",
    "/u/mine/z%3F",
    "/openai/v1/a;b=c",
  ),
  query,
  headers,
  chunks,
  chunked: fc.boolean(),
});

const answers = fc.record({
  status: fc.constantFrom(200, 201, 299, 400, 429, 500, 529),
  message: fc.constantFrom("OK", "Überlastet", "", "a b c"),
  headers,
  chunks,
  chunked: fc.boolean(),
});

function framed(parts: readonly Uint8Array[], chunked: boolean): string[] {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return chunked ? ["Transfer-Encoding", "chunked"] : ["Content-Length", String(length)];
}

test("every byte, header and query arrives unchanged, both ways", async () => {
  await fc.assert(
    fc.asyncProperty(requests, answers, async (sent, reply) => {
      const upHeaders = [
        ...sent.headers,
        "Content-type",
        "application/json",
        ...framed(sent.chunks, sent.chunked),
      ];
      const downHeaders = [...reply.headers, ...framed(reply.chunks, reply.chunked)];
      answer = (_seen, response) => {
        response.sendDate = false;
        response.writeHead(reply.status, reply.message, downHeaders);
        for (const chunk of reply.chunks) response.write(chunk);
        response.end();
      };
      upstream.seen.length = 0;
      const path = sent.path + sent.query;
      const got = await sendRequest({
        port: relay.proxy.port,
        method: sent.method,
        path,
        headers: [...upHeaders, "Connection", "close"],
        body: sent.chunks,
      });
      const [seen] = upstream.seen;
      expect(seen?.method).toBe(sent.method);
      expect(seen?.url).toBe(path.replace(/^\/openai/, "").replace(/^\/u\/mine/, "/base"));
      expect(seen?.rawHeaders).toEqual(["Host", upstream.url.host, ...upHeaders, "Connection", "keep-alive"]);
      expect(seen?.body).toEqual(Buffer.concat(sent.chunks));
      expect(got.status).toBe(reply.status);
      expect(got.message).toBe(reply.message);
      expect(got.rawHeaders.slice(0, downHeaders.length)).toEqual(downHeaders);
      expect(got.rawHeaders.slice(downHeaders.length)).toEqual([
        "x-aperture-request-id",
        expect.any(String),
        "Connection",
        "close",
      ]);
      expect(got.body).toEqual(Buffer.concat(reply.chunks));
    }),
    numRuns(150),
  );
});

test("the recorder gets the same bytes", async () => {
  const body = Buffer.from('{"model":"m"}');
  answer = (_seen, response) =>
    response.writeHead(200, { "Content-Type": "text/event-stream" }).end("data: x\n\n");
  const got = await sendRequest({
    port: relay.proxy.port,
    headers: ["content-type", "application/json", "content-length", `${body.length}`],
    body,
  });
  const id = got.headers["x-aperture-request-id"];
  // A copy of an earlier exchange may arrive late: only those with this id count.
  const ours = <C extends { readonly id: string }>(copies: readonly C[]) =>
    copies.filter((copy) => copy.id === id);
  await until(() => ours(relay.responses).length === 1);
  expect(ours(relay.requests)).toEqual([
    expect.objectContaining({
      id,
      protocol: "anthropic",
      upstream: "anthropic",
      method: "POST",
      target: "/v1/messages",
      headers: { "content-type": "application/json" },
      body: new Uint8Array(body),
      length: body.length,
    }),
  ]);
  const reply = ours(relay.responses);
  expect(reply).toEqual([
    expect.objectContaining({
      id,
      status: 200,
      headers: { "content-type": "text/event-stream" },
      body: new Uint8Array(Buffer.from("data: x\n\n")),
      length: 9,
      outcome: "complete",
    }),
  ]);
  expect(reply[0]?.firstByteMs).toBeLessThanOrEqual(reply[0]?.totalMs ?? 0);
});

test("compressed bytes pass unchanged, and so does Accept-Encoding", async () => {
  const packed = gzipSync("hello".repeat(1_000));
  answer = (_seen, response) => response.writeHead(200, { "Content-Encoding": "gzip" }).end(packed);
  const got = await sendRequest({
    port: relay.proxy.port,
    headers: ["Accept-Encoding", "gzip, br;q=0.5"],
    method: "GET",
  });
  expect(got.body).toEqual(packed);
  expect(got.headers["content-encoding"]).toBe("gzip");
  expect(upstream.seen[0]?.rawHeaders).toContain("gzip, br;q=0.5");
});

describe("answers without a body", () => {
  test.each([
    ["HEAD", 200, ["Content-Length", "500"]],
    ["HEAD", 200, ["Transfer-Encoding", "chunked"]],
    ["GET", 204, []],
    ["GET", 304, ["Content-Length", "500", "ETag", '"x"']],
    ["DELETE", 204, []],
  ] as const)("%s and %i with %j", async (...[method, status, given]) => {
    answer = (_seen, response) => {
      response.sendDate = false;
      response.writeHead(status, [...given]);
      response.end();
    };
    const got = await sendRequest({ port: relay.proxy.port, method, path: "/v1/models" });
    expect(got.status).toBe(status);
    expect(got.body.length).toBe(0);
    const kept = given[0] === "Transfer-Encoding" ? [] : given;
    expect(got.rawHeaders.slice(0, kept.length)).toEqual(kept);
  });

  test("requests without a body get no framing", async () => {
    for (const method of ["GET", "HEAD", "DELETE"]) {
      await sendRequest({ port: relay.proxy.port, method, path: "/v1/models" });
    }
    expect(upstream.seen).toHaveLength(3);
    for (const { rawHeaders } of upstream.seen) {
      expect(rawHeaders.join().toLowerCase()).not.toMatch(/content-length|transfer-encoding/);
    }
  });

  test("a POST without a body gets a length of 0", async () => {
    for (const method of ["POST", "PUT", "PATCH"])
      await sendRequest({ port: relay.proxy.port, method, path: "/v1/x" });
    for (const { rawHeaders, body } of upstream.seen) {
      expect(rawHeaders.join()).toContain("Content-Length,0");
      expect(rawHeaders.join()).not.toContain("chunked");
      expect(body.length).toBe(0);
    }
  });

  test("trailers announced with a length are not announced upstream", async () => {
    const headers = ["Content-Type", "application/json", "Trailer", "X-Sum", "Content-Length", "2"];
    const text = `POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1:${relay.proxy.port}\r\n`;
    const lines = [0, 2, 4].map((at) => `${headers[at]}: ${headers[at + 1]}\r\n`).join("");
    const got = await sendBytes(relay.proxy.port, `${text}${lines}Connection: close\r\n\r\n{}`);
    expect(got).toMatch(/^HTTP\/1\.1 200/);
    expect(upstream.seen[0]?.rawHeaders).not.toContain("Trailer");
  });

  test("an empty body stays an empty body", async () => {
    await sendRequest({ port: relay.proxy.port, headers: ["Content-Length", "0"] });
    expect(upstream.seen[0]?.rawHeaders).toEqual(expect.arrayContaining(["Content-Length", "0"]));
  });
});

test.each([301, 302, 307, 308])("a redirect (%i) is passed on, not followed", async (status) => {
  answer = (_seen, response) => response.writeHead(status, { Location: "http://evil.example/x" }).end();
  const got = await sendRequest({
    port: relay.proxy.port,
    headers: ["Content-Length", "0", "X-Api-Key", "k"],
  });
  expect(got.status).toBe(status);
  expect(got.headers.location).toBe("http://evil.example/x");
  expect(upstream.seen).toHaveLength(1);
});

test("trailers pass both ways", async () => {
  answer = (_seen, response) => {
    response.writeHead(200, { Trailer: "X-Sum" });
    response.write("x");
    response.addTrailers([["X-Sum", "7"]]);
    response.end();
  };
  const sent = await askWithTrailers();
  expect(upstream.seen[0]?.rawTrailers).toEqual(["X-Up", "1"]);
  expect(upstream.seen[0]?.body.toString()).toBe("abc");
  expect(sent).toContain("X-Sum: 7\r\n");
  expect(sent).toContain("Trailer: X-Sum\r\n");
});

function askWithTrailers(): Promise<string> {
  const head = `POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1:${relay.proxy.port}\r\nContent-Type: application/json\r\n`;
  const body =
    "Transfer-Encoding: chunked\r\nTrailer: X-Up\r\nConnection: close\r\n\r\n3\r\nabc\r\n0\r\nX-Up: 1\r\n\r\n";
  return sendBytes(relay.proxy.port, head + body);
}

describe("our own headers", () => {
  test("are never passed on, and cannot be faked by an upstream", async () => {
    answer = (_seen, response) => {
      response.setHeader("X-Aperture-Request-Id", "fake");
      response.setHeader("Access-Control-Allow-Origin", "*");
      response.end();
    };
    const ours = ["X-Aperture-Session", "s", "x-aperture-mode", "observe", "X-APERTURE-TOKEN", "t"];
    const got = await sendRequest({ port: relay.proxy.port, headers: [...ours, "Content-Length", "0"] });
    expect(upstream.seen[0]?.rawHeaders.join().toLowerCase()).not.toContain("aperture");
    expect(got.headers["x-aperture-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(got.headers["access-control-allow-origin"]).toBeUndefined();
    // The copy of an earlier test's request may still arrive.
    const copied = () => relay.requests.find(({ headers }) => headers["x-aperture-session"] === "s");
    await until(() => copied() !== undefined);
    expect(copied()?.headers).toEqual({ "x-aperture-session": "s", "x-aperture-mode": "observe" });
  });

  test("do not reveal the proxy to the upstream", async () => {
    await sendRequest({
      port: relay.proxy.port,
      headers: ["Content-Length", "0", "Connection", "keep-alive"],
    });
    expect(upstream.seen[0]?.rawHeaders).toEqual([
      "Host",
      upstream.url.host,
      "Content-Length",
      "0",
      "Connection",
      "keep-alive",
    ]);
  });
});

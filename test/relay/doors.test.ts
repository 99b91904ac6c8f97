// The checks before routing, over real connections. The rules themselves are tested in guard.test.ts.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  json,
  sendBytes,
  sendRequest,
  startRelay,
  startUpstream,
  type TestRelay,
  type TestUpstream,
} from "./harness.ts";

let upstream: TestUpstream;
let relay: TestRelay;
let port: number;

beforeAll(async () => {
  upstream = await startUpstream((_seen, response) => {
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Access-Control-Allow-Credentials", "true");
    response.end("ok");
  });
  relay = await startRelay(upstream.url, { allowedHosts: ["aperture.example:9"] });
  port = relay.proxy.port;
});

afterAll(async () => {
  await relay.proxy.close();
  await upstream.close();
});

beforeEach(() => {
  upstream.seen.length = 0;
});

const paths = [
  "/",
  "/api/v1/sessions",
  "/v1/messages",
  "/openai/v1/chat/completions",
  "/u/mine/x",
  "/nowhere",
];

async function statusOf(path: string, lines: readonly string[], method = "GET"): Promise<string> {
  const head = [`${method} ${path} HTTP/1.1`, ...lines, "Connection: close"].join("\r\n");
  return (await sendBytes(port, `${head}\r\n\r\n`, 2_000)).slice("HTTP/1.1 ".length, "HTTP/1.1 200".length);
}

describe.each(paths)("at %s", (path) => {
  const ours = () => `Host: 127.0.0.1:${port}`;

  test("a foreign Host header is refused", async () => {
    for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1", `127.0.0.1:${port + 1}`, ""]) {
      expect(await statusOf(path, [`Host: ${host}`]), host).toBe("421");
    }
    expect(await statusOf(path, [ours(), "Host: evil.example"])).toBe("421");
    expect(await statusOf(path, [])).toBe("400");
  });

  test("a page of another origin is refused", async () => {
    expect(await statusOf(path, [ours(), "Origin: http://evil.example"])).toBe("403");
    expect(await statusOf(path, [ours(), "Origin: null"])).toBe("403");
    expect(await statusOf(path, [ours(), "Sec-Fetch-Site: cross-site"])).toBe("403");
    expect(await statusOf(path, [ours(), "Sec-Fetch-Site: same-site"])).toBe("403");
    expect(await statusOf(path, [ours(), "Origin: http://evil.example"], "OPTIONS")).toBe("403");
    expect(await statusOf(path, [ours()], "OPTIONS")).toBe("405");
    expect(upstream.seen).toEqual([]);
  });

  test("our own page and our own names are accepted", async () => {
    const expected = path === "/nowhere" ? "404" : "200";
    expect(await statusOf(path, [ours(), `Origin: http://127.0.0.1:${port}`])).toBe(expected);
    expect(await statusOf(path, [ours(), "Sec-Fetch-Site: same-origin"])).toBe(expected);
    expect(await statusOf(path, ["Host: aperture.example:9", "Origin: https://aperture.example:9"])).toBe(
      expected,
    );
  });

  test("an answer has no CORS headers", async () => {
    for (const method of ["GET", "POST", "OPTIONS", "HEAD"]) {
      const got = await sendRequest({ port, path, method, headers: ["Content-Length", "0"] });
      expect(got.rawHeaders.join().toLowerCase()).not.toContain("access-control");
    }
  });
});

test("answers of ours have headers against caching and foreign pages", async () => {
  for (const path of ["/", "/nowhere", "/u/none/x"]) {
    const { headers } = await sendRequest({ port, path, method: "GET" });
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "cross-origin-resource-policy": "same-origin",
      "x-content-type-options": "nosniff",
    });
  }
});

test("the error for an unknown path names the choices", async () => {
  const got = await sendRequest({ port, path: "/nowhere", method: "GET" });
  expect(got.status).toBe(404);
  expect(JSON.parse(got.body.toString())).toMatchObject({
    error: { code: "AP_UPSTREAM_UNCLEAR", message: expect.stringContaining("/anthropic, /openai, /gemini") },
  });
});

test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", null])(
  "a body type that any page may send (%s) is refused",
  async (type) => {
    const typed = type === null ? [] : ["Content-Type", type];
    const got = await sendRequest({
      port,
      headers: [...typed, "Content-Length", "2"],
      body: Buffer.from("{}"),
    });
    expect(got.status).toBe(415);
    expect(JSON.parse(got.body.toString())).toMatchObject({ type: "error" });
    expect(upstream.seen).toEqual([]);
  },
);

test("a WebSocket is refused with 426, so that its client continues without", async () => {
  const lines = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
  const text = await sendBytes(
    port,
    `GET /v1/responses HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${lines.join("\r\n")}\r\n\r\n`,
  );
  expect(text).toMatch(/^HTTP\/1\.1 426 /);
  expect(text).toContain("AP_UPGRADE_REFUSED");
  expect(upstream.seen).toEqual([]);
});

test("beyond loopback, model routes require the token and do not pass it on", async () => {
  const guarded = await startRelay(upstream.url, { relayToken: "s3cret-token" });
  const options = { port: guarded.proxy.port, body: Buffer.from("{}") };
  expect((await sendRequest({ ...options, headers: json(2) })).status).toBe(401);
  expect((await sendRequest({ ...options, headers: [...json(2), "X-Aperture-Token", "wrong"] })).status).toBe(
    401,
  );
  expect(upstream.seen).toEqual([]);
  expect(
    (await sendRequest({ ...options, headers: [...json(2), "X-Aperture-Token", "s3cret-token"] })).status,
  ).toBe(200);
  expect(JSON.stringify(upstream.seen)).not.toContain("s3cret");
  await guarded.proxy.close();
});

test("a request cannot choose its upstream", async () => {
  const evil = await startUpstream((_seen, response) => response.end("caught"));
  const { host, href } = evil.url;
  const attempts = [
    "X-Base-Url",
    "X-Anthropic-Base-Url",
    "X-Api-Base",
    "X-Forwarded-Host",
    "X-Upstream",
    "Forwarded",
  ];
  const headers = [...attempts.flatMap((name) => [name, href]), "X-Api-Key", "sk-secret", ...json(2)];
  const path = `/v1/messages?api_base=${encodeURIComponent(href)}&base_url=${encodeURIComponent(href)}&host=${host}`;
  const body = Buffer.from(JSON.stringify({ api_base: href, base_url: href }));
  const options = { port, path, body, headers: [...headers.slice(0, -1), String(body.length)] };
  expect((await sendRequest(options)).body.toString()).toBe("ok");
  expect(evil.openedCount()).toBe(0);
  await evil.close();
});

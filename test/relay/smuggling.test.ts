// Request smuggling: requests whose end two servers could see in different places. Each has a second request
// in its body, which must never arrive upstream as a request; a body that arrives must be the one the client
// meant.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  pause,
  sendBytes,
  startRelay,
  startUpstream,
  type TestRelay,
  type TestUpstream,
  until,
} from "./harness.ts";

let upstream: TestUpstream;
let relay: TestRelay;

beforeAll(async () => {
  upstream = await startUpstream((_seen, response) => response.end("ok"));
  relay = await startRelay(upstream.url, { limits: { headersMs: 400 } });
});

afterAll(async () => {
  await relay.proxy.close();
  await upstream.close();
});

beforeEach(() => {
  upstream.seen.length = 0;
});

const hidden = "GET /v1/smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
const chunkedHidden = `0\r\n\r\n${hidden}`;
const whole = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;

function post(lines: readonly string[], body: string, line = "POST /v1/messages HTTP/1.1"): string {
  const head = [line, `Host: 127.0.0.1:${relay.proxy.port}`, "Content-Type: application/json", ...lines];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

const refused: readonly (readonly [string, readonly string[], string])[] = [
  [
    "length and chunks",
    [`Content-Length: ${chunkedHidden.length}`, "Transfer-Encoding: chunked"],
    chunkedHidden,
  ],
  ["chunks and length", ["Transfer-Encoding: chunked", "Content-Length: 4"], chunkedHidden],
  ["two lengths", ["Content-Length: 0", `Content-Length: ${hidden.length}`], hidden],
  ["the same length twice", [`Content-Length: ${hidden.length}`, `Content-Length: ${hidden.length}`], hidden],
  ["a list of lengths", [`Content-Length: 0, ${hidden.length}`], hidden],
  ["a length with a sign", [`Content-Length: +${hidden.length}`], hidden],
  ["a negative length", ["Content-Length: -1"], hidden],
  ["a length in hexadecimal", ["Content-Length: 0x10"], hidden],
  ["a length with a fraction", ["Content-Length: 0.0"], hidden],
  ["an empty length", ["Content-Length:"], hidden],
  ["a length beyond counting", ["Content-Length: 18446744073709551616"], hidden],
  ["a space before the colon", [`Content-Length : ${hidden.length}`], hidden],
  ["a tab before the colon", ["Transfer-Encoding\t: chunked"], chunkedHidden],
  ["chunks behind another coding", ["Transfer-Encoding: gzip, chunked"], chunkedHidden],
  ["chunks before another coding", ["Transfer-Encoding: chunked, identity"], chunkedHidden],
  ["chunks twice", ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], chunkedHidden],
  ["identity, then chunks", ["Transfer-Encoding: identity", "Transfer-Encoding: chunked"], chunkedHidden],
  ["an unknown coding", ["Transfer-Encoding: xchunked"], chunkedHidden],
  ["a quoted coding", ['Transfer-Encoding: "chunked"'], chunkedHidden],
  ["a coding behind a vertical tab", ["Transfer-Encoding: \x0bchunked"], chunkedHidden],
  ["a coding on a folded line", ["Transfer-Encoding:", " chunked"], chunkedHidden],
  [
    "a header on a folded line",
    ["X-A: b", "\tContent-Length: 0", `Content-Length: ${hidden.length}`],
    hidden,
  ],
  ["a bare line feed", [`X-A: b\nContent-Length: ${hidden.length}`], hidden],
  ["a bare carriage return", [`X-A: b\rTransfer-Encoding: chunked`], hidden],
  ["a null in a value", ["X-A: b\0c", "Content-Length: 0"], hidden],
  ["a header without a name", [": x", "Content-Length: 0"], hidden],
  ["a header without a colon", ["Content-Length 5"], hidden],
  [
    "a length named by Connection",
    ["Connection: content-length", `Content-Length: ${hidden.length}`],
    hidden,
  ],
  [
    "a coding named by Connection",
    ["Connection: transfer-encoding", "Transfer-Encoding: chunked"],
    chunkedHidden,
  ],
  ["a host named by Connection", ["Connection: host", "Content-Length: 0"], hidden],
  ["a second host", ["Host: evil.example", "Content-Length: 0"], hidden],
  ["a chunk size in other digits", ["Transfer-Encoding: chunked"], `0x0\r\n\r\n${hidden}`],
  ["a chunk size with a space", ["Transfer-Encoding: chunked"], `0 \r\n\r\n${hidden}`],
  ["a chunk size beyond counting", ["Transfer-Encoding: chunked"], `10000000000000000\r\n${hidden}`],
  ["a chunk longer than it says", ["Transfer-Encoding: chunked"], `1\r\nxyz\r\n0\r\n\r\n${hidden}`],
  ["chunks ended by line feeds", ["Transfer-Encoding: chunked"], `1\nx\n0\n\n${hidden}`],
  ["a chunk extension with a line feed", ["Transfer-Encoding: chunked"], `1;a\nx\r\n0\r\n\r\n${hidden}`],
  ["a length in the trailers", ["Transfer-Encoding: chunked"], `0\r\nContent-Length: 9\r\n\r\n${hidden}`],
];

describe("refused", () => {
  test.each(refused)("%s", async (_name, lines, body) => {
    const text = await sendBytes(relay.proxy.port, post([...lines, "Connection: close"], body), 300);
    expect(text).not.toMatch(/^HTTP\/1\.1 200/);
    expect(text.match(/HTTP\/1\.1 /g)?.length ?? 0).toBeLessThanOrEqual(1);
    expect(upstream.seen).toEqual([]);
  });

  test.each([
    ["a full address", "POST http://evil.example/v1/messages HTTP/1.1", /^HTTP\/1\.1 400/],
    ["a tunnel", "CONNECT evil.example:443 HTTP/1.1", /^(?:$|HTTP\/1\.1 4)/],
    ["another version", "POST /v1/messages HTTP/2.0", /^HTTP\/1\.1 400/],
    ["no version", "POST /v1/messages", /^HTTP\/1\.1 4/],
    ["a space in the target", "POST /v1/messages HTTP/1.1 HTTP/1.1", /^HTTP\/1\.1 400/],
    ["a line break in the target", "POST /v1/messages\r\nX: HTTP/1.1", /^HTTP\/1\.1 400/],
    ["an encoded line break", "POST /v1/messages%0d%0aX:y HTTP/1.1", /^HTTP\/1\.1 400/],
    ["a climb", "POST /v1/../v1/messages HTTP/1.1", /^HTTP\/1\.1 400/],
    ["another protocol", "PRI * HTTP/2.0", /^HTTP\/1\.1 400/],
  ])("%s in the first line", async (_name, line, expected) => {
    const text = await sendBytes(
      relay.proxy.port,
      post(["Content-Length: 0", "Connection: close"], "", line),
      300,
    );
    expect(text).toMatch(expected);
    expect(upstream.seen).toEqual([]);
  });

  test("a chunked body in HTTP 1.0", async () => {
    const text = await sendBytes(
      relay.proxy.port,
      post(["Transfer-Encoding: chunked"], chunkedHidden, "POST /v1/messages HTTP/1.0"),
      300,
    );
    expect(text).toMatch(/^HTTP\/1\.1 400/);
    expect(upstream.seen).toEqual([]);
  });
});

describe("accepted, with a unique end", () => {
  test.each([
    ["a length", [`Content-Length: ${hidden.length}`], hidden],
    ["chunks", ["Transfer-Encoding: chunked"], whole],
    ["a coding in other letters", ["transfer-ENCODING:\tCHUNKED"], whole],
    ["a chunk extension", ["Transfer-Encoding: chunked"], whole.replace("\r\n", ";a=b\r\n")],
    ["a look-alike header", ["Transfer_Encoding: chunked", `Content-Length: ${hidden.length}`], hidden],
    [
      "an offer of HTTP 2",
      ["Connection: upgrade", "Upgrade: h2c", `Content-Length: ${hidden.length}`],
      hidden,
    ],
  ])("%s", async (_name, lines, body) => {
    const text = await sendBytes(relay.proxy.port, post([...lines, "Connection: close"], body), 1_000);
    expect(text).toMatch(/^HTTP\/1\.1 200/);
    expect(upstream.seen.map((seen) => [seen.url, seen.body.toString()])).toEqual([["/v1/messages", hidden]]);
  });

  test("a GET with a body", async () => {
    const get = post(
      [`Content-Length: ${hidden.length}`, "Connection: close"],
      hidden,
      "GET /v1/models HTTP/1.1",
    );
    expect(await sendBytes(relay.proxy.port, get, 1_000)).toMatch(/^HTTP\/1\.1 200/);
    expect(upstream.seen.map((seen) => [seen.url, seen.body.toString()])).toEqual([["/v1/models", hidden]]);
  });
});

describe("several requests on one connection", () => {
  test("are answered in order, each with one request upstream", async () => {
    const one = post(["Content-Length: 2"], "{}");
    const last = post(["Content-Length: 2", "Connection: close"], "[]");
    const text = await sendBytes(relay.proxy.port, one + one + last, 2_000);
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(3);
    const bodies = upstream.seen.map(({ body }) => body.toString());
    expect(bodies).toHaveLength(3);
    expect(bodies).toEqual(expect.arrayContaining(["[]", "{}", "{}"]));
  });

  test("are ignored after a refused one", async () => {
    const bad = post(["Content-Length: 1", "Transfer-Encoding: chunked"], "0\r\n\r\n");
    const text = await sendBytes(relay.proxy.port, bad + post(["Content-Length: 2"], "{}"), 300);
    expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(upstream.seen).toEqual([]);
  });

  test("end upstream too if one has invalid chunks", async () => {
    await sendBytes(relay.proxy.port, post(["Transfer-Encoding: chunked"], "2\r\n{}\r\nnonsense"), 300);
    await until(() => relay.proxy.metrics().active === 0);
    await pause(20);
    expect(upstream.seen).toEqual([]);
  });

  test("are all aborted if the client leaves", async () => {
    const waiting = await startUpstream(() => undefined);
    const other = await startRelay(waiting.url);
    const one = post(["Content-Length: 2"], "{}").replace(String(relay.proxy.port), String(other.proxy.port));
    await sendBytes(other.proxy.port, one.repeat(12), 300);
    await until(() => waiting.seen.length > 0 && waiting.openCount() === 0);
    expect(other.proxy.metrics()).toMatchObject({ active: 0, aborted: waiting.seen.length });
    await other.proxy.close();
    await waiting.close();
  });
});

describe("headers", () => {
  test("that are not complete in time end the connection", async () => {
    const text = await sendBytes(relay.proxy.port, "POST /v1/messages HTTP/1.1\r\nHost: x\r\nX-Slow: ");
    expect(text).toMatch(/^HTTP\/1\.1 408/);
  });

  test("that are too large are refused", async () => {
    const text = await sendBytes(
      relay.proxy.port,
      post([`X-A: ${"a".repeat(70_000)}`, "Content-Length: 0"], ""),
      2_000,
    );
    expect(text).toMatch(/^HTTP\/1\.1 431/);
    expect(upstream.seen).toEqual([]);
  });

  test("of 60 KB are accepted", async () => {
    const large = [`X-A: ${"a".repeat(60_000)}`, "Content-Length: 0", "Connection: close"];
    expect(await sendBytes(relay.proxy.port, post(large, ""), 2_000)).toMatch(/^HTTP\/1\.1 200/);
  });
});

test("bytes after the last request do not affect its answer", async () => {
  const slow = await startUpstream((_seen, response) => setTimeout(() => response.end("ok"), 50));
  const other = await startRelay(slow.url);
  const last = post(["Content-Length: 2", "Connection: close"], "{}\r\n");
  const text = await sendBytes(
    other.proxy.port,
    last.replace(`${relay.proxy.port}`, `${other.proxy.port}`),
    2_000,
  );
  expect(text).toMatch(/^HTTP\/1\.1 200[\s\S]*ok/);
  await other.proxy.close();
  await slow.close();
});

test("a client that expects 100 Continue gets it from us, not from the upstream", async () => {
  const lines = ["Expect: 100-continue", "Content-Length: 2", "Connection: close"];
  const text = await sendBytes(relay.proxy.port, post(lines, "{}"), 1_000);
  expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200/);
  expect(upstream.seen[0]?.rawHeaders.join().toLowerCase()).not.toContain("expect");
});

import { describe, expect, test } from "vitest";
import { generalRefusal, misplacedKey, modelRefusal } from "./guard.ts";
import { readHead } from "./headers.ts";
import { serverNamesOf } from "./hosts.ts";

const names = serverNamesOf({ host: "127.0.0.1", port: 4400, allowedHosts: ["Aperture.Example:8443"] });
const host = ["Host", "127.0.0.1:4400"];

function status(headers: readonly string[], method = "POST", httpVersion = "1.1"): number | null {
  return generalRefusal({ method, httpVersion, head: readHead(headers) }, names)?.status ?? null;
}

describe("host", () => {
  test.each([
    "127.0.0.1:4400",
    "localhost:4400",
    "LocalHost:4400",
    "[::1]:4400",
    "aperture.example:8443",
    "APERTURE.EXAMPLE:8443",
  ])("%s is accepted", (name) => {
    expect(status(["Host", name])).toBeNull();
  });

  test.each([
    "",
    " ",
    "127.0.0.1",
    "127.0.0.1:",
    "127.0.0.1:80",
    "127.0.0.1:04400",
    "127.0.0.1:44000",
    "127.0.0.1:4400 ",
    "127.0.0.1:4400.",
    "127.0.0.1:4400,localhost:4400",
    "127.1:4400",
    "127.0.0.2:4400",
    "127.0.0.1.:4400",
    "0177.0.0.1:4400",
    "0x7f.0.0.1:4400",
    "2130706433:4400",
    "0.0.0.0:4400",
    "[::]:4400",
    "[0:0:0:0:0:0:0:1]:4400",
    "[::ffff:127.0.0.1]:4400",
    "::1:4400",
    "localhost",
    "localhost.:4400",
    "localhost:4401",
    "xlocalhost:4400",
    "localhost.evil.example:4400",
    "127.0.0.1.nip.example:4400",
    "evil.example:4400",
    "evil.example",
    "user@127.0.0.1:4400",
    "http://127.0.0.1:4400",
    "127.0.0.1:4400/",
    "127.0.0.1:4400#",
    "127.0.0.1%00:4400",
    "ｌocalhost:4400",
    "aperture.example",
    "aperture.example:4400",
    "sub.aperture.example:8443",
  ])("%j is not", (name) => {
    expect(status(["Host", name])).toBe(421);
  });

  test("must occur exactly once", () => {
    expect(status([])).toBe(421);
    expect(status([...host, "host", "127.0.0.1:4400"])).toBe(421);
    expect(status([...host, "Host", "evil.example"])).toBe(421);
  });

  test("is checked first, and no other header replaces it", () => {
    expect(status(["Host", "evil.example", "Origin", "http://127.0.0.1:4400"], "OPTIONS")).toBe(421);
    expect(status(["X-Forwarded-Host", "127.0.0.1:4400", "Forwarded", "host=localhost:4400"])).toBe(421);
  });

  test("may be the address we listen on, but not a wildcard", () => {
    const at = (address: string) => serverNamesOf({ host: address, port: 80, allowedHosts: [] }).hosts;
    expect(at("192.0.2.7").has("192.0.2.7:80")).toBe(true);
    expect(at("192.0.2.7").has("192.0.2.7")).toBe(true);
    expect(at("0.0.0.0").has("0.0.0.0:80")).toBe(false);
    expect(at("::").has("[::]:80")).toBe(false);
  });
});

describe("origin", () => {
  test.each([
    "http://127.0.0.1:4400",
    "http://localhost:4400",
    "http://[::1]:4400",
    "https://aperture.example:8443",
    "http://aperture.example:8443",
  ])("%s is accepted", (origin) => {
    expect(status([...host, "Origin", origin])).toBeNull();
  });

  test.each([
    "",
    "null",
    "https://127.0.0.1:4400",
    "http://127.0.0.1",
    "http://127.0.0.1:4401",
    "http://localhost:4400/",
    "http://localhost:4400.evil.example",
    "http://evil.example",
    "https://evil.example:4400",
    "chrome-extension://abcdef",
    "file://",
    "http://127.0.0.1:4400 http://evil.example",
  ])("%j is refused", (origin) => {
    expect(status([...host, "Origin", origin])).toBe(403);
  });

  test("must occur at most once", () => {
    expect(status([...host, "Origin", "http://localhost:4400", "Origin", "http://localhost:4400"])).toBe(403);
  });

  test.each([
    ["none", null],
    ["same-origin", null],
    ["same-site", 403],
    ["cross-site", 403],
    ["", 403],
    ["none, cross-site", 403],
    ["anything", 403],
  ])("Sec-Fetch-Site: %s gives %s", (site, expected) => {
    expect(status([...host, "Sec-Fetch-Site", site], "GET")).toBe(expected);
  });
});

test.each(["OPTIONS", "TRACE", "CONNECT"])("%s is refused", (method) => {
  expect(status(host, method)).toBe(405);
});

describe("framing", () => {
  test.each([
    [["Content-Length", "5"]],
    [["Content-Length", "0"]],
    [["Transfer-Encoding", "chunked"]],
    [["transfer-encoding", "Chunked"]],
    [["Connection", "close, X-Mine"]],
    [[]],
  ])("%j is accepted", (headers) => {
    expect(status([...host, ...headers])).toBeNull();
  });

  test.each([
    [["Content-Length", "5", "Transfer-Encoding", "chunked"]],
    [["Content-Length", "5", "Content-Length", "6"]],
    [["Content-Length", "5", "Content-Length", "5"]],
    [["Content-Length", "5, 5"]],
    [["Content-Length", "+5"]],
    [["Content-Length", "5e1"]],
    [["Content-Length", ""]],
    [["Content-Length", "9999999999999999"]],
    [["Transfer-Encoding", "gzip, chunked"]],
    [["Transfer-Encoding", "identity"]],
    [["Transfer-Encoding", "chunked", "Transfer-Encoding", "chunked"]],
    [["Transfer-Encoding", ""]],
    [["Connection", "Content-Length", "Content-Length", "5"]],
    [["Connection", "close, host"]],
    [["Connection", "transfer-encoding", "Transfer-Encoding", "chunked"]],
  ])("%j is not", (headers) => {
    expect(status([...host, ...headers])).toBe(400);
  });

  test("of another HTTP version is refused", () => {
    expect(status(host, "GET", "1.0")).toBeNull();
    expect(status(host, "GET", "2.0")).toBe(400);
    expect(status(host, "GET", "0.9")).toBe(400);
    expect(status([...host, "Transfer-Encoding", "chunked"], "POST", "1.0")).toBe(400);
  });
});

describe("model routes", () => {
  function model(headers: readonly string[], recorded = true): number | null {
    return modelRefusal({ head: readHead(headers), isRecorded: recorded, relayToken: null })?.status ?? null;
  }
  const body = ["Content-Length", "5"];
  const key = ["Authorization", "Bearer k"];

  test.each([
    "application/json",
    "Application/JSON; charset=utf-8",
    "application/vnd.amazon.eventstream",
    "application/merge-patch+json",
    "application/octet-stream",
  ])("a body of %s is accepted", (type) => {
    expect(model([...body, "Content-Type", type])).toBeNull();
  });

  test.each([
    "text/plain",
    "text/plain;application/json",
    "TEXT/PLAIN; charset=utf-8",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "",
    " ; application/json",
  ])("a body of %j is refused, with or without a key", (type) => {
    expect(model([...body, "Content-Type", type])).toBe(415);
    expect(model([...body, ...key, "Content-Type", type])).toBe(415);
  });

  test("a body without a type is refused, unless it is empty", () => {
    expect(model(body)).toBe(415);
    expect(model(["Transfer-Encoding", "chunked"])).toBe(415);
    expect(model(["Content-Length", "0"])).toBeNull();
    expect(model([])).toBeNull();
    expect(model(["Content-Type", "text/plain"])).toBeNull();
  });

  test("a body with two types is refused", () => {
    const both = ["Content-Type", "application/json", "Content-Type", "text/plain"];
    expect(model([...body, ...both])).toBe(415);
  });

  test("an upload is accepted on an unrecorded route with a key that no page could send", () => {
    const form = [...body, "Content-Type", "multipart/form-data; boundary=x"];
    expect(model([...form, ...key], false)).toBeNull();
    expect(model(form, false)).toBe(415);
  });

  test("a WebSocket is refused, an offer of HTTP 2 is ignored", () => {
    expect(model(["Upgrade", "websocket", "Connection", "Upgrade"])).toBe(426);
    expect(model(["Upgrade", "h2c", "Connection", "Upgrade, HTTP2-Settings"])).toBeNull();
  });

  test("require the token beyond loopback", () => {
    const ask = (headers: readonly string[]) =>
      modelRefusal({ head: readHead(headers), isRecorded: true, relayToken: "s3cret" })?.status ?? null;
    expect(ask([])).toBe(401);
    expect(ask(["x-aperture-token", ""])).toBe(401);
    expect(ask(["x-aperture-token", "s3cre"])).toBe(401);
    expect(ask(["Authorization", "Bearer s3cret"])).toBe(401);
    expect(ask(["x-aperture-token", "s3cret", "x-aperture-token", "s3cret"])).toBe(401);
    expect(ask(["X-Aperture-Token", "s3cret"])).toBeNull();
  });
});

const keys = { anthropic: "sk-ant-api03-x", openai: "sk-proj-x", google: "AIzaSyx", other: "sk-x" };
const officialHosts = {
  anthropic: "api.anthropic.com",
  openai: "api.openai.com",
  google: "generativelanguage.googleapis.com",
  gateway: "gateway.example",
} as const;

test.each(Object.keys(keys) as (keyof typeof keys)[])(
  "a key of %s is accepted for its issuer or a gateway only",
  (owner) => {
    for (const [name, host] of Object.entries(officialHosts)) {
      const allowed = name === owner || name === "gateway" || owner === "other";
      for (const header of ["Authorization", "X-Api-Key", "x-goog-api-key", "api-key"]) {
        const value = header === "Authorization" ? `Bearer ${keys[owner]}` : keys[owner];
        const refusal = misplacedKey(readHead([header, value]), host);
        expect(refusal === null, `${owner} to ${name} in ${header}`).toBe(allowed);
        expect(refusal?.error.message ?? "").not.toContain(keys[owner]);
      }
    }
  },
);

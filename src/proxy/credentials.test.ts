import { describe, expect, test } from "vitest";
import {
  callerOf,
  credentialHasher,
  isLogin,
  maskTarget,
  requestHeaders,
  responseHeaders,
  secretsIn,
} from "./credentials.ts";
import { readHead } from "./headers.ts";

const hasher = credentialHasher(new Uint8Array(32).fill(7));
const caller = (raw: readonly string[], target = "/v1/messages") => callerOf(readHead(raw), target, hasher);

describe("the credential", () => {
  test("is a keyed hash that does not depend on how the key is written", () => {
    const hash = caller(["X-Api-Key", "sk-0123456789"]).credential;
    expect(hash).toMatch(/^[0-9a-f]{32}$/);
    expect(caller(["Authorization", "Bearer sk-0123456789"]).credential).toBe(hash);
    expect(caller(["authorization", "bearer  sk-0123456789"]).credential).toBe(hash);
    expect(caller([], "/v1beta/models?key=sk-0123456789").credential).toBe(hash);
    expect(caller(["X-Api-Key", "sk-0123456780"]).credential).not.toBe(hash);
    expect(
      callerOf(readHead(["X-Api-Key", "sk-0123456789"]), "/", credentialHasher(new Uint8Array(32)))
        .credential,
    ).not.toBe(hash);
  });

  test("of a signed request is the id of its key, not its signature", () => {
    const signed = (signature: string) =>
      `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260101/r/s/aws4_request, SignedHeaders=host, Signature=${signature}`;
    const first = caller(["Authorization", signed("aa11bb22cc33")]);
    expect(caller(["Authorization", signed("dd44ee55ff66")]).credential).toBe(first.credential);
    expect(first.secrets).toContain("aa11bb22cc33");
  });

  test("may be missing", () => {
    expect(caller([])).toEqual({ owner: "local", credential: "none", secrets: [] });
  });
});

describe("secrets", () => {
  test.each([
    "Authorization",
    "X-Api-Key",
    "X-Goog-Api-Key",
    "Api-Key",
    "Proxy-Authorization",
    "X-Amz-Security-Token",
    "X-Aperture-Token",
    "X-My-Secret",
    "X-Auth",
    "Ocp-Apim-Subscription-Key",
    "X-Session-Token",
    "X-Codex-Auth",
    "X-Stainless-Api-Key",
  ])("%s holds one, and is not recorded", (name) => {
    const head = readHead([name, "value-of-a-secret"]);
    expect(secretsIn(head, "/")).toEqual(["value-of-a-secret"]);
    expect(requestHeaders(head, [])).toEqual({});
  });

  test("cookies hold several", () => {
    expect(secretsIn(readHead(["Cookie", "a=0123456789; b=abcdefghij; c=1"]), "/")).toEqual([
      "0123456789",
      "abcdefghij",
    ]);
  });

  test("a short value is not a secret", () => {
    expect(secretsIn(readHead(["X-Api-Key", "x"]), "/?key=1234567")).toEqual([]);
  });
});

describe("the target", () => {
  test.each([
    ["/v1?key=SECRETSECRET", "/v1?key=***"],
    ["/v1?a=1&KEY=SECRETSECRET&b=2", "/v1?a=1&KEY=***&b=2"],
    ["/v1?%6bey=SECRETSECRET", "/v1?%6bey=***"],
    ["/v1?a=1;key=SECRETSECRET", "/v1?a=1;key=***"],
    ["/v1?api_key=s&access_token=s&token=s", "/v1?api_key=***&access_token=***&token=***"],
    [
      "/v1?X-Amz-Signature=s&X-Amz-Credential=s&X-Amz-Security-Token=s",
      "/v1?X-Amz-Signature=***&X-Amz-Credential=***&X-Amz-Security-Token=***",
    ],
    ["/v1?%zz=SECRETSECRET", "/v1?%zz=***"],
    ["/v1?key=a=b", "/v1?key=***"],
    ["/v1?key=", "/v1?key="],
    ["/v1?key", "/v1?key"],
    ["/v1?alt=sse&beta=true", "/v1?alt=sse&beta=true"],
    ["/v1", "/v1"],
    ["/v1?", "/v1?"],
  ])("%s is recorded as %s", (target, expected) => {
    expect(maskTarget(target, [])).toBe(expected);
  });

  test("a known secret is masked everywhere", () => {
    expect(maskTarget("/k/SECRETSECRET/x?a=SECRETSECRET", ["SECRETSECRET"])).toBe("/k/***/x?a=***");
  });
});

describe("recorded headers", () => {
  test("have known names and contain no known secret", () => {
    const raw = ["User-Agent", "cli SECRETSECRET", "X-Stainless-Lang", "js", "X-Codex-Window-Id", "w"];
    const more = ["X-Unknown", "1", "X-Aperture-Session", "s", "Anthropic-Beta", "a", "anthropic-beta", "b"];
    expect(requestHeaders(readHead([...raw, ...more]), ["SECRETSECRET"])).toEqual({
      "user-agent": "cli ***",
      "x-stainless-lang": "js",
      "x-codex-window-id": "w",
      "x-aperture-session": "s",
      "anthropic-beta": "a, b",
    });
  });

  test("of a response are few", () => {
    const limits = ["anthropic-ratelimit-tokens-remaining", "5", "X-RateLimit-Reset", "6"];
    const gone = ["Set-Cookie", "x", "anthropic-organization-id", "o", "Date", "d"];
    expect(responseHeaders(readHead(["Request-Id", "r", ...limits, ...gone]), [])).toEqual({
      "request-id": "r",
      "anthropic-ratelimit-tokens-remaining": "5",
      "x-ratelimit-reset": "6",
    });
  });
});

test.each([
  ["a login's token", ["Authorization", "Bearer sk-ant-oat01-abcdef"]],
  ["in any spelling", ["authorization", "bearer  sk-ant-oat01-abcdef"]],
  ["in the place of a key", ["X-Api-Key", "sk-ant-oat01-abcdef"]],
  ["beside a key", ["X-Api-Key", "sk-ant-api03-abcdef", "Authorization", "Bearer sk-ant-oat01-abcdef"]],
  ["a browser's session", ["Authorization", "Bearer sk-ant-sid01-abcdef"]],
  ["a signed token", ["Authorization", "Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ1c2VyIn0.c2ln"]],
  ["a token of Google's", ["Authorization", "Bearer ya29.a0AfH6SM"]],
  ["an account beside it", ["Authorization", "Bearer opaque", "ChatGPT-Account-Id", "1"]],
  ["a client that says so", ["Authorization", "Bearer opaque", "anthropic-beta", "a-1,oauth-2025-04-20"]],
])("%s is a login", (_name, raw) => {
  expect(isLogin(readHead(raw))).toBe(true);
});

test.each([
  ["nothing", []],
  ["a key", ["X-Api-Key", "sk-ant-api03-abcdef"]],
  ["a key as bearer", ["Authorization", "Bearer sk-ant-api03-abcdef"]],
  ["another vendor's key", ["Authorization", "Bearer sk-proj-abcdef"]],
  ["a gateway's word", ["Authorization", "Bearer x"]],
  ["a dotted word", ["Authorization", "Bearer eyJust.a"]],
  ["a similar beta", ["X-Api-Key", "k", "anthropic-beta", "no-oauth-1,fine"]],
])("%s is not a login", (_name, raw) => {
  expect(isLogin(readHead(raw))).toBe(false);
});

import { describe, expect, test } from "vitest";
import {
  callerOf,
  credentialHasher,
  maskedTarget,
  requestHeaders,
  responseHeaders,
  secretsIn,
} from "./credentials.ts";
import { readHead } from "./headers.ts";

const key = credentialHasher(new Uint8Array(32).fill(7));
const caller = (raw: readonly string[], target = "/v1/messages") => callerOf(readHead(raw), target, key);

describe("the credential", () => {
  test("is a keyed hash, the same for every way to write the same key", () => {
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

  test("of a signed request is its key's id, not its signature", () => {
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
  ])("%s holds one, and is not written down", (name) => {
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

  test("what is too short to be one is none", () => {
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
  ])("%s is written down as %s", (target, expected) => {
    expect(maskedTarget(target, [])).toBe(expected);
  });

  test("a known secret is masked wherever it stands", () => {
    expect(maskedTarget("/k/SECRETSECRET/x?a=SECRETSECRET", ["SECRETSECRET"])).toBe("/k/***/x?a=***");
  });
});

describe("headers that are written down", () => {
  test("are known by name, and no known secret is in them", () => {
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

  test("of an answer are few", () => {
    const limits = ["anthropic-ratelimit-tokens-remaining", "5", "X-RateLimit-Reset", "6"];
    const gone = ["Set-Cookie", "x", "anthropic-organization-id", "o", "Date", "d"];
    expect(responseHeaders(readHead(["Request-Id", "r", ...limits, ...gone]), [])).toEqual({
      "request-id": "r",
      "anthropic-ratelimit-tokens-remaining": "5",
      "x-ratelimit-reset": "6",
    });
  });
});

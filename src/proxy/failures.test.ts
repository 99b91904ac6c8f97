import { describe, expect, test } from "vitest";
import { apertureError } from "../base/index.ts";
import { errorBody, errorShapeOf, RefusalError, refusalForError } from "./failures.ts";
import type { Upstream } from "./upstreams.ts";

const upstream: Upstream = {
  name: "anthropic",
  host: "api.example",
  isSecure: true,
  prefix: "",
  connectMs: 10_000,
  open: () => {
    throw new Error("not used here");
  },
  forgetIdle: () => undefined,
  close: () => undefined,
};

test.each([
  ["ENOTFOUND", 502, "AP_UPSTREAM_DNS"],
  ["EAI_AGAIN", 502, "AP_UPSTREAM_DNS"],
  ["ELINKLOCAL", 502, "AP_UPSTREAM_DNS"],
  ["ECONNREFUSED", 502, "AP_UPSTREAM_CONNECT"],
  ["EHOSTUNREACH", 502, "AP_UPSTREAM_CONNECT"],
  ["ECONNRESET", 502, "AP_UPSTREAM_RESET"],
  ["EPIPE", 502, "AP_UPSTREAM_RESET"],
  ["HPE_INVALID_CONSTANT", 502, "AP_UPSTREAM_PROTOCOL"],
  ["HPE_HEADER_OVERFLOW", 502, "AP_UPSTREAM_PROTOCOL"],
  ["ERR_INVALID_CHAR", 502, "AP_UPSTREAM_PROTOCOL"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", 502, "AP_UPSTREAM_TLS"],
  ["CERT_HAS_EXPIRED", 502, "AP_UPSTREAM_TLS"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", 502, "AP_UPSTREAM_TLS"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", 502, "AP_UPSTREAM_TLS"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", 502, "AP_UPSTREAM_TLS"],
  ["EPROTO", 502, "AP_UPSTREAM_TLS"],
  ["ETIMEDOUT", 504, "AP_UPSTREAM_SLOW"],
  ["ANYTHING", 502, "AP_UPSTREAM_CONNECT"],
])("%s becomes %s %s", (code, status, name) => {
  const error = Object.assign(new Error("sent sk-secret"), { code });
  const failure = refusalForError(error, upstream);
  expect(failure).toMatchObject({ status, error: { code: name } });
  expect(failure.error.message).toContain("api.example");
  expect(JSON.stringify(failure)).not.toContain("secret");
});

test("a refusal of ours keeps its reason", () => {
  const refusal = { status: 413, error: apertureError("AP_BODY_TOO_LARGE", { limit: 1 }) };
  expect(refusalForError(new RefusalError(refusal), upstream)).toBe(refusal);
});

describe("error shapes", () => {
  const refusal = { status: 502, error: apertureError("AP_UPSTREAM_RESET", { host: "h", reason: "r" }) };
  const message = expect.stringMatching(/^h closed .*\(AP_UPSTREAM_RESET\)$/);
  const body = (shape: Parameters<typeof errorBody>[2]): unknown =>
    JSON.parse(errorBody(refusal, "7", shape));

  test("differ by provider", () => {
    expect(body("anthropic")).toEqual({
      type: "error",
      error: { type: "api_error", message },
      request_id: "7",
    });
    expect(body("openai")).toEqual({
      error: { message, type: "server_error", param: null, code: "AP_UPSTREAM_RESET" },
    });
    expect(body("gemini")).toEqual({ error: { code: 502, message, status: "UNAVAILABLE" } });
    expect(body("bedrock")).toEqual({ message });
  });

  test("follow the protocol, or the upstream if there is none", () => {
    const route = { upstream: "x", rest: "/" };
    expect(errorShapeOf({ ...route, label: "gemini", protocol: "openai-chat" })).toBe("openai");
    expect(errorShapeOf({ ...route, label: "named", protocol: "anthropic" })).toBe("anthropic");
    expect(errorShapeOf({ ...route, label: "bedrock", protocol: null })).toBe("bedrock");
    expect(errorShapeOf({ ...route, label: "named", protocol: null })).toBe("openai");
  });
});

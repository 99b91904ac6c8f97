import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readHead } from "./headers.ts";
import { createRouter, routeOf, targetProblem } from "./routes.ts";

const named = new Set(["local", "x-1"]);

function route(target: string, headers: readonly string[] = [], method = "POST") {
  return routeOf({ method, target, head: readHead(headers) }, named);
}

describe("by prefix", () => {
  test.each([
    ["/anthropic/v1/messages?beta=true", "anthropic", "/v1/messages?beta=true", "anthropic"],
    ["/anthropic", "anthropic", "/", null],
    ["/anthropic?x=1", "anthropic", "/?x=1", null],
    ["/anthropic//v1/messages", "anthropic", "//v1/messages", "anthropic"],
    ["/anthropic/v1/chat/completions", "anthropic", "/v1/chat/completions", "openai-chat"],
    ["/openai/v1/chat/completions", "openai", "/v1/chat/completions", "openai-chat"],
    ["/openai/v1/responses", "openai", "/v1/responses", "openai-responses"],
    ["/openai/v1/threads/t/messages", "openai", "/v1/threads/t/messages", null],
    ["/gemini/v1beta/openai/chat/completions", "gemini", "/v1beta/openai/chat/completions", "openai-chat"],
    ["/bedrock/model/a.b%3A1/invoke", "bedrock", "/model/a.b%3A1/invoke", "bedrock"],
    ["/u/local/api/v1/chat/completions", "local", "/api/v1/chat/completions", "openai-chat"],
    ["/u/x-1", "x-1", "/", null],
    ["/u/x-1?a", "x-1", "/?a", null],
  ] as const)("%s goes to %s", (...[target, upstream, rest, protocol]) => {
    const label = upstream === "local" || upstream === "x-1" ? "named" : upstream;
    expect(route(target)).toEqual({ ok: true, value: { upstream, label, rest, protocol } });
  });

  test("overrides headers and path", () => {
    expect(route("/openai/v1/messages", ["anthropic-version", "1"])).toMatchObject({
      value: { upstream: "openai" },
    });
  });

  test("matches whole segments only", () => {
    expect(route("/anthropicx/v1/messages").ok).toBe(false);
    expect(route("/Anthropic/v1/messages").ok).toBe(false);
  });

  test("of an unknown name is refused with the list of known names", () => {
    expect(route("/u/other/v1")).toMatchObject({
      error: { code: "AP_UPSTREAM_UNKNOWN", message: expect.stringContaining("local, x-1") },
    });
    expect(route("/u/")).toMatchObject({ error: { code: "AP_UPSTREAM_UNKNOWN" } });
    expect(route("/u/__proto__/v1")).toMatchObject({ error: { code: "AP_UPSTREAM_UNKNOWN" } });
  });
});

describe("by path", () => {
  test.each([
    ["/v1/messages", "anthropic", "anthropic"],
    ["/v1/messages?beta=true", "anthropic", "anthropic"],
    ["//v1/messages", "anthropic", "anthropic"],
    ["/v1/messages/count_tokens", "anthropic", "anthropic"],
    ["/v1/messages/batches", "anthropic", null],
    ["/api/hello", "anthropic", null],
    ["/v1/chat/completions", "openai", "openai-chat"],
    ["/v1/responses", "openai", "openai-responses"],
    ["/v1/responses/resp_1/cancel", "openai", null],
    ["/v1beta/models/gemini-3:generateContent", "gemini", "gemini"],
    ["/v1beta/models/gemini-3:streamGenerateContent?alt=sse", "gemini", "gemini"],
    ["/v1beta/models/gemini-3%3AcountTokens", "gemini", "gemini"],
    ["/v1beta/models", "gemini", null],
    ["/v1beta/cachedContents", "gemini", null],
    ["/upload/v1beta/files", "gemini", null],
    ["/model/anthropic.claude/invoke-with-response-stream", "bedrock", "bedrock"],
    ["/model/arn%3Aaws%3Abedrock%3Aprofile%2Fx/converse-stream", "bedrock", "bedrock"],
    ["/model/a/count-tokens", "bedrock", null],
    ["/inference-profiles?type=x", "bedrock", null],
  ])("%s goes to %s", (target, upstream, protocol) => {
    expect(route(target)).toEqual({ ok: true, value: { upstream, label: upstream, rest: target, protocol } });
  });

  test("only a POST is recorded", () => {
    for (const method of ["GET", "HEAD", "DELETE", "PUT"]) {
      expect(route("/v1/messages", [], method)).toMatchObject({ value: { protocol: null } });
    }
  });

  test("does not match similar paths", () => {
    expect(route("/v1/messagesx")).toMatchObject({ value: { upstream: "openai", protocol: null } });
    expect(route("/v1betamax/x").ok).toBe(false);
  });
});

describe("by header", () => {
  test.each([
    [["Anthropic-Version", "2023-06-01"], "/v1/models", "anthropic"],
    [["X-Api-Key", "k"], "/v1/files", "anthropic"],
    [["x-goog-api-key", "k"], "/v1/models/x", "gemini"],
    [["authorization", "Bearer k"], "/v1/models", "openai"],
    [[], "/v1/embeddings", "openai"],
  ])("%j at %s goes to %s", (headers, target, upstream) => {
    expect(route(target, headers, "GET")).toMatchObject({ value: { upstream, rest: target } });
  });

  test.each(["/", "/favicon.ico", "/v2/models", "/v1"])("%s has no route", (target) => {
    expect(route(target)).toMatchObject({
      error: { code: "AP_UPSTREAM_UNCLEAR", message: expect.stringContaining("/anthropic, /openai") },
    });
  });

  test.each(["x-forwarded-host", "x-anthropic-base-url", "forwarded", "x-original-url", "x-rewrite-url"])(
    "%s does not choose the upstream",
    (name) => {
      const value = "https://evil.example/openai/v1/chat/completions";
      expect(route("/v1/messages", [name, value])).toEqual(route("/v1/messages"));
    },
  );
});

describe("targets", () => {
  test.each([
    "http://evil.example/v1/messages",
    "//../etc/passwd",
    "*",
    "evil.example:443",
    "",
    "/v1/../admin",
    "/v1/..",
    "/anthropic/./v1/messages",
    "/v1/%2e%2e/admin",
    "/v1/.%2E/admin",
    "/v1/%252e%252e/admin",
    "/v1/%25252e%2e/admin",
    "/v1/..%2fadmin",
    "/v1/..%5cadmin",
    "/v1%2f..%2fadmin",
    "/v1/..;/admin",
    "/v1\\messages",
    "/v1/a%0d%0aHost:evil",
    "/v1/%00",
    "/v1/a\r\nb",
    "/v1/a b",
    "/v1/\u007f",
    "/v1/é",
    "/v1/x#y",
  ])("%j is refused", (target) => {
    expect(route(target)).toMatchObject({ ok: false, error: { code: "AP_TARGET_INVALID" } });
  });

  test.each([
    "/v1/a...b",
    "/v1/...",
    "/v1/.well-known/x",
    "/v1//x//",
    "/v1/x?next=../../y&z=%0d%0a",
    "/v1/100%25",
    "/v1/%E4%B8%AD",
    "/v1/x?a=%2e%2e%2f",
    "/v1/~a!$&'()*+,;=:@[]",
  ])("%j passes unchanged", (target) => {
    expect(route(target)).toMatchObject({ value: { rest: target } });
  });

  test("an accepted target keeps its bytes and does not climb", () => {
    fc.assert(
      fc.property(fc.webPath(), fc.string(), (path, query) => {
        const rest = `/v1${path}?${encodeURIComponent(query)}`;
        const found = route(`/openai${rest}`);
        if (found.ok) {
          expect(found.value.rest).toBe(rest);
          expect(new URL(`http://x${rest}`).pathname.startsWith("/v1")).toBe(true);
        } else expect(targetProblem(`/openai${rest}`)).not.toBeNull();
      }),
    );
  });
});

test("the cache of a router does not change its answers", () => {
  const router = createRouter(named);
  const path = fc.constantFrom(
    "/v1/messages",
    "/openai",
    "/u/x-1",
    "/u/none",
    "/v1/models",
    "/v1/../x",
    "/x",
    "/u/x-1/responses",
  );
  const query = fc.constantFrom("", "?", "?beta=true", "?a=/v1/messages", "?a#b", "?a\\b", "?a b");
  const headers = fc.constantFrom([], ["x-api-key", "k"], ["x-goog-api-key", "k"]);
  const method = fc.constantFrom("GET", "POST");
  fc.assert(
    fc.property(path, query, headers, method, (...[start, rest, given, verb]) => {
      const asked = { method: verb, target: start + rest, head: readHead(given) };
      expect(router(asked)).toEqual(routeOf(asked, named));
    }),
    { numRuns: 500 },
  );
});

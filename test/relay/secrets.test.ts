import { afterAll, beforeAll, expect, test } from "vitest";
import { apertureError } from "../../src/base/index.ts";
import { ask, json, type Relay, startRelay, startUpstream, type Upstream, until } from "./harness.ts";

let upstream: Upstream;
let relay: Relay;
let status = 200;

beforeAll(async () => {
  // An upstream that repeats what it was told, as error messages of real ones do.
  upstream = await startUpstream((seen, response) => {
    const [, key = ""] = /canary-[\w-]+/.exec(seen.rawHeaders.join()) ?? [];
    response.writeHead(status, { "Request-Id": `r ${key}`, "Set-Cookie": `s=${key}`, "X-Echo": key });
    response.end("{}");
  });
  relay = await startRelay(upstream.url);
});

afterAll(async () => {
  await relay.proxy.close();
  await upstream.close();
});

const names = [
  "Authorization",
  "X-Api-Key",
  "X-Goog-Api-Key",
  "Api-Key",
  "Cookie",
  "Proxy-Authorization",
  "X-Amz-Security-Token",
  "X-Aperture-Token",
  "X-Auth-Token",
  "X-Access-Token",
  "X-Session-Token",
  "X-Secret",
  "X-Client-Secret",
  "Ocp-Apim-Subscription-Key",
  "Helicone-Auth",
  "X-Codex-Token",
  "X-Stainless-Key",
  "X-My-Credential",
  "X-Password",
  "X-Amz-Signature",
];
const parameters = [
  "key",
  "KEY",
  "%6bey",
  "api_key",
  "apikey",
  "api-key",
  "access_token",
  "token",
  "auth",
  "secret",
  "client_secret",
  "password",
  "X-Amz-Signature",
  "X-Amz-Credential",
  "X-Amz-Security-Token",
];
const canary = (at: number) => `canary-${at}-0123456789abcdef`;
const written = () => JSON.stringify([relay.requested, relay.answered], withoutSecrets);

/** `secrets` is there to hold them, in memory. */
function withoutSecrets(key: string, value: unknown): unknown {
  return key === "secrets" || key === "body" ? null : value;
}

test("no key in a header is written down, wherever it is repeated", async () => {
  for (const [at, name] of names.entries()) {
    const value =
      name === "Authorization" ? `Bearer ${canary(at)}` : name === "Cookie" ? `a=${canary(at)}` : canary(at);
    const headers = [name, value, "User-Agent", `cli ${canary(at)}`, "X-Session-Id", canary(at), ...json(2)];
    await ask({
      port: relay.proxy.port,
      path: `/v1/messages?x=${canary(at)}`,
      headers,
      body: Buffer.from("{}"),
    });
  }
  await until(() => relay.answered.length === names.length);
  expect(written()).not.toContain("canary");
  for (const [at, { caller }] of relay.requested.entries())
    expect(caller.secrets, names[at]).toContain(canary(at));
});

test("no key in a query is", async () => {
  relay.requested.length = 0;
  relay.answered.length = 0;
  for (const [at, name] of parameters.entries()) {
    const path = `/v1beta/models/m:generateContent?alt=sse&${name}=${canary(at)}&z=1`;
    await ask({ port: relay.proxy.port, path, headers: json(2), body: Buffer.from("{}") });
  }
  await until(() => relay.answered.length === parameters.length);
  expect(written()).not.toContain("canary");
  expect(relay.requested[0]?.target).toBe("/v1beta/models/m:generateContent?alt=sse&key=***&z=1");
  for (const { caller } of relay.requested) expect(caller.secrets).toHaveLength(1);
});

test("no key is in an error of ours", async () => {
  const gone = await startUpstream((_seen, response) => response.end());
  await gone.close();
  const failing = await startRelay(gone.url);
  const headers = ["X-Api-Key", canary(1), "Authorization", `Bearer ${canary(2)}`, ...json(2)];
  const paths = [
    "/v1/messages",
    "/v1/chat/completions",
    "/v1beta/models/m:generateContent",
    "/model/m/invoke",
  ];
  for (const path of [...paths, "/nowhere-at-all", "/u/none/x", "/v1/../x"]) {
    const got = await ask({
      port: failing.proxy.port,
      path: `${path}?key=${canary(3)}`,
      headers,
      body: Buffer.from("{}"),
    });
    expect(got.status).toBeGreaterThanOrEqual(400);
    expect(got.body.toString() + got.rawHeaders.join()).not.toContain("canary");
  }
  await failing.proxy.close();
});

test("no key is in the metrics, nor anything else of a request", async () => {
  status = 429;
  await ask({
    port: relay.proxy.port,
    path: `/u/mine/${canary(1)}`,
    headers: json(2),
    body: Buffer.from("{}"),
  });
  const text = JSON.stringify(relay.proxy.metrics());
  expect(text).not.toMatch(/canary|mine|messages/);
  expect(relay.proxy.metrics().upstreams.named.clientError).toBe(1);
});

test("the sentence about a misplaced key does not hold the key", () => {
  const { message } = apertureError("AP_KEY_MISPLACED", { owner: "Anthropic", host: "api.openai.com" });
  expect(message).not.toMatch(/sk-/);
});

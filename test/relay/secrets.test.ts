import { afterAll, beforeAll, expect, test } from "vitest";
import { apertureError } from "../../src/base/index.ts";
import {
  json,
  sendRequest,
  startRelay,
  startUpstream,
  type TestRelay,
  type TestUpstream,
  until,
} from "./harness.ts";

let upstream: TestUpstream;
let relay: TestRelay;
let status = 200;

beforeAll(async () => {
  // An upstream that repeats the key, as error messages of real ones do.
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
const recorded = () => JSON.stringify([relay.requests, relay.responses], withoutSecrets);

/** Leaves out the fields that hold secrets in memory on purpose. */
function withoutSecrets(key: string, value: unknown): unknown {
  return key === "secrets" || key === "body" ? null : value;
}

test("a key in a header is never recorded, even if it is repeated elsewhere", async () => {
  for (const [at, name] of names.entries()) {
    const value =
      name === "Authorization" ? `Bearer ${canary(at)}` : name === "Cookie" ? `a=${canary(at)}` : canary(at);
    const headers = [name, value, "User-Agent", `cli ${canary(at)}`, "X-Session-Id", canary(at), ...json(2)];
    await sendRequest({
      port: relay.proxy.port,
      path: `/v1/messages?x=${canary(at)}`,
      headers,
      body: Buffer.from("{}"),
    });
  }
  await until(() => relay.responses.length === names.length);
  expect(recorded()).not.toContain("canary");
  for (const [at, { caller }] of relay.requests.entries())
    expect(caller.secrets, names[at]).toContain(canary(at));
});

test("a key in a query is never recorded", async () => {
  relay.requests.length = 0;
  relay.responses.length = 0;
  for (const [at, name] of parameters.entries()) {
    const path = `/v1beta/models/m:generateContent?alt=sse&${name}=${canary(at)}&z=1`;
    await sendRequest({ port: relay.proxy.port, path, headers: json(2), body: Buffer.from("{}") });
  }
  await until(() => relay.responses.length === parameters.length);
  expect(recorded()).not.toContain("canary");
  expect(relay.requests[0]?.target).toBe("/v1beta/models/m:generateContent?alt=sse&key=***&z=1");
  for (const { caller } of relay.requests) expect(caller.secrets).toHaveLength(1);
});

test("a key is never part of an error of ours", async () => {
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
    const got = await sendRequest({
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

test("the metrics contain nothing from a request", async () => {
  status = 429;
  await sendRequest({
    port: relay.proxy.port,
    path: `/u/mine/${canary(1)}`,
    headers: json(2),
    body: Buffer.from("{}"),
  });
  const text = JSON.stringify(relay.proxy.metrics());
  expect(text).not.toMatch(/canary|mine|messages/);
  expect(relay.proxy.metrics().upstreams.named.clientError).toBe(1);
});

test("the error about a misplaced key does not contain the key", () => {
  const { message } = apertureError("AP_KEY_MISPLACED", { owner: "Anthropic", host: "api.openai.com" });
  expect(message).not.toMatch(/sk-/);
});

// Forty keys at forty positions: none of them may be found in anything that is stored or printed.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SessionsPage, StateRow } from "../../src/queries/answers/index.ts";
import {
  type ModelReply,
  type StrictUpstream,
  say,
  startStrictUpstream,
  type UpstreamFault,
} from "../../src/testing/index.ts";
import { type Answer, ask, jsonIn, startTestApp, type TestApp } from "../support/app.ts";

let upstream: StrictUpstream;
let app: TestApp;
let fault: UpstreamFault | null = null;
let reply: ModelReply = say("hello");
const keys: string[] = [];
const answers: Answer[] = [];

function canary(): string {
  const key = `canary-${String(keys.length).padStart(2, "0")}-Zk9qLx7Vw2Np5Rt8`;
  keys.push(key);
  return key;
}

const messages = [{ role: "user", content: "say hello" }];
const body = JSON.stringify({ model: "claude-opus-4-8", max_tokens: 999, messages, stream: true });

type KeyRequest = {
  readonly path?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
};

async function send({ path = "/v1/messages", headers, body: text = body }: KeyRequest): Promise<void> {
  const common = { "content-type": "application/json", "anthropic-version": "2023-06-01" };
  const answer = await ask(`${app.url}${path}`, { headers: { ...common, ...headers }, body: text }).catch(
    () => null,
  );
  if (answer !== null) answers.push(answer);
}

beforeAll(async () => {
  upstream = await startStrictUpstream({ fault: () => fault, compress: true, model: () => reply });
  app = await startTestApp(upstream.url);
});

afterAll(async () => {
  await app.remove();
  await upstream.close();
});

const headerNames = [
  "x-api-key",
  "x-goog-api-key",
  "api-key",
  "cookie",
  "proxy-authorization",
  "x-amz-security-token",
  "x-auth-token",
  "x-access-token",
  "x-session-token",
  "x-secret",
  "x-vendor-key",
  "x-aperture-token",
  "x-csrf-token",
  "x-forwarded-authorization",
];
const schemes = ["Bearer", "Basic", "Token", "AWS4-HMAC-SHA256 Credential=x, Signature="];
const queries = [
  "key",
  "api_key",
  "access_token",
  "token",
  "X-Amz-Signature",
  "X-Amz-Credential",
  "X-Amz-Security-Token",
];

describe("keys", () => {
  it("pass through in every header and query", async () => {
    for (const name of headerNames)
      await send({ headers: { "x-api-key": "plain-key-000000", [name]: canary() } });
    for (const scheme of schemes) await send({ headers: { authorization: `${scheme} ${canary()}` } });
    for (const name of queries) {
      await send({ path: `/v1/messages?beta=true&${name}=${canary()}`, headers: { "x-api-key": canary() } });
    }
    expect(answers.length).toBeGreaterThan(20);
  });

  it("are repeated in refusals, and sent in requests that break off", async () => {
    const faults: readonly UpstreamFault[] = [
      { type: "echo-credential" },
      { type: "echo-credential", status: 403 },
      { type: "reset-before-head" },
      { type: "reset-after-events", events: 2 },
      { type: "redirect", location: "http://127.0.0.1:9/elsewhere" },
      { type: "not-http", text: "what" },
    ];
    for (const each of faults) {
      fault = each;
      await send({ headers: { "x-api-key": canary() } });
      fault = null;
    }
    expect(answers.some((answer) => keys.some((key) => answer.body.includes(key)))).toBe(true);
  });

  it("come back compressed, in pieces, and as the password of a basic credential", async () => {
    const gzip = { "accept-encoding": "gzip" };
    for (const status of [401, 403]) {
      fault = { type: "echo-credential", status };
      await send({ headers: { ...gzip, "x-api-key": canary() } });
      fault = null;
    }
    const split = canary();
    reply = say(`your key is ${split}, is it not?`);
    await send({ headers: { "x-api-key": split } });
    const password = canary();
    reply = say(`the password ${password} is wrong`);
    const basic = Buffer.from(`someone:${password}`).toString("base64");
    await send({ headers: { authorization: `Basic ${basic}` } });
    const escaped = `${canary()}/with"quotes`;
    reply = say(`you sent ${escaped}`);
    await send({ headers: { "x-api-key": escaped } });
    reply = say("hello");
    const packed = canary();
    const packedBody = gzipSync(body.replace("say hello", `say ${packed}`));
    await send({ headers: { "x-api-key": packed, "content-encoding": "gzip" }, body: packedBody });
    const encoded = canary();
    await send({
      path: `/v1/messages?note=${encodeURIComponent(encoded)}`,
      headers: { "x-api-key": encoded },
    });
  });

  it("are sent in a body beside the header, in unreadable bodies, and on unknown routes", async () => {
    const key = canary();
    await send({ headers: { "x-api-key": key }, body: body.replace("say hello", `say ${key}`) });
    await send({ headers: { authorization: `Bearer ${canary()}` }, body: "not json" });
    await send({ path: "/v1/unknown", headers: { authorization: `Bearer ${canary()}` } });
    await send({ path: "/nowhere", headers: { authorization: `Bearer ${canary()}` } });
    await send({ path: "/api/v1/sessions", headers: { authorization: `Bearer ${canary()}` } });
    await send({ path: `/login?code=${canary()}`, headers: {} });
  });

  it("are in none of the files, notes, metrics and API answers", async () => {
    await app.recorded();
    expect(keys.length).toBeGreaterThanOrEqual(40);
    expect(app.engine.status().counts.requests).toBeGreaterThan(25);
    const sessions = await app.api("/sessions?limit=100");
    const metrics = await ask(`${app.url}/metrics`, { headers: { authorization: `Bearer ${app.token}` } });
    const recorded = await everythingRecorded();
    expect(recorded.some((bytes) => bytes.includes("say hello"))).toBe(true);
    const texts = [...app.notes, sessions.body.toString(), metrics.body.toString()];
    await app.engine.close();
    const left = [
      ...recorded,
      ...filesIn(app.dataDir).map((path) => readFileSync(path)),
      ...texts.map((text) => Buffer.from(text)),
    ];
    expect(left.length).toBeGreaterThan(3);
    const found = keys.filter((key) => left.some((bytes) => bytes.includes(key)));
    expect(found).toEqual([]);
  });
});

/** Contents are stored compressed, so they are also read back through the API. */
async function everythingRecorded(): Promise<readonly Buffer[]> {
  const { rows } = jsonIn<SessionsPage>(await app.api("/sessions?limit=100"));
  const read = rows.map(async ({ id, requests }) => {
    const numbers = Array.from({ length: requests }, (_, at) => at + 1);
    const paths = numbers.flatMap((n) => ["", "/client", "/response"].map((side) => `/requests/${n}${side}`));
    const answers = ["/frames?limit=1000", "/state", ...paths].map((path) =>
      app.api(`/sessions/${id}${path}`),
    );
    const blocks = jsonIn<StateRow>(await app.api(`/sessions/${id}/state`)).blocks.map(({ n }) =>
      app.api(`/sessions/${id}/blocks/${n}`),
    );
    return (await Promise.all([...answers, ...blocks])).map((answer) => readable(answer.body));
  });
  return (await Promise.all(read)).flat();
}

/** Bodies may be compressed by the client, and are stored so. */
function readable(bytes: Buffer): Buffer {
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes;
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesIn(path) : [path];
  });
}

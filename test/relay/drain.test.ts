import { Agent, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { startProxy } from "../../src/proxy/index.ts";
import {
  ignore,
  pause,
  postJson,
  sendBytes,
  startRelay,
  startUpstream,
  type TestRelay,
  type TestUpstream,
  until,
} from "./harness.ts";

let upstream: TestUpstream;
let relay: TestRelay;

afterEach(async () => {
  await relay.proxy.close();
  await upstream.close();
});

const body = Buffer.from("{}");

test("active requests finish, new connections are refused", async () => {
  const held: ServerResponse[] = [];
  upstream = await startUpstream((_seen, response) => {
    response.writeHead(200).write("first ");
    held.push(response);
  });
  relay = await startRelay(upstream.url);
  const inFlight = postJson(relay.proxy.port, "/v1/messages", body);
  await until(() => held.length === 1);
  await pause(20);
  let closed = false;
  const closing = relay.proxy.close().then(() => {
    closed = true;
  });
  await pause(100);
  expect(closed).toBe(false);
  await expect(postJson(relay.proxy.port, "/v1/messages", body)).rejects.toThrow("ECONNREFUSED");
  held[0]?.end("last");
  expect((await inFlight).body.toString()).toBe("first last");
  await closing;
  expect(relay.responses).toMatchObject([{ outcome: "complete" }]);
  await until(() => upstream.openCount() === 0);
});

test("a new request on an open connection is answered with Connection: close", async () => {
  const held: ServerResponse[] = [];
  upstream = await startUpstream((_seen, response) => {
    held.push(response);
  });
  relay = await startRelay(upstream.url);
  const post =
    `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${relay.proxy.port}\r\n` +
    "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
  const both = sendBytes(relay.proxy.port, post + post);
  await until(() => held.length === 2);
  const closing = relay.proxy.close();
  held[0]?.end("one");
  held[1]?.end("two");
  const text = await both;
  expect(text.match(/HTTP\/1\.1 200/g)?.length).toBeGreaterThanOrEqual(1);
  expect(text.toLowerCase()).toContain("connection: close");
  await closing;
});

test("idle connections do not delay the end", async () => {
  upstream = await startUpstream((_seen, response) => response.end("ok"));
  // Longer than any test may take: if it waited for them, it would not end.
  relay = await startRelay(upstream.url, { limits: { drainMs: 3_600_000 } });
  const agent = new Agent({ keepAlive: true });
  const silent = connect({ host: "127.0.0.1", port: relay.proxy.port }).on("error", ignore);
  await postJson(relay.proxy.port, "/v1/messages", body);
  await until(() => !silent.connecting);
  await relay.proxy.close();
  agent.destroy();
});

test("a request that does not finish is cut when the time is up", async () => {
  upstream = await startUpstream((_seen, response) => response.writeHead(200).write("x"));
  relay = await startRelay(upstream.url, { limits: { drainMs: 150 } });
  const stuck = postJson(relay.proxy.port, "/v1/messages", body).catch((error: unknown) => error);
  await until(() => upstream.seen.length === 1);
  await pause(20);
  await Promise.all([relay.proxy.close(), relay.proxy.close()]);
  expect(await stuck).toBeInstanceOf(Error);
});

test("a port in use is an error with its code", async () => {
  upstream = await startUpstream((_seen, response) => response.end("ok"));
  relay = await startRelay(upstream.url);
  const second = startProxy({
    host: "127.0.0.1",
    port: relay.proxy.port,
    allowedHosts: [],
    upstreams: {
      anthropic: upstream.url,
      openai: upstream.url,
      gemini: upstream.url,
      bedrock: upstream.url,
      named: new Map(),
    },
    relayToken: null,
    planner: null,
    recorder: { recordRequest: ignore, recordResend: ignore, recordResponse: ignore },
    credentialKey: new Uint8Array(32),
    handleOwn: (_request, response) => response.end(),
    isOwnPath: () => false,
  });
  await expect(second).rejects.toMatchObject({ code: "EADDRINUSE" });
});

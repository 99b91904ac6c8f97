// The plan is sent in place of the client's body, and nothing else changes.
import { request } from "node:http";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { type FakePlanner, fakePlanner, inSharedMemory, managedPlan, rawPlan } from "./fake-planner.ts";
import {
  bodyOf,
  ignore,
  json,
  postJson,
  sendRequest,
  startRelay,
  startSocketUpstream,
  startUpstream,
  type TestRelay,
  type TestUpstream,
  until,
} from "./harness.ts";

let upstream: TestUpstream;
let relay: TestRelay;
let planner: FakePlanner;

afterEach(async () => {
  await relay.proxy.close();
  await upstream.close();
});

const body = Buffer.from('{"mine":1}');
const chunked = ["Content-Type", "application/json", "Transfer-Encoding", "chunked"];
const isEmpty = (names: readonly string[], name: string) => !names.some((one) => one.toLowerCase() === name);

/** An upstream that echoes the body, behind a relay with this planner. */
async function echo(fake: FakePlanner, limits = {}): Promise<void> {
  planner = fake;
  upstream = await startUpstream((seen, response) => response.end(seen.body));
  relay = await startRelay(upstream.url, { planner, limits });
}

const replacingPlanner = () => fakePlanner({ plan: (meta) => managedPlan(meta, ['{"ours"', ":[1,", "2]}"]) });

describe("the body", () => {
  test("is the planner's, byte for byte, with the client's headers", async () => {
    await echo(replacingPlanner());
    const headers = ["X-First", "1", ...json(body.length), "X-Api-Key", "sk-0123456789", "X-Last", "é"];
    const got = await sendRequest({ port: relay.proxy.port, headers, body });
    expect([got.status, got.body.toString()]).toEqual([200, '{"ours":[1,2]}']);
    const host = ["Host", upstream.url.host];
    const length = headers.indexOf("Content-Length") + 1;
    const wanted = [...host, ...headers.with(length, "14"), "Connection", "keep-alive"];
    expect(upstream.seen[0]?.rawHeaders).toEqual(wanted);
    expect(planner.planned).toMatchObject([{ body: body.toString() }]);
  });

  test("may be large and in many pieces, and replace a large one", async () => {
    const large = Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => (at * 7) % 251));
    const cuts = Array.from({ length: 300 }, (_, at) =>
      inSharedMemory(large.subarray(at * 10_000, (at + 1) * 10_000)),
    );
    const length = large.length;
    await echo(fakePlanner({ plan: (meta) => managedPlan(meta, [], { pieces: cuts, length }) }));
    const mine = Buffer.alloc(5_000_000, "x");
    const got = await postJson(relay.proxy.port, "/v1/messages", mine);
    expect(got.body.equals(large)).toBe(true);
    expect(planner.planned[0]?.body === mine.toString()).toBe(true);
    await until(() => relay.proxy.metrics().active === 0);
    expect(relay.proxy.metrics().bytesUp).toBe(length);
  });

  test("has a length and no trailers if the client's was chunked", async () => {
    await echo(replacingPlanner());
    const pieces = ["a", "", "b".repeat(2_000), "c"].map((text) => Buffer.from(text));
    const headers = [...chunked, "Trailer", "X-Sum"];
    const got = await sendRequest({ port: relay.proxy.port, headers, body: pieces });
    expect(got.body.toString()).toBe('{"ours":[1,2]}');
    expect(planner.planned).toMatchObject([
      { meta: { length: null }, body: Buffer.concat(pieces).toString() },
    ]);
    const { rawHeaders = [] } = upstream.seen[0] ?? {};
    expect(rawHeaders.join("|")).toContain("|Content-Length|14|");
    expect(isEmpty(rawHeaders, "transfer-encoding") && isEmpty(rawHeaders, "trailer")).toBe(true);
  });

  test("keeps chunks and trailers if it is the client's", async () => {
    await echo(fakePlanner({ plan: rawPlan }));
    const outgoing = request({
      host: "127.0.0.1",
      port: relay.proxy.port,
      method: "POST",
      path: "/v1/messages",
      headers: { "content-type": "application/json", "transfer-encoding": "chunked", trailer: "X-Sum" },
    });
    outgoing.addTrailers({ "X-Sum": "7" });
    const got = new Promise<Buffer>((resolve, reject) => {
      outgoing.once("response", (incoming) => bodyOf(incoming).then(resolve, reject));
    });
    outgoing.write("one");
    outgoing.end("two");
    expect((await got).toString()).toBe("onetwo");
    expect(upstream.seen[0]?.rawTrailers).toEqual(["X-Sum", "7"]);
    await until(() => relay.responses.length === 1);
    expect(relay.requests).toMatchObject([{ body: new Uint8Array(Buffer.from("onetwo")), sent: null }]);
  });

  test("comes with its betas", async () => {
    await echo(fakePlanner({ plan: (meta) => managedPlan(meta, ["{}"], { betas: ["b-2", "a-1"] }) }));
    const headers = ["Anthropic-Beta", "a-1", ...json(body.length)];
    await sendRequest({ port: relay.proxy.port, headers, body });
    await postJson(relay.proxy.port, "/v1/messages", body);
    const lines = upstream.seen.map(({ rawHeaders }) => rawHeaders.join("|"));
    expect(lines[0]).toContain("|Anthropic-Beta|a-1,b-2|");
    expect(lines[1]).toContain("|anthropic-beta|b-2,a-1");
  });

  test("is planned for a client that expects 100 Continue", async () => {
    await echo(replacingPlanner());
    const headers = ["Expect", "100-continue", ...json(body.length)];
    const got = await sendRequest({ port: relay.proxy.port, headers, body });
    expect(got.body.toString()).toBe('{"ours":[1,2]}');
    expect(isEmpty(upstream.seen[0]?.rawHeaders ?? [], "expect")).toBe(true);
  });

  test("is sent again if the connection was stale", async () => {
    const bodies: string[] = [];
    upstream = await startSocketUpstream((socket) => {
      let served = 0;
      socket.on("data", (chunk) => {
        served += 1;
        bodies.push(chunk.toString().split("\r\n\r\n")[1] ?? "");
        if (served > 1) socket.resetAndDestroy();
        else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      });
    });
    planner = replacingPlanner();
    relay = await startRelay(upstream.url, { planner });
    for (let round = 0; round < 2; round += 1) {
      expect((await postJson(relay.proxy.port, "/v1/messages", body)).status).toBe(200);
    }
    expect(bodies).toEqual(Array(3).fill('{"ours":[1,2]}'));
    await until(() => planner.finished.length === 2);
    expect(relay.proxy.metrics()).toMatchObject({ retried: 1, failed: 0 });
    expect(relay.requests).toHaveLength(2);
  });
});

describe("the planner is asked", () => {
  test("with the description of the request, without secrets in what may be recorded", async () => {
    await echo(fakePlanner({ plan: rawPlan, needsBody: () => false }));
    const ours = ["X-Aperture-Mode", "observe", "X-Aperture-Bypass", "1", "X-Aperture-Session", "s"];
    const headers = [...ours, "Authorization", "Bearer sk-ant-oat01-secret", ...json(body.length)];
    await sendRequest({ port: relay.proxy.port, path: "/v1/messages?beta=true", headers, body });
    expect(planner.offered).toMatchObject([
      {
        protocol: "anthropic",
        upstream: "anthropic",
        method: "POST",
        target: "/v1/messages?beta=true",
        length: body.length,
        isLogin: true,
        headers: { "x-aperture-mode": "observe", "x-aperture-bypass": "1", "x-aperture-session": "s" },
        caller: { secrets: ["sk-ant-oat01-secret"] },
      },
    ]);
    const [{ caller, ...rest } = { caller: null }] = planner.offered;
    expect(JSON.stringify([rest, caller?.credential])).not.toContain("secret");
    expect(upstream.seen[0]?.rawHeaders.join("|")).not.toMatch(/aperture/i);
    await until(() => relay.responses.length === 1);
    expect([planner.planned, planner.finished]).toEqual([[], []]);
    expect(relay.requests).toMatchObject([
      { id: planner.offered[0]?.id, body: new Uint8Array(body), sent: null },
    ]);
  });

  const zipped = gzipSync(body);
  test.each([
    ["compressed", ["Content-Encoding", "gzip", ...json(zipped.length)], zipped],
    ["digested", ["Content-Digest", "sha-256=:x:", ...json(body.length)], body],
    ["signed", ["Authorization", "AWS4-HMAC-SHA256 Credential=A", ...json(body.length)], body],
    ["empty", json(0), Buffer.alloc(0)],
    ["larger than what is kept", json(200), Buffer.alloc(200, "x")],
  ])("for no body that is %s", async (_name, headers, sent) => {
    await echo(replacingPlanner(), { keptBytesMax: 100 });
    const got = await sendRequest({ port: relay.proxy.port, headers, body: sent });
    expect(got.body).toEqual(sent);
    expect(planner.offered).toEqual([]);
  });

  test("for no request that is not recorded", async () => {
    await echo(replacingPlanner());
    expect((await postJson(relay.proxy.port, "/v1/files", body)).body).toEqual(body);
    expect(planner.offered).toEqual([]);
  });

  test("for no plan if the body turns out to be too large to keep", async () => {
    await echo(replacingPlanner(), { keptBytesMax: 100_000 });
    const pieces = Array.from({ length: 9 }, (_, at) => Buffer.alloc(30_000, at));
    const got = await sendRequest({ port: relay.proxy.port, headers: chunked, body: pieces });
    expect(got.body.equals(Buffer.concat(pieces))).toBe(true);
    expect([planner.offered.length, planner.planned.length]).toEqual([1, 0]);
    await until(() => relay.responses.length === 1);
    expect(relay.requests).toMatchObject([{ body: null, length: 270_000, sent: null }]);
  });
});

describe("the recorder", () => {
  test("gets the request before the upstream does, with the client's body and what was sent", async () => {
    const known: number[] = [];
    upstream = await startUpstream((_seen, response) => {
      known.push(relay.requests.length);
      response.end("fine");
    });
    planner = replacingPlanner();
    relay = await startRelay(upstream.url, { planner });
    await postJson(relay.proxy.port, "/v1/messages", body);
    expect(known).toEqual([1]);
    const clientBody = new Uint8Array(Buffer.from("the client's"));
    expect(relay.requests).toMatchObject([
      { body: clientBody, length: clientBody.length, sent: { leaf: 'leaf of {"ours":[1,2]}' } },
    ]);
    await until(() => relay.responses.length === 1);
    expect(relay.responses).toMatchObject([{ outcome: "complete", status: 200 }]);
    expect(relay.resends).toEqual([]);
  });

  test("gets every answer before the next request, and so does the planner", async () => {
    const log: Record<"planner" | "recorder", string[]> = { planner: [], recorder: [] };
    upstream = await startUpstream((_seen, response) => response.end("fine"));
    planner = fakePlanner({
      plan: (meta) => {
        log.planner.push("plan");
        return managedPlan(meta, ["{}"]);
      },
      finish: () => {
        log.planner.push("finish");
        return null;
      },
    });
    const recorder = {
      recordRequest: () => log.recorder.push("request"),
      recordResend: ignore,
      recordResponse: () => log.recorder.push("response"),
    };
    relay = await startRelay(upstream.url, { planner, recorder });
    for (let round = 0; round < 20; round += 1) await postJson(relay.proxy.port, "/v1/messages", body);
    await until(() => log.recorder.length === 40);
    expect(log.planner).toEqual(Array(20).fill(["plan", "finish"]).flat());
    expect(log.recorder).toEqual(Array(20).fill(["request", "response"]).flat());
  });
});

test("a complete answer is reported even if the client does not have it yet", async () => {
  upstream = await startUpstream((seen, response) => {
    if (seen.url !== "/v1/messages?slow") response.end("fast");
  });
  planner = fakePlanner({ plan: (meta) => managedPlan(meta, [meta.target]) });
  relay = await startRelay(upstream.url, { planner });
  const socket = connect({ host: "127.0.0.1", port: relay.proxy.port }).on("error", ignore);
  const head = (target: string) =>
    `POST ${target} HTTP/1.1\r\nHost: 127.0.0.1:${relay.proxy.port}\r\n` +
    "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
  // The second answer waits behind the first on this connection.
  socket.write(head("/v1/messages?slow") + head("/v1/messages?behind"));
  await until(() => upstream.seen.length === 2);
  await until(() => relay.proxy.metrics().active === 2);
  await postJson(relay.proxy.port, "/v1/messages", body);
  await until(() => planner.planned.length === 3);
  const behind = planner.planned.find(({ meta }) => meta.target.endsWith("behind"));
  expect(planner.finished[0]).toMatchObject({
    planned: { requestId: behind?.meta.id },
    answer: { status: 200, isComplete: true },
  });
  socket.destroy();
  await until(() => planner.finished.length === 3);
  expect(new Set(planner.finished.map(({ planned }) => planned.requestId)).size).toBe(3);
});

// What the desk gives goes upstream in place of the client's body, and nothing else changes.
import { request } from "node:http";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { type FakeDesk, fakeDesk, managed, raw, shared } from "./fake-desk.ts";
import {
  ask,
  bodyOf,
  ignore,
  json,
  postJson,
  type Relay,
  startRelay,
  startSocketUpstream,
  startUpstream,
  type Upstream,
  until,
} from "./harness.ts";

let upstream: Upstream;
let relay: Relay;
let desk: FakeDesk;

afterEach(async () => {
  await relay.proxy.close();
  await upstream.close();
});

const body = Buffer.from('{"mine":1}');
const chunked = ["Content-Type", "application/json", "Transfer-Encoding", "chunked"];
const isEmpty = (names: readonly string[], name: string) => !names.some((one) => one.toLowerCase() === name);

/** An upstream that says what it was sent, behind a relay with this desk. */
async function echo(given: FakeDesk, limits = {}): Promise<void> {
  desk = given;
  upstream = await startUpstream((seen, response) => response.end(seen.body));
  relay = await startRelay(upstream.url, { desk, limits });
}

const replacing = () => fakeDesk({ take: (asking) => managed(asking, ['{"ours"', ":[1,", "2]}"]) });

describe("the body", () => {
  test("is the desk's, byte for byte, under the client's headers", async () => {
    await echo(replacing());
    const headers = ["X-First", "1", ...json(body.length), "X-Api-Key", "sk-0123456789", "X-Last", "é"];
    const got = await ask({ port: relay.proxy.port, headers, body });
    expect([got.status, got.body.toString()]).toEqual([200, '{"ours":[1,2]}']);
    const host = ["Host", upstream.url.host];
    const length = headers.indexOf("Content-Length") + 1;
    const wanted = [...host, ...headers.with(length, "14"), "Connection", "keep-alive"];
    expect(upstream.seen[0]?.rawHeaders).toEqual(wanted);
    expect(desk.taken).toMatchObject([{ body: body.toString() }]);
  });

  test("may be large, in many pieces, in place of a large one", async () => {
    const large = Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => (at * 7) % 251));
    const cuts = Array.from({ length: 300 }, (_, at) =>
      shared(large.subarray(at * 10_000, (at + 1) * 10_000)),
    );
    const length = large.length;
    await echo(fakeDesk({ take: (asking) => managed(asking, [], { pieces: cuts, length }) }));
    const mine = Buffer.alloc(5_000_000, "x");
    const got = await postJson(relay.proxy.port, "/v1/messages", mine);
    expect(got.body.equals(large)).toBe(true);
    expect(desk.taken[0]?.body === mine.toString()).toBe(true);
    await until(() => relay.proxy.metrics().active === 0);
    expect(relay.proxy.metrics().bytesUp).toBe(length);
  });

  test("has a length where the client's came in chunks, and no trailers", async () => {
    await echo(replacing());
    const pieces = ["a", "", "b".repeat(2_000), "c"].map((text) => Buffer.from(text));
    const headers = [...chunked, "Trailer", "X-Sum"];
    const got = await ask({ port: relay.proxy.port, headers, body: pieces });
    expect(got.body.toString()).toBe('{"ours":[1,2]}');
    expect(desk.taken).toMatchObject([{ asking: { length: null }, body: Buffer.concat(pieces).toString() }]);
    const { rawHeaders = [] } = upstream.seen[0] ?? {};
    expect(rawHeaders.join("|")).toContain("|Content-Length|14|");
    expect(isEmpty(rawHeaders, "transfer-encoding") && isEmpty(rawHeaders, "trailer")).toBe(true);
  });

  test("that goes as it came keeps its chunks and trailers", async () => {
    await echo(fakeDesk({ take: raw }));
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
    await until(() => relay.answered.length === 1);
    expect(relay.requested).toMatchObject([{ body: new Uint8Array(Buffer.from("onetwo")), sent: null }]);
  });

  test("brings its betas along", async () => {
    await echo(fakeDesk({ take: (asking) => managed(asking, ["{}"], { betas: ["b-2", "a-1"] }) }));
    const headers = ["Anthropic-Beta", "a-1", ...json(body.length)];
    await ask({ port: relay.proxy.port, headers, body });
    await postJson(relay.proxy.port, "/v1/messages", body);
    const lines = upstream.seen.map(({ rawHeaders }) => rawHeaders.join("|"));
    expect(lines[0]).toContain("|Anthropic-Beta|a-1,b-2|");
    expect(lines[1]).toContain("|anthropic-beta|b-2,a-1");
  });

  test("is waited for where the client waits for a word first", async () => {
    await echo(replacing());
    const headers = ["Expect", "100-continue", ...json(body.length)];
    const got = await ask({ port: relay.proxy.port, headers, body });
    expect(got.body.toString()).toBe('{"ours":[1,2]}');
    expect(isEmpty(upstream.seen[0]?.rawHeaders ?? [], "expect")).toBe(true);
  });

  test("is sent again where the connection was dead", async () => {
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
    desk = replacing();
    relay = await startRelay(upstream.url, { desk });
    for (let round = 0; round < 2; round += 1) {
      expect((await postJson(relay.proxy.port, "/v1/messages", body)).status).toBe(200);
    }
    expect(bodies).toEqual(Array(3).fill('{"ours":[1,2]}'));
    await until(() => desk.ended.length === 2);
    expect(relay.proxy.metrics()).toMatchObject({ retried: 1, failed: 0 });
    expect(relay.requested).toHaveLength(2);
  });
});

describe("the desk is asked", () => {
  test("with what is known before the body, and nothing secret in what may be written down", async () => {
    await echo(fakeDesk({ take: raw, reads: () => false }));
    const ours = ["X-Aperture-Mode", "observe", "X-Aperture-Bypass", "1", "X-Aperture-Session", "s"];
    const headers = [...ours, "Authorization", "Bearer sk-ant-oat01-secret", ...json(body.length)];
    await ask({ port: relay.proxy.port, path: "/v1/messages?beta=true", headers, body });
    expect(desk.asked).toMatchObject([
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
    const [{ caller, ...rest } = { caller: null }] = desk.asked;
    expect(JSON.stringify([rest, caller?.credential])).not.toContain("secret");
    expect(upstream.seen[0]?.rawHeaders.join("|")).not.toMatch(/aperture/i);
    await until(() => relay.answered.length === 1);
    expect([desk.taken, desk.ended]).toEqual([[], []]);
    expect(relay.requested).toMatchObject([
      { id: desk.asked[0]?.id, body: new Uint8Array(body), sent: null },
    ]);
  });

  const zipped = gzipSync(body);
  test.each([
    ["compressed", ["Content-Encoding", "gzip", ...json(zipped.length)], zipped],
    ["vouched for", ["Content-Digest", "sha-256=:x:", ...json(body.length)], body],
    ["signed", ["Authorization", "AWS4-HMAC-SHA256 Credential=A", ...json(body.length)], body],
    ["empty", json(0), Buffer.alloc(0)],
    ["larger than what is kept", json(200), Buffer.alloc(200, "x")],
  ])("about no body that is %s", async (_name, headers, sent) => {
    await echo(replacing(), { keptBytesMax: 100 });
    const got = await ask({ port: relay.proxy.port, headers, body: sent });
    expect(got.body).toEqual(sent);
    expect(desk.asked).toEqual([]);
  });

  test("about no request that is not recorded", async () => {
    await echo(replacing());
    expect((await postJson(relay.proxy.port, "/v1/files", body)).body).toEqual(body);
    expect(desk.asked).toEqual([]);
  });

  test("no more about a body that turns out to be larger than what is kept", async () => {
    await echo(replacing(), { keptBytesMax: 100_000 });
    const pieces = Array.from({ length: 9 }, (_, at) => Buffer.alloc(30_000, at));
    const got = await ask({ port: relay.proxy.port, headers: chunked, body: pieces });
    expect(got.body.equals(Buffer.concat(pieces))).toBe(true);
    expect([desk.asked.length, desk.taken.length]).toEqual([1, 0]);
    await until(() => relay.answered.length === 1);
    expect(relay.requested).toMatchObject([{ body: null, length: 270_000, sent: null }]);
  });
});

describe("the record", () => {
  test("has the request before the upstream has it, and the client's body beside what was sent", async () => {
    const known: number[] = [];
    upstream = await startUpstream((_seen, response) => {
      known.push(relay.requested.length);
      response.end("fine");
    });
    desk = replacing();
    relay = await startRelay(upstream.url, { desk });
    await postJson(relay.proxy.port, "/v1/messages", body);
    expect(known).toEqual([1]);
    const clientBody = new Uint8Array(Buffer.from("the client's"));
    expect(relay.requested).toMatchObject([
      { body: clientBody, length: clientBody.length, sent: { leaf: 'leaf of {"ours":[1,2]}' } },
    ]);
    await until(() => relay.answered.length === 1);
    expect(relay.answered).toMatchObject([{ outcome: "complete", status: 200 }]);
    expect(relay.resent).toEqual([]);
  });

  test("hears of every answer before the next request, and so does the desk", async () => {
    const log: Record<"desk" | "record", string[]> = { desk: [], record: [] };
    upstream = await startUpstream((_seen, response) => response.end("fine"));
    desk = fakeDesk({
      take: (asking) => {
        log.desk.push("take");
        return managed(asking, ["{}"]);
      },
      answered: () => {
        log.desk.push("answered");
        return null;
      },
    });
    const recorder = {
      requested: () => log.record.push("requested"),
      resent: ignore,
      answered: () => log.record.push("answered"),
    };
    relay = await startRelay(upstream.url, { desk, recorder });
    for (let round = 0; round < 20; round += 1) await postJson(relay.proxy.port, "/v1/messages", body);
    await until(() => log.record.length === 40);
    expect(log.desk).toEqual(Array(20).fill(["take", "answered"]).flat());
    expect(log.record).toEqual(Array(20).fill(["requested", "answered"]).flat());
  });
});

test("an answer that came to its end is known though the client does not have it yet", async () => {
  upstream = await startUpstream((seen, response) => {
    if (seen.url !== "/v1/messages?slow") response.end("fast");
  });
  desk = fakeDesk({ take: (asking) => managed(asking, [asking.target]) });
  relay = await startRelay(upstream.url, { desk });
  const socket = connect({ host: "127.0.0.1", port: relay.proxy.port }).on("error", ignore);
  const head = (target: string) =>
    `POST ${target} HTTP/1.1\r\nHost: 127.0.0.1:${relay.proxy.port}\r\n` +
    "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
  // The second answer waits behind the first on this connection.
  socket.write(head("/v1/messages?slow") + head("/v1/messages?behind"));
  await until(() => upstream.seen.length === 2);
  await until(() => relay.proxy.metrics().active === 2);
  await postJson(relay.proxy.port, "/v1/messages", body);
  await until(() => desk.taken.length === 3);
  const behind = desk.taken.find(({ asking }) => asking.target.endsWith("behind"));
  expect(desk.ended[0]).toMatchObject({
    sending: { request: behind?.asking.id },
    answer: { status: 200, isComplete: true },
    body: "fast",
  });
  socket.destroy();
  await until(() => desk.ended.length === 3);
  expect(new Set(desk.ended.map(({ sending }) => sending.request)).size).toBe(3);
});

// A desk that is late, fails or refuses, and clients and upstreams that do not wait for it.
import { request } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { apertureError } from "../../src/base/index.ts";
import type { Asking, Desk, Sending } from "../../src/session/index.ts";
import { type FakeDesk, fakeDesk, managed } from "./fake-desk.ts";
import {
  ignore,
  json,
  pause,
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

async function echo(given: FakeDesk, limits = {}): Promise<void> {
  desk = given;
  upstream = await startUpstream((seen, response) => response.end(seen.body));
  relay = await startRelay(upstream.url, { desk, limits });
}

type Waiting = { readonly asking: Asking; readonly say: (sending: Sending) => void };

/** A desk that says nothing until it is told to. */
function slowDesk(): { readonly desk: FakeDesk; readonly waiting: Waiting[] } {
  const waiting: Waiting[] = [];
  const take = (asking: Asking) =>
    new Promise<Sending>((resolve) => {
      waiting.push({ asking, say: resolve });
    });
  return { desk: fakeDesk({ take }), waiting };
}

function leaver(port: number): { readonly leave: () => void } {
  const headers = ["Host", `127.0.0.1:${port}`, ...json(body.length)];
  const outgoing = request({ host: "127.0.0.1", port, method: "POST", path: "/v1/messages", headers });
  outgoing.on("error", ignore);
  outgoing.on("response", (incoming) => incoming.on("error", ignore).resume());
  outgoing.end(body);
  return { leave: () => outgoing.destroy() };
}

const nothing = {
  status: null,
  contentType: "",
  contentEncoding: "",
  body: null,
  isComplete: false,
  hasLeft: false,
};

describe("a desk that takes its time", () => {
  test("is waited for", async () => {
    const slow = slowDesk();
    await echo(slow.desk);
    const got = postJson(relay.proxy.port, "/v1/messages", body);
    await until(() => slow.waiting.length === 1);
    await pause(50);
    expect([upstream.opened(), relay.requested.length]).toEqual([0, 0]);
    const [{ asking, say } = { asking: null, say: ignore }] = slow.waiting;
    if (asking !== null) say(managed(asking, ["late"]));
    expect((await got).body.toString()).toBe("late");
    await until(() => desk.ended.length === 1);
    expect(desk.ended).toMatchObject([{ answer: { status: 200, isComplete: true }, body: "late" }]);
    expect(relay.proxy.metrics().deskFaults).toBe(0);
  });

  test("sends nothing once the client has left, and is told so", async () => {
    const slow = slowDesk();
    await echo(slow.desk);
    const client = leaver(relay.proxy.port);
    await until(() => slow.waiting.length === 1);
    client.leave();
    await until(() => relay.answered.length === 1);
    expect(relay.requested).toMatchObject([{ body: new Uint8Array(body), sent: null }]);
    expect(relay.answered).toMatchObject([{ outcome: "aborted", status: null }]);
    expect(desk.ended).toEqual([]);
    for (const { asking, say } of slow.waiting) say(managed(asking, ["too late"]));
    await until(() => desk.ended.length === 1);
    expect(desk.ended[0]?.answer).toEqual(nothing);
    expect(upstream.opened()).toBe(0);
  });

  test("is waited for only so long: then the body goes as it came", async () => {
    const slow = slowDesk();
    await echo(slow.desk, { takeMs: 30 });
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect(got.body).toEqual(body);
    await until(() => relay.answered.length === 1);
    expect(relay.requested).toMatchObject([{ body: new Uint8Array(body), sent: null }]);
    for (const { asking, say } of slow.waiting) say(managed(asking, ["too late"]));
    await until(() => desk.ended.length === 1);
    expect(desk.ended[0]?.answer).toEqual(nothing);
    expect([upstream.seen.length, relay.proxy.metrics().deskFaults]).toEqual([1, 1]);
  });
});

describe("a desk that fails", () => {
  const broken = (): never => {
    throw new Error("desk");
  };
  const take: Desk["take"] = (asking) => managed(asking, ["ours"]);
  test.each([
    ["when it is asked", { take, reads: broken }],
    ["when it takes", { take: broken }],
    ["later", { take: () => Promise.reject(new Error("desk")) }],
    ["to give headers that can be sent", { take: (asking) => managed(asking, ["x"], { betas: ["a\nb"] }) }],
    ["to give bytes", { take: (asking) => managed(asking, ["x"], { pieces: [1] as never }) }],
    ["to give anything", { take: () => undefined as never }],
  ] satisfies [string, Parameters<typeof fakeDesk>[0]][])("%s costs nothing", async (_name, parts) => {
    await echo(fakeDesk(parts));
    for (let round = 1; round <= 2; round += 1) {
      const got = await postJson(relay.proxy.port, "/v1/messages", body);
      expect([got.status, got.body]).toEqual([200, body]);
    }
    await until(() => relay.answered.length === 2);
    expect(upstream.seen).toHaveLength(2);
    expect(relay.proxy.metrics()).toMatchObject({ deskFaults: 2, failed: 0 });
  });

  test("to give what can be sent is told so, and the record knows only what was sent", async () => {
    await echo(fakeDesk({ take: (asking) => managed(asking, ["x"], { betas: ["a\nb"] }) }));
    await postJson(relay.proxy.port, "/v1/messages", body);
    await until(() => relay.answered.length === 1);
    expect(desk.ended.map(({ answer }) => answer)).toEqual([nothing]);
    expect([relay.requested.map(({ sent }) => sent), relay.resent]).toEqual([[null], []]);
  });

  test("when it is told how it ended is nobody else's trouble", async () => {
    await echo(fakeDesk({ take, answered: broken }));
    expect((await postJson(relay.proxy.port, "/v1/messages", body)).body.toString()).toBe("ours");
    await until(() => relay.answered.length === 1);
    expect(relay.proxy.metrics()).toMatchObject({ deskFaults: 1, recorderFaults: 0 });
    expect(desk.ended).toHaveLength(1);
  });
});

describe("the desk is told once", () => {
  const take: Desk["take"] = (asking) => managed(asking, ["ours"]);

  test("of what it refused to send, and the client by name", async () => {
    const refusal = apertureError("AP_CONTROL_FAULT");
    await echo(fakeDesk({ take: (asking) => managed(asking, [], { refusal }) }));
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect(got.status).toBe(409);
    expect(JSON.parse(got.body.toString())).toMatchObject({
      type: "error",
      error: { type: "invalid_request_error", message: expect.stringContaining(refusal.code) },
    });
    await until(() => relay.answered.length === 1);
    expect(upstream.opened()).toBe(0);
    expect(desk.ended.map(({ answer }) => answer)).toMatchObject([{ status: null, isComplete: false }]);
    expect(relay.requested).toHaveLength(1);
    expect(relay.answered).toMatchObject([{ outcome: "failed", problem: refusal.message }]);
  });

  test("of an upstream that is not there", async () => {
    await echo(fakeDesk({ take }));
    const gone = await startUpstream((_seen, response) => response.end());
    await gone.close();
    await relay.proxy.close();
    relay = await startRelay(gone.url, { desk });
    expect((await postJson(relay.proxy.port, "/v1/messages", body)).status).toBe(502);
    await until(() => relay.answered.length === 1);
    expect(desk.ended.map(({ answer }) => answer)).toMatchObject([{ status: null, isComplete: false }]);
    expect(relay.requested).toMatchObject([{ sent: { rendering: "managed" } }]);
  });

  test("of a client that leaves in the middle of an answer", async () => {
    desk = fakeDesk({ take });
    upstream = await startUpstream((_seen, response) =>
      response.writeHead(200, { "Content-Type": "text/event-stream" }).write("half"),
    );
    relay = await startRelay(upstream.url, { desk });
    const client = leaver(relay.proxy.port);
    await until(() => upstream.seen.length === 1);
    await pause(30);
    client.leave();
    await until(() => relay.answered.length === 1);
    expect(desk.ended).toMatchObject([
      { answer: { status: 200, contentType: "text/event-stream", isComplete: false }, body: "half" },
    ]);
  });

  test("of an answer that breaks off", async () => {
    desk = fakeDesk({ take });
    upstream = await startSocketUpstream((socket) =>
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")),
    );
    relay = await startRelay(upstream.url, { desk });
    await expect(postJson(relay.proxy.port, "/v1/messages", body)).rejects.toThrow();
    await until(() => relay.answered.length === 1);
    expect(desk.ended).toMatchObject([{ answer: { status: 200, isComplete: false }, body: "half" }]);
  });
});

test("a client that leaves before its body is whole is not for the desk", async () => {
  await echo(fakeDesk({ take: (asking) => managed(asking, ["ours"]) }));
  const { port } = relay.proxy;
  const socket = connect({ host: "127.0.0.1", port }).on("error", ignore);
  const head = [`Host: 127.0.0.1:${port}`, "Content-Type: application/json", "Content-Length: 100"];
  socket.write(`POST /v1/messages HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\nhalf`);
  await until(() => desk.asked.length === 1);
  socket.destroy();
  await until(() => relay.answered.length === 1);
  expect([desk.taken.length, desk.ended.length, upstream.opened()]).toEqual([0, 0, 0]);
  expect(relay.answered).toMatchObject([{ outcome: "aborted", status: null }]);
});

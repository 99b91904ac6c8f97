// A planner that is late, fails or refuses, and clients and upstreams that do not wait for it.
import { request } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { apertureError } from "../../src/base/index.ts";
import type { PlannedRequest, Planner, RequestMeta } from "../../src/exchange/index.ts";
import { type FakePlanner, fakePlanner, managedPlan } from "./fake-planner.ts";
import {
  ignore,
  json,
  pause,
  postJson,
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

async function echo(fake: FakePlanner, limits = {}): Promise<void> {
  planner = fake;
  upstream = await startUpstream((seen, response) => response.end(seen.body));
  relay = await startRelay(upstream.url, { planner, limits });
}

type PendingPlan = { readonly meta: RequestMeta; readonly resolve: (planned: PlannedRequest) => void };

/** A planner whose plans come when the test says so. */
function slowPlanner(): { readonly planner: FakePlanner; readonly pending: PendingPlan[] } {
  const pending: PendingPlan[] = [];
  const plan = (meta: RequestMeta) =>
    new Promise<PlannedRequest>((resolve) => {
      pending.push({ meta, resolve });
    });
  return { planner: fakePlanner({ plan }), pending };
}

function leaver(port: number): { readonly leave: () => void } {
  const headers = ["Host", `127.0.0.1:${port}`, ...json(body.length)];
  const outgoing = request({ host: "127.0.0.1", port, method: "POST", path: "/v1/messages", headers });
  outgoing.on("error", ignore);
  outgoing.on("response", (incoming) => incoming.on("error", ignore).resume());
  outgoing.end(body);
  return { leave: () => outgoing.destroy() };
}

const unsent = {
  status: null,
  answer: null,
  isComplete: false,
  isRequestFlushed: false,
};

describe("a slow planner", () => {
  test("is awaited", async () => {
    const slow = slowPlanner();
    await echo(slow.planner);
    const got = postJson(relay.proxy.port, "/v1/messages", body);
    await until(() => slow.pending.length === 1);
    await pause(50);
    expect([upstream.openedCount(), relay.requests.length]).toEqual([0, 0]);
    const [{ meta, resolve } = { meta: null, resolve: ignore }] = slow.pending;
    if (meta !== null) resolve(managedPlan(meta, ["late"]));
    expect((await got).body.toString()).toBe("late");
    await until(() => planner.finished.length === 1);
    expect(planner.finished).toMatchObject([{ answer: { status: 200, isComplete: true } }]);
    expect(relay.proxy.metrics().plannerFaults).toBe(0);
  });

  test("learns that its plan was not sent if the client has left", async () => {
    const slow = slowPlanner();
    await echo(slow.planner);
    const client = leaver(relay.proxy.port);
    await until(() => slow.pending.length === 1);
    client.leave();
    await until(() => relay.responses.length === 1);
    expect(relay.requests).toMatchObject([{ body: new Uint8Array(body), sent: null }]);
    expect(relay.responses).toMatchObject([{ outcome: "aborted", status: null }]);
    expect(planner.finished).toEqual([]);
    for (const { meta, resolve } of slow.pending) resolve(managedPlan(meta, ["too late"]));
    await until(() => planner.finished.length === 1);
    expect(planner.finished[0]?.answer).toEqual(unsent);
    expect(upstream.openedCount()).toBe(0);
  });

  test("is awaited for a limited time, then the client's body is sent", async () => {
    const slow = slowPlanner();
    await echo(slow.planner, { planMs: 30 });
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect(got.body).toEqual(body);
    await until(() => relay.responses.length === 1);
    expect(relay.requests).toMatchObject([{ body: new Uint8Array(body), sent: null }]);
    for (const { meta, resolve } of slow.pending) resolve(managedPlan(meta, ["too late"]));
    await until(() => planner.finished.length === 1);
    expect(planner.finished[0]?.answer).toEqual(unsent);
    expect([upstream.seen.length, relay.proxy.metrics().plannerFaults]).toEqual([1, 1]);
  });
});

describe("a planner that fails", () => {
  const broken = (): never => {
    throw new Error("planner");
  };
  const plan: Planner["plan"] = (meta) => managedPlan(meta, ["ours"]);
  test.each([
    ["in needsBody", { plan, needsBody: broken }],
    ["in plan", { plan: broken }],
    ["asynchronously", { plan: () => Promise.reject(new Error("planner")) }],
    ["with invalid headers", { plan: (meta) => managedPlan(meta, ["x"], { betas: ["a\nb"] }) }],
    ["with invalid bytes", { plan: (meta) => managedPlan(meta, ["x"], { pieces: [1] as never }) }],
    ["without a plan", { plan: () => undefined as never }],
  ] satisfies [string, Parameters<typeof fakePlanner>[0]][])(
    "%s does not affect the client",
    async (_name, parts) => {
      await echo(fakePlanner(parts));
      for (let round = 1; round <= 2; round += 1) {
        const got = await postJson(relay.proxy.port, "/v1/messages", body);
        expect([got.status, got.body]).toEqual([200, body]);
      }
      await until(() => relay.responses.length === 2);
      expect(upstream.seen).toHaveLength(2);
      expect(relay.proxy.metrics()).toMatchObject({ plannerFaults: 2, failed: 0 });
    },
  );

  test("with an invalid plan learns that it was not sent, and only the sent body is recorded", async () => {
    await echo(fakePlanner({ plan: (meta) => managedPlan(meta, ["x"], { betas: ["a\nb"] }) }));
    await postJson(relay.proxy.port, "/v1/messages", body);
    await until(() => relay.responses.length === 1);
    expect(planner.finished.map(({ answer }) => answer)).toEqual([unsent]);
    expect([relay.requests.map(({ sent }) => sent), relay.resends]).toEqual([[null], []]);
  });

  test("in finish does not affect client and recorder", async () => {
    await echo(fakePlanner({ plan, finish: broken }));
    expect((await postJson(relay.proxy.port, "/v1/messages", body)).body.toString()).toBe("ours");
    await until(() => relay.responses.length === 1);
    expect(relay.proxy.metrics()).toMatchObject({ plannerFaults: 1, recorderFaults: 0 });
    expect(planner.finished).toHaveLength(1);
  });
});

describe("a plan is finished once", () => {
  const plan: Planner["plan"] = (meta) => managedPlan(meta, ["ours"]);

  test("if the planner refused to send, and the client gets the error", async () => {
    const refusal = apertureError("AP_CONTROL_FAULT");
    await echo(fakePlanner({ plan: (meta) => managedPlan(meta, [], { refusal }) }));
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect(got.status).toBe(409);
    expect(JSON.parse(got.body.toString())).toMatchObject({
      type: "error",
      error: { type: "invalid_request_error", message: expect.stringContaining(refusal.code) },
    });
    await until(() => relay.responses.length === 1);
    expect(upstream.openedCount()).toBe(0);
    expect(planner.finished.map(({ answer }) => answer)).toMatchObject([{ status: null, isComplete: false }]);
    expect(relay.requests).toHaveLength(1);
    expect(relay.responses).toMatchObject([{ outcome: "failed", problem: refusal.message }]);
  });

  test("if the upstream is not there", async () => {
    await echo(fakePlanner({ plan }));
    const gone = await startUpstream((_seen, response) => response.end());
    await gone.close();
    await relay.proxy.close();
    relay = await startRelay(gone.url, { planner });
    expect((await postJson(relay.proxy.port, "/v1/messages", body)).status).toBe(502);
    await until(() => relay.responses.length === 1);
    expect(planner.finished.map(({ answer }) => answer)).toMatchObject([{ status: null, isComplete: false }]);
    expect(relay.requests).toMatchObject([{ sent: { rendering: "managed" } }]);
  });

  test("if the client leaves in the middle of an answer", async () => {
    planner = fakePlanner({ plan });
    upstream = await startUpstream((_seen, response) =>
      response.writeHead(200, { "Content-Type": "text/event-stream" }).write("half"),
    );
    relay = await startRelay(upstream.url, { planner });
    const client = leaver(relay.proxy.port);
    await until(() => upstream.seen.length === 1);
    await pause(30);
    client.leave();
    await until(() => relay.responses.length === 1);
    expect(planner.finished).toMatchObject([
      {
        answer: {
          status: 200,
          isComplete: false,
          answer: { isWhole: false, problem: "it ends inside an event" },
        },
      },
    ]);
  });

  test("if the answer breaks off", async () => {
    planner = fakePlanner({ plan });
    upstream = await startSocketUpstream((socket) =>
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")),
    );
    relay = await startRelay(upstream.url, { planner });
    await expect(postJson(relay.proxy.port, "/v1/messages", body)).rejects.toThrow();
    await until(() => relay.responses.length === 1);
    expect(planner.finished).toMatchObject([{ answer: { status: 200, isComplete: false } }]);
  });
});

test("a request whose client leaves before its body is whole is not planned", async () => {
  await echo(fakePlanner({ plan: (meta) => managedPlan(meta, ["ours"]) }));
  const { port } = relay.proxy;
  const socket = connect({ host: "127.0.0.1", port }).on("error", ignore);
  const head = [`Host: 127.0.0.1:${port}`, "Content-Type: application/json", "Content-Length: 100"];
  socket.write(`POST /v1/messages HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\nhalf`);
  await until(() => planner.offered.length === 1);
  socket.destroy();
  await until(() => relay.responses.length === 1);
  expect([planner.planned.length, planner.finished.length, upstream.openedCount()]).toEqual([0, 0, 0]);
  expect(relay.responses).toMatchObject([{ outcome: "aborted", status: null }]);
});

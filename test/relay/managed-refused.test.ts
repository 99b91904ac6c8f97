// The planner sees a refusal of the upstream before the client does: it may have another plan.
import { request } from "node:http";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { apertureError } from "../../src/base/index.ts";
import type { PlannedRequest, Planner } from "../../src/exchange/index.ts";
import { type FakePlanner, fakePlanner, inSharedMemory, managedPlan, sentRequestOf } from "./fake-planner.ts";
import {
  ignore,
  json,
  pause,
  postJson,
  sendBytes,
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
const problem = '{"type":"error","error":{"type":"invalid_request_error","message":"bound"}}';
const plan: Planner["plan"] = (meta) => managedPlan(meta, ["first"], { mayRetry: true });
const secondPlan = (planned: PlannedRequest, more: Partial<PlannedRequest> = {}): PlannedRequest => {
  const pieces = ["sec", "ond"].map((text) => inSharedMemory(Buffer.from(text)));
  return { ...planned, pieces, length: 6, sent: sentRequestOf("second"), betas: ["b-2"], ...more };
};

/** Refuses these bodies and accepts all others. */
async function startRefusingUpstream(fake: FakePlanner, refused: readonly string[]): Promise<void> {
  planner = fake;
  upstream = await startUpstream((seen, response) => {
    if (refused.includes(seen.body.toString())) response.writeHead(400, { "X-No": "1" }).end(problem);
    else response.end(`${seen.body} accepted`);
  });
  relay = await startRelay(upstream.url, { planner });
}

describe("a refusal", () => {
  test("that the planner has another plan for never reaches the client", async () => {
    await startRefusingUpstream(fakePlanner({ plan, planRetry: (planned) => secondPlan(planned) }), [
      "first",
    ]);
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect([got.status, got.body.toString(), got.headers["x-no"]]).toEqual([
      200,
      "second accepted",
      undefined,
    ]);
    expect(planner.refusals).toEqual([problem]);
    const [first, other] = upstream.seen.map(({ rawHeaders }) => rawHeaders.join("|"));
    expect(first).toContain("|Content-Length|5|");
    expect(other).toContain("|Content-Length|6|");
    expect(other).toContain("|anthropic-beta|b-2");
    expect(upstream.openedCount()).toBe(1);
    await until(() => relay.responses.length === 1);
    expect(relay.proxy.metrics()).toMatchObject({
      plannerRefusals: 1,
      plannerRetries: 1,
      plannerFaults: 0,
      bytesUp: 11,
    });
  });

  test("and the second attempt are reported to recorder and planner, each once", async () => {
    await startRefusingUpstream(fakePlanner({ plan, planRetry: (planned) => secondPlan(planned) }), [
      "first",
    ]);
    await postJson(relay.proxy.port, "/v1/messages", body);
    await until(() => relay.responses.length === 1);
    expect(relay.requests).toMatchObject([{ sent: { leaf: "leaf of first" } }]);
    const id = relay.requests[0]?.id;
    expect(relay.resends).toMatchObject([{ id, sent: { leaf: "leaf of second" } }]);
    expect(relay.responses).toMatchObject([{ id, status: 200, outcome: "complete" }]);
    expect(planner.finished).toMatchObject([
      { planned: { length: 5 }, answer: { status: 400, isComplete: true } },
      { planned: { length: 6 }, answer: { status: 200, isComplete: true } },
    ]);
  });

  test("of the second attempt reaches the client", async () => {
    await startRefusingUpstream(fakePlanner({ plan, planRetry: (planned) => secondPlan(planned) }), [
      "first",
      "second",
    ]);
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect([got.status, got.body.toString()]).toEqual([400, problem]);
    await until(() => relay.responses.length === 1);
    expect([planner.refusals.length, upstream.seen.length]).toEqual([1, 2]);
    expect(planner.finished.map(({ answer }) => answer.status)).toEqual([400, 400]);
  });

  test("may be replaced by one of ours", async () => {
    const refusal = apertureError("AP_CONTROL_FAULT");
    await startRefusingUpstream(
      fakePlanner({ plan, planRetry: (planned) => secondPlan(planned, { refusal }) }),
      ["first"],
    );
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect([got.status, got.body.toString()]).toEqual([409, expect.stringContaining(refusal.code)]);
    await until(() => relay.responses.length === 1);
    expect(upstream.seen).toHaveLength(1);
    expect(planner.finished.map(({ answer }) => answer.status)).toEqual([400, null]);
  });

  test.each([
    [
      "if the planner throws",
      {
        planRetry: () => {
          throw new Error("planner");
        },
      },
      { plannerFaults: 1 },
    ],
    ["if the planner has no other plan", {}, { plannerFaults: 0 }],
  ])("reaches the client %s", async (_name, parts: Partial<Planner>, counts) => {
    await startRefusingUpstream(fakePlanner({ plan, ...parts }), ["first"]);
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect([got.status, got.body.toString(), got.headers["x-no"]]).toEqual([400, problem, "1"]);
    await until(() => relay.responses.length === 1);
    expect(relay.responses).toMatchObject([{ status: 400, outcome: "complete", length: problem.length }]);
    expect(relay.proxy.metrics()).toMatchObject({ plannerRefusals: 1, plannerRetries: 0, ...counts });
    expect(planner.finished).toMatchObject([{ answer: { status: 400, isComplete: true } }]);
  });

  test.each([
    [400, false],
    [401, true],
    [413, true],
    [529, true],
  ])("with status %i (mayRetry: %s) is not shown to the planner", async (status, mayRetry) => {
    planner = fakePlanner({ plan: (meta) => managedPlan(meta, ["first"], { mayRetry }) });
    upstream = await startUpstream((_seen, response) => response.writeHead(status).end(problem));
    relay = await startRelay(upstream.url, { planner });
    expect((await postJson(relay.proxy.port, "/v1/messages", body)).status).toBe(status);
    expect(planner.refusals).toEqual([]);
  });
});

/** Answers the first request of each connection with these bytes, then calls `then`. */
async function startRawUpstream(fake: FakePlanner, bytes: Buffer, then: (socket: Socket) => void = ignore) {
  planner = fake;
  upstream = await startSocketUpstream((socket) =>
    socket.once("data", () => {
      socket.write(bytes, () => then(socket));
    }),
  );
}

const requestIdHeader = /x-aperture-request-id: [0-9a-f-]{36}/;

/** Everything a client reads, without the request id, which differs each time. */
async function clientText(fake: Planner | null, limits = {}): Promise<string> {
  relay = await startRelay(upstream.url, { planner: fake, limits });
  const { port } = relay.proxy;
  const text = await sendBytes(
    port,
    `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n` +
      "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
  );
  expect(text).toMatch(requestIdHeader);
  return text.replace(requestIdHeader, "");
}

const zipped = gzipSync(problem);
const chunks = (text: string) =>
  text.replace(/.{20}|.+$/gs, (part) => `${part.length.toString(16)}\r\n${part}\r\n`);
const answers: readonly (readonly [string, Buffer])[] = [
  ["with a length", Buffer.from(`Content-Length: ${problem.length}\r\n\r\n${problem}`)],
  [
    "in chunks, with trailers",
    Buffer.from(`Transfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n${chunks(problem)}0\r\nX-T: 1\r\n\r\n`),
  ],
  [
    "compressed",
    Buffer.concat([
      Buffer.from(`Content-Encoding: gzip\r\nContent-Length: ${zipped.length}\r\n\r\n`),
      zipped,
    ]),
  ],
];
const refusalBytes = (rest: Buffer) =>
  Buffer.concat([Buffer.from("HTTP/1.1 400 Oh No\r\nX-B: 1\r\nx-a: 2\r\nSet-Cookie: q\r\n"), rest]);

describe("a refusal that is passed on has the same bytes as without a planner", () => {
  test.each(answers)("%s", async (_name, rest) => {
    await startRawUpstream(fakePlanner({ plan }), refusalBytes(rest));
    const plain = await clientText(null);
    await relay.proxy.close();
    expect(await clientText(planner)).toBe(plain);
    expect(plain).toContain("HTTP/1.1 400 Oh No");
    expect(planner.refusals).toEqual([problem]);
  });

  test("delimited by the end of its connection", async () => {
    const rest = Buffer.from(`Connection: close\r\n\r\n${problem}`);
    await startRawUpstream(fakePlanner({ plan }), refusalBytes(rest), (socket) => socket.end());
    const plain = await clientText(null);
    await relay.proxy.close();
    expect(await clientText(planner)).toBe(plain);
    expect(plain).toContain(problem);
    expect(planner.refusals).toEqual([problem]);
  });

  test.each([
    ["cut short", (socket: Socket) => socket.end()],
    ["reset", (socket: Socket) => setTimeout(() => socket.resetAndDestroy(), 5)],
  ])("%s, and is not shown to the planner", async (_name, cut) => {
    await startRawUpstream(
      fakePlanner({ plan }),
      refusalBytes(Buffer.from("Content-Length: 99\r\n\r\nhalf")),
      cut,
    );
    const plain = await clientText(null);
    await relay.proxy.close();
    expect(await clientText(planner)).toBe(plain);
    expect(plain.endsWith("\r\n\r\nhalf")).toBe(true);
    await until(() => relay.responses.length === 1);
    expect(relay.responses).toMatchObject([{ outcome: "truncated", status: 400 }]);
    expect(planner.refusals).toEqual([]);
    expect(planner.finished).toMatchObject([{ answer: { status: 400, isComplete: false } }]);
  });

  test("if it is too large to be held", async () => {
    const large = "x".repeat(300_000);
    await startRawUpstream(
      fakePlanner({ plan }),
      refusalBytes(Buffer.from(`Content-Length: 300000\r\n\r\n${large}`)),
    );
    expect((await clientText(planner)).endsWith(`\r\n\r\n${large}`)).toBe(true);
    expect(planner.refusals).toEqual([]);
  });

  test("if it is too slow to be held", async () => {
    await startRawUpstream(
      fakePlanner({ plan }),
      refusalBytes(Buffer.from("Content-Length: 8\r\n\r\nhalf")),
      (socket) => setTimeout(() => socket.write("late"), 200),
    );
    expect((await clientText(planner, { holdMs: 20 })).endsWith("\r\n\r\nhalflate")).toBe(true);
    expect(planner.refusals).toEqual([]);
  });

  test("if its encoding is unknown", async () => {
    const rest = Buffer.from("Content-Encoding: odd\r\nContent-Length: 3\r\n\r\nodd");
    await startRawUpstream(fakePlanner({ plan }), refusalBytes(rest));
    expect((await clientText(planner)).endsWith("\r\n\r\nodd")).toBe(true);
    expect(planner.refusals).toEqual([]);
  });
});

test("a client that leaves while a refusal is held ends the exchange", async () => {
  await startRawUpstream(fakePlanner({ plan }), refusalBytes(Buffer.from("Content-Length: 8\r\n\r\nhalf")));
  relay = await startRelay(upstream.url, { planner });
  const { port } = relay.proxy;
  const headers = ["Host", `127.0.0.1:${port}`, ...json(2)];
  const outgoing = request({ host: "127.0.0.1", port, method: "POST", path: "/v1/messages", headers });
  outgoing.on("error", ignore).end("{}");
  await until(() => relay.requests.length === 1);
  await until(() => upstream.openCount() === 1);
  await pause(30);
  outgoing.destroy();
  await until(() => upstream.openCount() === 0);
  await until(() => relay.responses.length === 1);
  expect(relay.responses).toMatchObject([{ outcome: "aborted" }]);
  expect([planner.refusals.length, planner.finished.length]).toEqual([0, 1]);
});

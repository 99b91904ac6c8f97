// A refusal of the upstream is shown to the desk first: it may know another body.
import { request } from "node:http";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { apertureError } from "../../src/base/index.ts";
import type { Desk, Sending } from "../../src/session/index.ts";
import { type FakeDesk, fakeDesk, managed, reportOf, shared } from "./fake-desk.ts";
import {
  ignore,
  json,
  pause,
  postJson,
  type Relay,
  speak,
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
const problem = '{"type":"error","error":{"type":"invalid_request_error","message":"bound"}}';
const take: Desk["take"] = (asking) => managed(asking, ["first"], { mayRetry: true });
const second = (sending: Sending, more: Partial<Sending> = {}): Sending => {
  const pieces = ["sec", "ond"].map((text) => shared(Buffer.from(text)));
  return { ...sending, pieces, length: 6, sent: reportOf("second"), betas: ["b-2"], ...more };
};

/** Refuses bodies that say so, and answers the others. */
async function choosy(given: FakeDesk, refused: readonly string[]): Promise<void> {
  desk = given;
  upstream = await startUpstream((seen, response) => {
    if (refused.includes(seen.body.toString())) response.writeHead(400, { "X-No": "1" }).end(problem);
    else response.end(`${seen.body} accepted`);
  });
  relay = await startRelay(upstream.url, { desk });
}

describe("a refusal", () => {
  test("that the desk has an answer to is never seen by the client", async () => {
    await choosy(fakeDesk({ take, refused: (sending) => second(sending) }), ["first"]);
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect([got.status, got.body.toString(), got.headers["x-no"]]).toEqual([
      200,
      "second accepted",
      undefined,
    ]);
    expect(desk.refusals).toEqual([problem]);
    const [first, other] = upstream.seen.map(({ rawHeaders }) => rawHeaders.join("|"));
    expect(first).toContain("|Content-Length|5|");
    expect(other).toContain("|Content-Length|6|");
    expect(other).toContain("|anthropic-beta|b-2");
    expect(upstream.opened()).toBe(1);
    await until(() => relay.answered.length === 1);
    expect(relay.proxy.metrics()).toMatchObject({
      deskRefusals: 1,
      deskRetries: 1,
      deskFaults: 0,
      bytesUp: 11,
    });
  });

  test("and its answer are told to the record and to the desk, each once", async () => {
    await choosy(fakeDesk({ take, refused: (sending) => second(sending) }), ["first"]);
    await postJson(relay.proxy.port, "/v1/messages", body);
    await until(() => relay.answered.length === 1);
    expect(relay.requested).toMatchObject([{ sent: { leaf: "leaf of first" } }]);
    const id = relay.requested[0]?.id;
    expect(relay.resent).toMatchObject([{ id, sent: { leaf: "leaf of second" } }]);
    expect(relay.answered).toMatchObject([{ id, status: 200, outcome: "complete" }]);
    expect(desk.ended).toMatchObject([
      { sending: { length: 5 }, answer: { status: 400, isComplete: true }, body: problem },
      { sending: { length: 6 }, answer: { status: 200, isComplete: true }, body: "second accepted" },
    ]);
  });

  test("of the second attempt is the client's", async () => {
    await choosy(fakeDesk({ take, refused: (sending) => second(sending) }), ["first", "second"]);
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect([got.status, got.body.toString()]).toEqual([400, problem]);
    await until(() => relay.answered.length === 1);
    expect([desk.refusals.length, upstream.seen.length]).toEqual([1, 2]);
    expect(desk.ended.map(({ answer }) => answer.status)).toEqual([400, 400]);
  });

  test("may end in one of ours", async () => {
    const refusal = apertureError("AP_CONTROL_FAULT");
    await choosy(fakeDesk({ take, refused: (sending) => second(sending, { refusal }) }), ["first"]);
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect([got.status, got.body.toString()]).toEqual([409, expect.stringContaining(refusal.code)]);
    await until(() => relay.answered.length === 1);
    expect(upstream.seen).toHaveLength(1);
    expect(desk.ended.map(({ answer }) => answer.status)).toEqual([400, null]);
  });

  test.each([
    [
      "a desk that throws",
      {
        refused: () => {
          throw new Error("desk");
        },
      },
      { deskFaults: 1 },
    ],
    ["a desk that knows nothing", {}, { deskFaults: 0 }],
  ])("passes %s", async (_name, parts: Partial<Desk>, counts) => {
    await choosy(fakeDesk({ take, ...parts }), ["first"]);
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect([got.status, got.body.toString(), got.headers["x-no"]]).toEqual([400, problem, "1"]);
    await until(() => relay.answered.length === 1);
    expect(relay.answered).toMatchObject([{ status: 400, outcome: "complete", length: problem.length }]);
    expect(relay.proxy.metrics()).toMatchObject({ deskRefusals: 1, deskRetries: 0, ...counts });
    expect(desk.ended).toMatchObject([{ answer: { status: 400, isComplete: true }, body: problem }]);
  });

  test.each([
    [400, false],
    [401, true],
    [413, true],
    [529, true],
  ])("with status %i (may be tried again: %s) is no question", async (status, mayRetry) => {
    desk = fakeDesk({ take: (asking) => managed(asking, ["first"], { mayRetry }) });
    upstream = await startUpstream((_seen, response) => response.writeHead(status).end(problem));
    relay = await startRelay(upstream.url, { desk });
    expect((await postJson(relay.proxy.port, "/v1/messages", body)).status).toBe(status);
    expect(desk.refusals).toEqual([]);
  });
});

/** Answers the first request of each connection with these bytes, then does as told. */
async function saying(given: FakeDesk, bytes: Buffer, then: (socket: Socket) => void = ignore) {
  desk = given;
  upstream = await startSocketUpstream((socket) =>
    socket.once("data", () => {
      socket.write(bytes, () => then(socket));
    }),
  );
}

const ending = /x-aperture-request-id: [0-9a-f-]{36}/;

/** Everything a client reads, without the id that differs each time. */
async function heard(given: Desk | null, limits = {}): Promise<string> {
  relay = await startRelay(upstream.url, { desk: given, limits });
  const { port } = relay.proxy;
  const text = await speak(
    port,
    `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n` +
      "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
  );
  expect(text).toMatch(ending);
  return text.replace(ending, "");
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
const refusing = (rest: Buffer) =>
  Buffer.concat([Buffer.from("HTTP/1.1 400 Oh No\r\nX-B: 1\r\nx-a: 2\r\nSet-Cookie: q\r\n"), rest]);

describe("passed on, it is what it would have been", () => {
  test.each(answers)("%s", async (_name, rest) => {
    await saying(fakeDesk({ take }), refusing(rest));
    const plain = await heard(null);
    await relay.proxy.close();
    expect(await heard(desk)).toBe(plain);
    expect(plain).toContain("HTTP/1.1 400 Oh No");
    expect(desk.refusals).toEqual([problem]);
  });

  test("ended by its connection", async () => {
    const rest = Buffer.from(`Connection: close\r\n\r\n${problem}`);
    await saying(fakeDesk({ take }), refusing(rest), (socket) => socket.end());
    const plain = await heard(null);
    await relay.proxy.close();
    expect(await heard(desk)).toBe(plain);
    expect(plain).toContain(problem);
    expect(desk.refusals).toEqual([problem]);
  });

  test.each([
    ["cut short", (socket: Socket) => socket.end()],
    ["reset", (socket: Socket) => setTimeout(() => socket.resetAndDestroy(), 5)],
  ])("%s, without a question", async (_name, cut) => {
    await saying(fakeDesk({ take }), refusing(Buffer.from("Content-Length: 99\r\n\r\nhalf")), cut);
    const plain = await heard(null);
    await relay.proxy.close();
    expect(await heard(desk)).toBe(plain);
    expect(plain.endsWith("\r\n\r\nhalf")).toBe(true);
    await until(() => relay.answered.length === 1);
    expect(relay.answered).toMatchObject([{ outcome: "truncated", status: 400 }]);
    expect(desk.refusals).toEqual([]);
    expect(desk.ended).toMatchObject([{ answer: { status: 400, isComplete: false }, body: "half" }]);
  });

  test("larger than what is held", async () => {
    const large = "x".repeat(300_000);
    await saying(fakeDesk({ take }), refusing(Buffer.from(`Content-Length: 300000\r\n\r\n${large}`)));
    expect((await heard(desk)).endsWith(`\r\n\r\n${large}`)).toBe(true);
    expect(desk.refusals).toEqual([]);
  });

  test("slower than it may be", async () => {
    await saying(fakeDesk({ take }), refusing(Buffer.from("Content-Length: 8\r\n\r\nhalf")), (socket) =>
      setTimeout(() => socket.write("late"), 200),
    );
    const started = performance.now();
    expect((await heard(desk, { holdMs: 20 })).endsWith("\r\n\r\nhalflate")).toBe(true);
    expect(performance.now() - started).toBeGreaterThan(150);
    expect(desk.refusals).toEqual([]);
  });

  test("in a coding nobody knows", async () => {
    const rest = Buffer.from("Content-Encoding: odd\r\nContent-Length: 3\r\n\r\nodd");
    await saying(fakeDesk({ take }), refusing(rest));
    expect((await heard(desk)).endsWith("\r\n\r\nodd")).toBe(true);
    expect(desk.refusals).toEqual([]);
  });
});

test("a client that leaves while a refusal is held takes it along", async () => {
  await saying(fakeDesk({ take }), refusing(Buffer.from("Content-Length: 8\r\n\r\nhalf")));
  relay = await startRelay(upstream.url, { desk });
  const { port } = relay.proxy;
  const headers = ["Host", `127.0.0.1:${port}`, ...json(2)];
  const outgoing = request({ host: "127.0.0.1", port, method: "POST", path: "/v1/messages", headers });
  outgoing.on("error", ignore).end("{}");
  await until(() => relay.requested.length === 1);
  await until(() => upstream.open() === 1);
  await pause(30);
  outgoing.destroy();
  await until(() => upstream.open() === 0);
  await until(() => relay.answered.length === 1);
  expect(relay.answered).toMatchObject([{ outcome: "aborted" }]);
  expect([desk.refusals.length, desk.ended.length]).toEqual([0, 1]);
});

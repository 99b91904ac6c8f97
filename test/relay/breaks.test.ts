import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, test } from "vitest";
import { seededRandom } from "../../src/base/index.ts";
import { isLong } from "../support/runs.ts";
import {
  ignore,
  json,
  pause,
  postJson,
  sendBytes,
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

afterEach(async () => {
  await relay.proxy.close();
  await upstream.close();
});

/** The bytes held after garbage collection. */
function heldBytes(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage().arrayBuffers;
}

const times = (usual: number) => (isLong ? usual * 10 : usual);
const head = (framing: string) => `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n${framing}\r\n\r\n`;

/** Answers as soon as the head of a request is there, without reading its body. */
function onRequest(socket: Socket, answer: () => void): void {
  let text = "";
  let hasAnswered = false;
  socket.on("data", (chunk) => {
    if (hasAnswered) return;
    text += chunk.toString("latin1");
    hasAnswered = text.includes("\r\n\r\n");
    if (hasAnswered) answer();
  });
}

/** A client that sends a request and disconnects when told to. */
function startLeaver(port: number): { readonly leave: () => void } {
  const headers = ["Host", `127.0.0.1:${port}`, ...json(2)];
  const outgoing = request({
    host: "127.0.0.1",
    port,
    method: "POST",
    path: "/v1/messages",
    headers,
    agent: false,
  });
  outgoing.on("error", ignore);
  outgoing.on("response", (incoming) => incoming.on("error", ignore).resume());
  outgoing.end("{}");
  return { leave: () => outgoing.destroy() };
}

describe("a client that leaves", () => {
  test("before the head of the answer ends the upstream's request", async () => {
    upstream = await startSocketUpstream((socket) => socket.resume());
    relay = await startRelay(upstream.url);
    const leavers = Array.from({ length: times(50) }, () => startLeaver(relay.proxy.port));
    await until(() => upstream.openCount() === leavers.length);
    for (const { leave } of leavers) leave();
    await until(() => upstream.openCount() === 0);
    await until(() => relay.responses.length === leavers.length);
    expect(new Set(relay.responses.map(({ outcome }) => outcome))).toEqual(new Set(["aborted"]));
    expect(relay.requests).toHaveLength(leavers.length);
    expect(relay.proxy.metrics()).toMatchObject({ active: 0, aborted: leavers.length });
  });

  test("in the middle of an answer does the same, and the part that came is recorded", async () => {
    upstream = await startSocketUpstream((socket) =>
      onRequest(socket, () => socket.write(`${head("Transfer-Encoding: chunked")}5\r\nhello\r\n`)),
    );
    relay = await startRelay(upstream.url);
    const leavers = Array.from({ length: times(50) }, () => startLeaver(relay.proxy.port));
    await until(() => relay.requests.length === leavers.length);
    await pause(20);
    for (const { leave } of leavers) leave();
    await until(() => upstream.openCount() === 0);
    await until(() => relay.responses.length === leavers.length);
    for (const { outcome, status, body } of relay.responses) {
      expect([outcome, status, Buffer.from(body ?? []).toString()]).toEqual(["aborted", 200, "hello"]);
    }
  });

  test("while it sends its body ends the upload", async () => {
    upstream = await startSocketUpstream((socket) => socket.resume());
    relay = await startRelay(upstream.url);
    const socket = connect({ host: "127.0.0.1", port: relay.proxy.port });
    socket.on("error", ignore);
    socket.write(
      `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${relay.proxy.port}\r\n` +
        "Content-Type: application/json\r\nContent-Length: 100\r\n\r\nhalf",
    );
    await until(() => upstream.openCount() === 1);
    socket.destroy();
    await until(() => upstream.openCount() === 0);
  });
});

describe("an answer that breaks off", () => {
  const body = Buffer.from("data: 0123456789\n\n".repeat(200));

  /** Cuts the answer at a random byte, by a reset or by a regular end of the connection. */
  async function startCuttingUpstream(
    framing: "length" | "chunked" | "close",
    cut: (socket: Socket) => void,
  ): Promise<() => number> {
    const random = seededRandom(framing.length);
    let at = 0;
    upstream = await startSocketUpstream((socket) =>
      onRequest(socket, () => {
        const start = Buffer.from(
          framing === "length"
            ? head(`Content-Length: ${body.length}`)
            : framing === "close"
              ? head("Connection: close")
              : `${head("Transfer-Encoding: chunked")}${(body.length + 1).toString(16)}\r\n`,
        );
        at = random.below(body.length);
        socket.write(Buffer.concat([start, body.subarray(0, at)]), () => cut(socket));
      }),
    );
    relay = await startRelay(upstream.url);
    return () => at;
  }

  test.each([
    ["length", "reset"],
    ["length", "end"],
    ["chunked", "reset"],
    ["chunked", "end"],
    // Without a length, only a reset shows that it is not complete.
    ["close", "reset"],
  ] as const)("(%s, %s) never looks complete, and loses no byte that came", async (framing, how) => {
    const cut = await startCuttingUpstream(framing, (socket) => {
      if (how === "end") socket.end();
      // On a busy machine Node may read a reset together with the bytes before it, and report a regular end.
      // If only the reset counts, the bytes have to be read before it comes.
      else setTimeout(() => socket.resetAndDestroy(), framing === "close" ? 40 : 3);
    });
    const count = times(50);
    for (let round = 0; round < count; round += 1) {
      const text = await sendBytes(
        relay.proxy.port,
        `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${relay.proxy.port}\r\n` +
          "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
      );
      const [top = "", ...rest] = text.split("\r\n\r\n");
      const sent = rest.join("\r\n\r\n");
      expect(top).toMatch(/^HTTP\/1\.1 200 OK/);
      expect(sent).not.toContain("0\r\n\r\n");
      const arrived =
        framing === "length" ? sent : sent.replace(/(?:^|\r\n)[0-9a-f]+\r\n/g, "").replace(/\r\n$/, "");
      expect(arrived).toBe(body.subarray(0, cut()).toString());
    }
    await until(() => relay.responses.length === count);
    expect(new Set(relay.responses.map(({ outcome }) => outcome))).toEqual(new Set(["truncated"]));
    expect(relay.proxy.metrics()).toMatchObject({ truncated: count, active: 0 });
  });

  test("is an error for an ordinary client", async () => {
    await startCuttingUpstream("chunked", (socket) => socket.destroy());
    await expect(postJson(relay.proxy.port, "/v1/messages", Buffer.from("{}"))).rejects.toThrow();
  });

  test("is a reset if the client has no other way to see the end", async () => {
    await startCuttingUpstream("chunked", (socket) => setTimeout(() => socket.resetAndDestroy(), 3));
    const socket = connect({ host: "127.0.0.1", port: relay.proxy.port });
    const failed = new Promise<string>((resolve) => {
      socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
      socket.once("end", () => resolve("orderly end"));
    });
    socket.resume();
    socket.write(
      `POST /v1/messages HTTP/1.0\r\nHost: 127.0.0.1:${relay.proxy.port}\r\n` +
        "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
    );
    expect(await failed).toBe("ECONNRESET");
  });
});

test("an answer before the end of the request is passed on, and ends the upload", async () => {
  upstream = await startSocketUpstream((socket) =>
    onRequest(socket, () => socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno")),
  );
  relay = await startRelay(upstream.url);
  const slow = [Buffer.alloc(1_000), Buffer.alloc(1_000)];
  const got = await sendRequest({ port: relay.proxy.port, headers: json(2_000), body: slow });
  expect([got.status, got.body.toString()]).toEqual([401, "no"]);
});

describe("a slow client", () => {
  test("slows down the upstream, and gets everything in the end", async () => {
    const total = 128 * 1024 * 1024;
    let written = 0;
    upstream = await startUpstream((_seen, response) => {
      response.writeHead(200, { "Content-Length": total });
      const chunk = Buffer.alloc(64 * 1024, 7);
      const more = (): void => {
        while (written < total) {
          written += chunk.length;
          if (!response.write(chunk)) {
            response.once("drain", more);
            return;
          }
        }
        response.end();
      };
      more();
    });
    // File downloads are not recorded, so only bytes in transit are held.
    relay = await startRelay(upstream.url);
    const socket = connect({ host: "127.0.0.1", port: relay.proxy.port });
    socket.write(
      `GET /v1/files/x HTTP/1.1\r\nHost: 127.0.0.1:${relay.proxy.port}\r\nConnection: close\r\n\r\n`,
    );
    socket.pause();
    const before = heldBytes();
    expect(await stopsAt(() => written)).toBeLessThan(total / 2);
    // Both ends of the test hold some bytes themselves.
    await until(() => heldBytes() - before < 512 * 1024);
    let got = 0;
    socket.on("data", (chunk) => {
      got += chunk.length;
    });
    socket.resume();
    await new Promise((resolve) => socket.once("close", resolve));
    expect(got).toBeGreaterThanOrEqual(total);
  });

  test("gets the bytes that had arrived when the upstream broke off", async () => {
    const body = Buffer.alloc(600 * 1024, 0x61);
    upstream = await startSocketUpstream((socket) =>
      onRequest(socket, () => {
        socket.write(Buffer.concat([Buffer.from(head(`Content-Length: ${body.length + 1}`)), body]), () =>
          setTimeout(() => socket.destroy(), 50),
        );
      }),
    );
    relay = await startRelay(upstream.url);
    const socket = connect({ host: "127.0.0.1", port: relay.proxy.port });
    socket.write(`GET /v1/files/x HTTP/1.1\r\nHost: 127.0.0.1:${relay.proxy.port}\r\n\r\n`);
    socket.pause();
    await pause(200);
    let got = 0;
    socket.on("error", ignore);
    socket.on("data", (chunk) => {
      got += chunk.length;
    });
    socket.resume();
    await new Promise((resolve) => socket.once("close", resolve));
    expect(got).toBeGreaterThanOrEqual(body.length);
  });
});

test("a slow upstream slows down the client", async () => {
  const sockets: Socket[] = [];
  upstream = await startSocketUpstream((socket) => sockets.push(socket.pause()));
  relay = await startRelay(upstream.url, { limits: { keptBytesMax: 1024 } });
  const socket = connect({ host: "127.0.0.1", port: relay.proxy.port });
  socket.on("error", ignore);
  const total = 128 * 1024 * 1024;
  socket.write(
    `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${relay.proxy.port}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${total}\r\n\r\n`,
  );
  const chunk = Buffer.alloc(64 * 1024);
  const more = (): void => {
    while (socket.bytesWritten < total && socket.write(chunk));
  };
  socket.on("drain", more);
  more();
  expect(await stopsAt(() => socket.bytesWritten - socket.writableLength)).toBeLessThan(total / 2);
  socket.destroy();
  // A connection that is not read does not report that its other end has gone.
  for (const paused of sockets) paused.resume();
  await until(() => upstream.openCount() === 0);
});

/**
 * The value at which a count stops. Kernels buffer several megabytes per connection and adapt that slowly, so
 * only a stop that lasts counts.
 */
async function stopsAt(count: () => number): Promise<number> {
  let [last, quiet] = [0, 0];
  for (let waited = 0; waited < 10_000 && quiet < 400; waited += 50) {
    await pause(50);
    const next = count();
    quiet = next > 0 && next === last ? quiet + 50 : 0;
    last = next;
  }
  expect(quiet, "it comes to a stop").toBeGreaterThanOrEqual(400);
  return last;
}

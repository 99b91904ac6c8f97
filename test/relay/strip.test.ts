// Lines of ours that a model repeats: the client does not see them, and the desk and the recorder do.
import { type ClientRequest, request, type ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { readAnswer } from "../../src/protocols/index.ts";
import { type FakeDesk, fakeDesk, managed } from "./fake-desk.ts";
import {
  type Answerer,
  ignore,
  json,
  pause,
  postJson,
  type Relay,
  startRelay,
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

const own = "[k7f3 turn 31, 14:05: message 12 #41]";
const strips = (line: string): boolean => line.startsWith("[k7f3 ") && line.endsWith("]");
const body = Buffer.from('{"mine":1}');

async function start(answer: Answerer, recognises = strips, limits = {}): Promise<void> {
  desk = fakeDesk({
    take: (asking) =>
      managed(asking, ["ours"], {
        strips: { isOwn: recognises, opens: () => false, continues: () => false },
      }),
  });
  upstream = await startUpstream(answer);
  relay = await startRelay(upstream.url, { desk, limits });
}

const event = (fields: Readonly<Record<string, unknown>>): string =>
  `event: ${fields["type"]}\ndata: ${JSON.stringify(fields)}\n\n`;
const head =
  event({ type: "message_start", message: { model: "m", usage: { input_tokens: 1 } } }) +
  event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
const delta = (text: string): string =>
  event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
const tail = event({ type: "content_block_stop", index: 0 }) + event({ type: "message_stop" });
const streamed = (...texts: readonly string[]): string => head + texts.map(delta).join("") + tail;

const sse = { "content-type": "text/event-stream; charset=utf-8" };

function textOf(bytes: Uint8Array): unknown {
  const { units, isWhole } = readAnswer(bytes, "text/event-stream");
  return isWhole ? JSON.parse(Buffer.from(units[0]?.bytes ?? []).toString()).text : null;
}

/** Desk and recorder have what the upstream said. */
async function expectTold(said: string): Promise<void> {
  await until(() => relay.answered.length === 1 && desk.ended.length === 1);
  expect(desk.ended[0]?.body).toBe(said);
  expect(Buffer.from(relay.answered[0]?.body ?? []).toString()).toBe(said);
  expect(relay.answered[0]).toMatchObject({ outcome: "complete", length: Buffer.byteLength(said) });
}

/** Writes these pieces one after another, so that they arrive by themselves. */
async function writeSlowly(response: ServerResponse, pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    response.write(piece);
    await pause(15);
  }
}

describe("a line of ours in a streamed answer", () => {
  const said = streamed("Yes.\n[k7", "f3 turn 31, 14:05: mess", "age 12 #41]\nDo", "ne", `\n${own}`);

  test("does not reach the client, whose other bytes are the upstream's", async () => {
    const cut = [0, 200, 301, 333, 500, said.length];
    await start((_seen, response) => {
      response.writeHead(200, sse);
      const pieces = cut.slice(1).map((end, at) => said.slice(cut[at], end));
      void writeSlowly(response, pieces).then(() => response.end());
    });
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect(textOf(got.body)).toBe("Yes.\nDone\n");
    expect(got.body.toString()).toBe(streamed("Yes.\n", "", "Do", "ne", "\n"));
    await expectTold(said);
  });

  test("leaves a length that was told true", async () => {
    await start((_seen, response) => {
      response.writeHead(200, { ...sse, "content-length": said.length });
      response.end(said);
    });
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect(got.headers["content-length"]).toBe(String(said.length));
    expect(got.body.length).toBe(said.length);
    expect(textOf(got.body)).toBe("Yes.\nDone\n");
    await expectTold(said);
  });

  test("is seen where the answer is compressed: it passes byte for byte", async () => {
    const packed = gzipSync(said);
    await start((_seen, response) => {
      response.writeHead(200, { ...sse, "content-encoding": "gzip" });
      response.end(packed);
    });
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect(got.body.equals(packed)).toBe(true);
  });

  test("passes where the desk fails to recognise it", async () => {
    const broken = (): never => {
      throw new Error("desk");
    };
    await start((_seen, response) => response.writeHead(200, sse).end(said), broken);
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect(got.body.toString()).toBe(said);
    expect(relay.proxy.metrics().deskFaults).toBeGreaterThan(0);
  });
});

describe("a line of ours in a JSON answer", () => {
  const message = (text: string): string =>
    `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"n":1.0}`;
  const said = message(`a\n${own}\nb`);
  const typed = { "content-type": "application/json" };

  test.each([
    ["in chunks", {}, ""],
    ["with a length", { "content-length": said.length }, "\n".repeat(own.length + 2)],
  ])("does not reach the client: %s", async (_name, headers, padding) => {
    await start((_seen, response) => {
      response.writeHead(200, { ...typed, ...headers });
      void writeSlowly(response, [said.slice(0, 30), said.slice(30)]).then(() => response.end());
    });
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect(got.body.toString()).toBe(message("a\nb") + padding);
    await expectTold(said);
  });

  test("reaches it where the answer is too large to be kept", async () => {
    await start((_seen, response) => response.writeHead(200, typed).end(said), strips, { keptBytesMax: 40 });
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect(got.body.toString()).toBe(said);
  });

  test("keeps the client waiting for the body, not for the head", async () => {
    let finish: () => void = ignore;
    await start((_seen, response) => {
      response.writeHead(200, typed);
      response.write(said.slice(0, 30));
      finish = () => response.end(said.slice(30));
    });
    const client = listen(relay.proxy.port);
    await until(() => client.status() === 200);
    finish();
    await until(() => client.text() === message("a\nb"));
  });
});

type Listener = {
  readonly outgoing: ClientRequest;
  readonly status: () => number;
  readonly text: () => string;
  readonly isBroken: () => boolean;
};

/** A client that tells what it has so far. */
function listen(port: number): Listener {
  let [text, status, isBroken] = ["", 0, false];
  const headers = ["Host", `127.0.0.1:${port}`, ...json(body.length)];
  const outgoing = request({ host: "127.0.0.1", port, method: "POST", path: "/v1/messages", headers });
  outgoing.on("error", ignore);
  outgoing.on("response", (incoming) => {
    status = incoming.statusCode ?? 0;
    incoming.on("error", ignore);
    incoming.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    incoming.on("close", () => {
      isBroken = !incoming.complete;
    });
  });
  outgoing.end(body);
  return { outgoing, status: () => status, text: () => text, isBroken: () => isBroken };
}

describe("while text is held", () => {
  const shown = head + delta("a\n");
  const held = delta("[k7f3 turn 31");

  async function hold(): Promise<{ readonly client: Listener; readonly answering: ServerResponse }> {
    let answering: ServerResponse | null = null;
    await start((_seen, response) => {
      answering = response.writeHead(200, sse);
      void writeSlowly(response, [shown, held]);
    });
    const client = listen(relay.proxy.port);
    await until(() => client.text() === shown);
    await pause(60);
    expect(client.text()).toBe(shown);
    if (answering === null) throw new Error("the upstream was not asked");
    return { client, answering };
  }

  test("a client may leave", async () => {
    const { client } = await hold();
    client.outgoing.destroy();
    await until(() => relay.answered.length === 1 && desk.ended.length === 1);
    expect(relay.answered).toMatchObject([{ outcome: "aborted", length: (shown + held).length }]);
    expect(desk.ended[0]).toMatchObject({ body: shown + held, answer: { isComplete: false } });
    await until(() => upstream.open() === 0);
  });

  test("an upstream may die: what it said is the client's", async () => {
    const { client, answering } = await hold();
    answering.socket?.destroy();
    await until(() => client.isBroken());
    expect(client.text()).toBe(shown + held);
    await until(() => relay.answered.length === 1);
    expect(relay.answered).toMatchObject([{ outcome: "truncated", length: (shown + held).length }]);
  });

  test("an upstream may end as if all were said", async () => {
    const { client, answering } = await hold();
    answering.end();
    await until(() => client.text() === shown + held && relay.answered.length === 1);
    expect(relay.answered).toMatchObject([{ outcome: "complete" }]);
  });

  test("the rest may show that the line is none of ours", async () => {
    const { client, answering } = await hold();
    answering.write(delta(" is over\n"));
    await until(() => client.text() === shown + held + delta(" is over\n"));
    answering.end();
  });
});

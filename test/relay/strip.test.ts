// Our notes that a model repeats: the client does not get them, planner and recorder do.
import { type ClientRequest, request, type ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { protocolOf } from "../../src/protocols/index.ts";
import { type FakePlanner, fakePlanner, managedPlan } from "./fake-planner.ts";
import {
  type AnswerHandler,
  ignore,
  json,
  pause,
  postJson,
  startRelay,
  startUpstream,
  type TestRelay,
  type TestUpstream,
  until,
} from "./harness.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readAnswer = anthropic.answer.read;

let upstream: TestUpstream;
let relay: TestRelay;
let planner: FakePlanner;

afterEach(async () => {
  await relay.proxy.close();
  await upstream.close();
});

const own = "[k7f3 turn 31, 14:05: message 12 #41]";
const isOwnLine = (line: string): boolean => line.startsWith("[k7f3 ") && line.endsWith("]");
const body = Buffer.from('{"mine":1}');

async function start(answer: AnswerHandler, isOwn = isOwnLine, limits = {}): Promise<void> {
  planner = fakePlanner({
    plan: (meta) =>
      managedPlan(meta, ["ours"], {
        ownLineFilter: { isOwn, opens: () => false, continues: () => false },
      }),
  });
  upstream = await startUpstream(answer);
  relay = await startRelay(upstream.url, { planner, limits });
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

/** Planner and recorder have the upstream's answer. */
async function expectReported(answer: string): Promise<void> {
  await until(() => relay.responses.length === 1 && planner.finished.length === 1);
  const isJson = answer.startsWith("{");
  const read = readAnswer(Buffer.from(answer), isJson ? "application/json" : "text/event-stream");
  expect(planner.finished[0]?.answer.answer).toEqual(read);
  // It was read once, for both.
  expect(relay.responses[0]?.answer).toBe(planner.finished[0]?.answer.answer);
  expect(Buffer.from(relay.responses[0]?.body ?? []).toString()).toBe(answer);
  expect(relay.responses[0]).toMatchObject({ outcome: "complete", length: Buffer.byteLength(answer) });
}

/** Writes the pieces with pauses, so that they arrive separately. */
async function writeSlowly(response: ServerResponse, pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    response.write(piece);
    await pause(15);
  }
}

describe("a note in a streamed answer", () => {
  const answer = streamed("Yes.\n[k7", "f3 turn 31, 14:05: mess", "age 12 #41]\nDo", "ne", `\n${own}`);

  test("does not reach the client, but all other bytes do", async () => {
    const cut = [0, 200, 301, 333, 500, answer.length];
    await start((_seen, response) => {
      response.writeHead(200, sse);
      const pieces = cut.slice(1).map((end, at) => answer.slice(cut[at], end));
      void writeSlowly(response, pieces).then(() => response.end());
    });
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect(textOf(got.body)).toBe("Yes.\nDone\n");
    expect(got.body.toString()).toBe(streamed("Yes.\n", "", "Do", "ne", "\n"));
    await expectReported(answer);
  });

  test("is padded to the announced length", async () => {
    await start((_seen, response) => {
      response.writeHead(200, { ...sse, "content-length": answer.length });
      response.end(answer);
    });
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect(got.headers["content-length"]).toBe(String(answer.length));
    expect(got.body.length).toBe(answer.length);
    expect(textOf(got.body)).toBe("Yes.\nDone\n");
    await expectReported(answer);
  });

  test("reaches the client if the answer is compressed", async () => {
    const packed = gzipSync(answer);
    await start((_seen, response) => {
      response.writeHead(200, { ...sse, "content-encoding": "gzip" });
      response.end(packed);
    });
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect(got.body.equals(packed)).toBe(true);
  });

  test("reaches the client if the planner's filter throws", async () => {
    const broken = (): never => {
      throw new Error("planner");
    };
    await start((_seen, response) => response.writeHead(200, sse).end(answer), broken);
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect(got.body.toString()).toBe(answer);
    expect(relay.proxy.metrics().plannerFaults).toBeGreaterThan(0);
  });
});

describe("a note in a JSON answer", () => {
  const message = (text: string): string =>
    `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"n":1.0}`;
  const answer = message(`a\n${own}\nb`);
  const typed = { "content-type": "application/json" };

  test.each([
    ["in chunks", {}, ""],
    ["with a length", { "content-length": answer.length }, "\n".repeat(own.length + 2)],
  ])("does not reach the client: %s", async (_name, headers, padding) => {
    await start((_seen, response) => {
      response.writeHead(200, { ...typed, ...headers });
      void writeSlowly(response, [answer.slice(0, 30), answer.slice(30)]).then(() => response.end());
    });
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect(got.body.toString()).toBe(message("a\nb") + padding);
    await expectReported(answer);
  });

  test("reaches the client if the answer is too large to be kept", async () => {
    await start((_seen, response) => response.writeHead(200, typed).end(answer), isOwnLine, {
      keptBytesMax: 40,
    });
    const got = await postJson(relay.proxy.port, "/v1/messages", body);
    expect(got.body.toString()).toBe(answer);
  });

  test("delays the body, but not the head", async () => {
    let finish: () => void = ignore;
    await start((_seen, response) => {
      response.writeHead(200, typed);
      response.write(answer.slice(0, 30));
      finish = () => response.end(answer.slice(30));
    });
    const client = startClient(relay.proxy.port);
    await until(() => client.status() === 200);
    finish();
    await until(() => client.text() === message("a\nb"));
  });
});

type TestClient = {
  readonly outgoing: ClientRequest;
  readonly status: () => number;
  readonly text: () => string;
  readonly isBroken: () => boolean;
};

/** A client that shows what it has received so far. */
function startClient(port: number): TestClient {
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

  async function hold(): Promise<{ readonly client: TestClient; readonly answering: ServerResponse }> {
    let answering: ServerResponse | null = null;
    await start((_seen, response) => {
      answering = response.writeHead(200, sse);
      void writeSlowly(response, [shown, held]);
    });
    const client = startClient(relay.proxy.port);
    await until(() => client.text() === shown);
    await pause(60);
    expect(client.text()).toBe(shown);
    if (answering === null) throw new Error("the upstream was not asked");
    return { client, answering };
  }

  test("a client may leave", async () => {
    const { client } = await hold();
    client.outgoing.destroy();
    await until(() => relay.responses.length === 1 && planner.finished.length === 1);
    expect(relay.responses).toMatchObject([{ outcome: "aborted", length: (shown + held).length }]);
    const read = readAnswer(Buffer.from(shown + held), "text/event-stream");
    expect(planner.finished[0]).toMatchObject({ answer: { answer: read, isComplete: false } });
    await until(() => upstream.openCount() === 0);
  });

  test("an upstream may die, and the client gets everything it sent", async () => {
    const { client, answering } = await hold();
    answering.socket?.destroy();
    await until(() => client.isBroken());
    expect(client.text()).toBe(shown + held);
    await until(() => relay.responses.length === 1);
    expect(relay.responses).toMatchObject([{ outcome: "truncated", length: (shown + held).length }]);
  });

  test("an upstream may end the answer", async () => {
    const { client, answering } = await hold();
    answering.end();
    await until(() => client.text() === shown + held && relay.responses.length === 1);
    expect(relay.responses).toMatchObject([{ outcome: "complete" }]);
  });

  test("the rest of the line may show that it is not ours", async () => {
    const { client, answering } = await hold();
    answering.write(delta(" is over\n"));
    await until(() => client.text() === shown + held + delta(" is over\n"));
    answering.end();
  });
});

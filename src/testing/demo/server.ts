import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Json } from "../../base/index.ts";
import type { CoreAnswer } from "../core.ts";
import { jsonFrame } from "../event-stream.ts";
import { isObject, type JsonObject } from "../json-text.ts";
import { DemoMessages } from "./anthropic.ts";
import { chatAnswer, chatEvents, readChat } from "./chat.ts";
import { converseAnswer, converseEvents, readConverse } from "./converse.ts";
import { geminiAnswer, geminiPieces, readGemini } from "./gemini.ts";
import { readResponses, responsesAnswer, responsesEvents } from "./responses.ts";
import { type DemoAnswer, demoAnswer, type Said, tokensIn } from "./talk.ts";

export type DemoModel = { readonly url: string; readonly close: () => Promise<void> };

/** A scripted model that speaks every protocol Aperture relays, for whoever has no key. */
export async function startDemoModel(): Promise<DemoModel> {
  const messages = new DemoMessages();
  const server = createServer((request, response) => {
    serve(messages, request)
      .catch(() => failed)
      .then((reply) => send(response, reply))
      .catch(() => response.destroy());
  });
  server.keepAliveTimeout = 0;
  await new Promise<void>((done, refused) => {
    server.once("error", refused);
    server.listen(0, "127.0.0.1", () => done());
  });
  const { port } = server.address() as AddressInfo; // a TCP server has one
  const close = (): Promise<void> =>
    new Promise((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, close };
}

type Reply = {
  readonly status: number;
  readonly type: string;
  readonly chunks: readonly (string | Buffer)[];
};
type Asked = {
  readonly path: string;
  readonly query: string;
  readonly bytes: Buffer;
  readonly body: JsonObject;
};

const jsonType = "application/json";
const sseType = "text/event-stream; charset=utf-8";
const framedType = "application/vnd.amazon.eventstream";
const failed: Reply = problem(500, "the demo model has stumbled");

async function serve(messages: DemoMessages, request: IncomingMessage): Promise<Reply> {
  // A client that offers a WebSocket first goes on over HTTP when it is told that there is none.
  if (request.headers.upgrade !== undefined) return problem(426, "there are no WebSockets here");
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer); // no encoding is set
  const bytes = Buffer.concat(chunks);
  const [path = "", query = ""] = (request.url ?? "").split("?", 2);
  const counting = path.endsWith("/count_tokens");
  if (counting || path.endsWith("/v1/messages")) {
    const target = counting ? "/v1/messages/count_tokens" : "/v1/messages";
    return ofCore(await messages.answer({ target, rawHeaders: request.rawHeaders, body: bytes }));
  }
  const body = objectOf(bytes);
  if (body === null) return problem(400, "the body is no JSON object");
  const asked = { path, query, bytes, body };
  if (path.includes("/invoke")) return await invoked(messages, asked);
  return (
    (await ours.find(({ pattern }) => pattern.test(path))?.reply(asked)) ?? problem(404, "no such route")
  );
}

const ours: readonly {
  readonly pattern: RegExp;
  readonly reply: (asked: Asked) => Promise<Reply> | Reply;
}[] = [
  { pattern: /\/chat\/completions$/, reply: chat },
  { pattern: /\/responses$/, reply: responses },
  { pattern: /(?::|%3a)countTokens$/i, reply: ({ bytes }) => json({ totalTokens: tokensIn(bytes.length) }) },
  { pattern: /(?::|%3a)(?:stream)?generateContent$/i, reply: gemini },
  { pattern: /\/converse(?:-stream)?$/, reply: converse },
];

async function chat(asked: Asked): Promise<Reply> {
  const answer = await answerTo(asked, readChat);
  return asked.body["stream"] === true
    ? { status: 200, type: sseType, chunks: chatEvents(answer, asked.body) }
    : json(chatAnswer(answer));
}

async function responses(asked: Asked): Promise<Reply> {
  const answer = await answerTo(asked, readResponses);
  return asked.body["stream"] === true
    ? { status: 200, type: sseType, chunks: responsesEvents(answer) }
    : json(responsesAnswer(answer));
}

async function gemini(asked: Asked): Promise<Reply> {
  const answer = await answerTo(asked, readGemini);
  if (!/streamGenerateContent$/i.test(asked.path)) return json(geminiAnswer(answer));
  const pieces = geminiPieces(answer);
  if (!/(?:^|&)alt=sse(?:&|$)/.test(asked.query)) return json(pieces);
  return {
    status: 200,
    type: sseType,
    chunks: pieces.map((each) => `data: ${JSON.stringify(each)}\r\n\r\n`),
  };
}

async function converse(asked: Asked): Promise<Reply> {
  const answer = await answerTo(asked, readConverse);
  if (!asked.path.endsWith("-stream")) return json(converseAnswer(answer));
  const chunks = converseEvents(answer).map(({ name, payload }) => jsonFrame(name, payload));
  return { status: 200, type: framedType, chunks };
}

/** Each wire event of the Messages API travels inside a message of AWS's. */
async function invoked(messages: DemoMessages, { path, body }: Asked): Promise<Reply> {
  const isStreaming = path.endsWith("/invoke-with-response-stream");
  const answer = ofCore(await messages.invoke(body, isStreaming));
  if (!isStreaming || answer.status !== 200) return answer;
  const events = answer.chunks.join("").matchAll(/^data: (.*)$/gm);
  const chunks = [...events].map(([, data = ""]) =>
    jsonFrame("chunk", { bytes: Buffer.from(data).toString("base64") }),
  );
  return { status: 200, type: framedType, chunks };
}

function answerTo({ body, bytes }: Asked, read: (body: JsonObject) => readonly Said[]): Promise<DemoAnswer> {
  return demoAnswer(read(body), bytes.length);
}

function ofCore({ status, chunks, streams, started }: CoreAnswer): Reply {
  started();
  return { status, type: streams ? sseType : jsonType, chunks };
}

function json(value: object): Reply {
  return { status: 200, type: jsonType, chunks: [JSON.stringify(value)] };
}

function problem(status: number, message: string): Reply {
  return {
    status,
    type: jsonType,
    chunks: [JSON.stringify({ error: { message, type: "invalid_request_error" } })],
  };
}

function objectOf(bytes: Buffer): JsonObject | null {
  try {
    const value = JSON.parse(bytes.toString("utf8")) as Json;
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function send(response: ServerResponse, { status, type, chunks }: Reply): void {
  response.writeHead(status, { "content-type": type });
  for (const chunk of chunks) response.write(chunk);
  response.end();
}

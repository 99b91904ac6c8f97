import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Json } from "../../base/index.ts";
import { jsonFrame } from "../bedrock/event-stream.ts";
import { isObject, type JsonObject } from "../json-text.ts";
import type { CoreAnswer } from "../strict-core.ts";
import { chatAnswer, chatEvents, readChat } from "./chat.ts";
import { converseAnswer, demoConverseEvents, readConverse } from "./converse.ts";
import { answerAsDemo, type DemoAnswer, type DemoItem, tokensIn } from "./demo-agent.ts";
import { DemoMessages } from "./demo-messages.ts";
import { geminiAnswer, geminiPieces, readGemini } from "./gemini.ts";
import { readResponses, responsesAnswer, responsesEvents } from "./responses.ts";

export type DemoModel = { readonly url: string; readonly close: () => Promise<void> };

/** A scripted model with every protocol that Aperture relays, for users without a key. */
export async function startDemoModel(): Promise<DemoModel> {
  const messages = new DemoMessages();
  const server = createServer((request, response) => {
    serve(messages, request)
      .catch(() => failed)
      .then((reply) => send(response, reply))
      .catch(() => response.destroy());
  });
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve());
  });
  const { port } = server.address() as AddressInfo; // a TCP server has one
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, close };
}

type DemoReply = {
  readonly status: number;
  readonly type: string;
  readonly chunks: readonly (string | Buffer)[];
};
type DemoRequest = {
  readonly path: string;
  readonly query: string;
  readonly bytes: Buffer;
  readonly body: JsonObject;
};

const jsonType = "application/json";
const sseType = "text/event-stream; charset=utf-8";
const framedType = "application/vnd.amazon.eventstream";
const failed: DemoReply = problem(500, "the demo model has stumbled");

async function serve(messages: DemoMessages, request: IncomingMessage): Promise<DemoReply> {
  // A client that tries a WebSocket first falls back to HTTP after this status.
  if (request.headers.upgrade !== undefined) return problem(426, "there are no WebSockets here");
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer); // no encoding is set
  const bytes = Buffer.concat(chunks);
  const [path = "", query = ""] = (request.url ?? "").split("?", 2);
  const isCount = path.endsWith("/count_tokens");
  if (isCount || path.endsWith("/v1/messages")) {
    const target = isCount ? "/v1/messages/count_tokens" : "/v1/messages";
    return coreReply(await messages.answer({ target, rawHeaders: request.rawHeaders, body: bytes }));
  }
  const body = objectOf(bytes);
  if (body === null) return problem(400, "the body is no JSON object");
  const demoRequest = { path, query, bytes, body };
  if (path.includes("/invoke")) return await invoke(messages, demoRequest);
  return (
    (await routes.find(({ pattern }) => pattern.test(path))?.reply(demoRequest)) ??
    problem(404, "no such route")
  );
}

const routes: readonly {
  readonly pattern: RegExp;
  readonly reply: (request: DemoRequest) => Promise<DemoReply> | DemoReply;
}[] = [
  { pattern: /\/chat\/completions$/, reply: chat },
  { pattern: /\/responses$/, reply: responses },
  { pattern: /(?::|%3a)countTokens$/i, reply: ({ bytes }) => json({ totalTokens: tokensIn(bytes.length) }) },
  { pattern: /(?::|%3a)(?:stream)?generateContent$/i, reply: gemini },
  { pattern: /\/converse(?:-stream)?$/, reply: converse },
];

async function chat(request: DemoRequest): Promise<DemoReply> {
  const answer = await answerTo(request, readChat);
  return request.body["stream"] === true
    ? { status: 200, type: sseType, chunks: chatEvents(answer, request.body) }
    : json(chatAnswer(answer));
}

async function responses(request: DemoRequest): Promise<DemoReply> {
  const answer = await answerTo(request, readResponses);
  return request.body["stream"] === true
    ? { status: 200, type: sseType, chunks: responsesEvents(answer) }
    : json(responsesAnswer(answer));
}

async function gemini(request: DemoRequest): Promise<DemoReply> {
  const answer = await answerTo(request, readGemini);
  if (!/streamGenerateContent$/i.test(request.path)) return json(geminiAnswer(answer));
  const pieces = geminiPieces(answer);
  if (!/(?:^|&)alt=sse(?:&|$)/.test(request.query)) return json(pieces);
  return {
    status: 200,
    type: sseType,
    chunks: pieces.map((each) => `data: ${JSON.stringify(each)}\r\n\r\n`),
  };
}

async function converse(request: DemoRequest): Promise<DemoReply> {
  const answer = await answerTo(request, readConverse);
  if (!request.path.endsWith("-stream")) return json(converseAnswer(answer));
  const chunks = demoConverseEvents(answer).map(({ name, payload }) => jsonFrame(name, payload));
  return { status: 200, type: framedType, chunks };
}

/** Each wire event of the Messages API is sent inside a frame of AWS. */
async function invoke(messages: DemoMessages, { path, body }: DemoRequest): Promise<DemoReply> {
  const isStreaming = path.endsWith("/invoke-with-response-stream");
  const answer = coreReply(await messages.invoke(body, isStreaming));
  if (!isStreaming || answer.status !== 200) return answer;
  const events = answer.chunks.join("").matchAll(/^data: (.*)$/gm);
  const chunks = [...events].map(([, data = ""]) =>
    jsonFrame("chunk", { bytes: Buffer.from(data).toString("base64") }),
  );
  return { status: 200, type: framedType, chunks };
}

function answerTo(
  { body, bytes }: DemoRequest,
  read: (body: JsonObject) => readonly DemoItem[],
): Promise<DemoAnswer> {
  return answerAsDemo(read(body), bytes.length);
}

function coreReply({ status, chunks, isStreamed: streams, onStart: started }: CoreAnswer): DemoReply {
  started();
  return { status, type: streams ? sseType : jsonType, chunks };
}

function json(value: object): DemoReply {
  return { status: 200, type: jsonType, chunks: [JSON.stringify(value)] };
}

function problem(status: number, message: string): DemoReply {
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

function send(response: ServerResponse, { status, type, chunks }: DemoReply): void {
  response.writeHead(status, { "content-type": type });
  for (const chunk of chunks) response.write(chunk);
  response.end();
}

import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { constants, createGzip } from "node:zlib";
import type { Clock } from "../base/index.ts";
import { bedrockCore } from "./bedrock/bedrock-core.ts";
import type { AwsKeys } from "./bedrock/sigv4.ts";
import type { BindingMode } from "./binding.ts";
import { type BodySplit, deliverySteps } from "./delivery-steps.ts";
import type { ScriptedModel } from "./model-reply.ts";
import type { ParsedRequest } from "./parsed-request.ts";
import { playSteps } from "./play-steps.ts";
import { credentialOf, headerMap, type ReadResult } from "./read-raw-request.ts";
import type { RequestProblem } from "./request-problem.ts";
import { ruleAgent } from "./rule-agent.ts";
import { type CoreAnswer, type StrictCore, strictCore } from "./strict-core.ts";
import { ExchangeRecord, type UpstreamExchange, type UpstreamRequest } from "./upstream-exchange.ts";
import { type FaultChooser, tooLarge, type UpstreamFault } from "./upstream-faults.ts";

export type StrictUpstreamOptions = {
  /** The model that answers. Without one, an agent follows the steps in the prompt. */
  readonly model?: ScriptedModel;
  /** The clock for the lifetimes of cached prompts. */
  readonly clock?: Clock;
  /** The models that bind their reasoning to the conversation. */
  readonly binding?: BindingMode;
  /** Called when a request has been read. */
  readonly fault?: FaultChooser;
  /** Called before the body is read, for faults that hit a client that is still sending. */
  readonly faultAtHead?: FaultChooser;
  /** Accepted credentials; without them, any that is not empty. */
  readonly keys?: readonly string[];
  /** A pause after every event. */
  readonly pace?: { readonly chunkMs: number };
  readonly split?: BodySplit;
  /** Compress answers for clients that accept it. */
  readonly compress?: boolean;
  /** Signs reasoning; a server restarted with the same secret accepts its old signatures. */
  readonly secret?: string;
  /** Foreign signatures are refused, or bound to the conversation in which they are first seen. */
  readonly foreignSignatures?: "refuse" | "accept";
  /** Unknown values of `anthropic-beta`. */
  readonly unknownBetas?: "refuse" | "accept";
  /** More model names, each with the name of the model whose rules apply. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Replaces the window of every model: tests fill a small window sooner. */
  readonly windowTokens?: number;
  readonly bodyBytesMax?: number;
  /** Answers as Amazon Bedrock, to clients that sign with these keys. */
  readonly bedrock?: AwsKeys;
  /** The number of latest exchanges that keep their bytes; without it all of them do. */
  readonly bodiesKept?: number;
};

export type StrictUpstream = {
  readonly url: string;
  /** In order of arrival; grows while the server runs. */
  readonly exchanges: readonly UpstreamExchange[];
  readonly close: () => Promise<void>;
};

/** Starts a Messages API on this machine that refuses everything the real one might refuse. */
export async function startStrictUpstream(options: StrictUpstreamOptions = {}): Promise<StrictUpstream> {
  const exchanges: ExchangeRecord[] = [];
  const messages = strictCore({
    ...options,
    model: options.model ?? ruleAgent(),
    clock: options.clock ?? { now: () => Date.now() },
    secret: options.secret ?? randomBytes(16).toString("hex"),
  });
  const core = options.bedrock === undefined ? messages : bedrockCore(messages, options.bedrock);
  const server = createServer((request, response) => {
    const record = new ExchangeRecord({
      n: exchanges.length + 1,
      method: request.method ?? "",
      target: request.url ?? "",
      rawHeaders: request.rawHeaders,
    });
    exchanges.push(record);
    if (options.bodiesKept !== undefined) exchanges.at(-1 - options.bodiesKept)?.forget();
    serve({ core, options, request, response, record }).catch(() => response.destroy());
  });
  // Closing a connection while a client reuses it would look like a fault that no test asked for.
  server.keepAliveTimeout = 0;
  await startListening(server);
  const { port } = server.address() as AddressInfo; // a TCP server has one
  return { url: `http://127.0.0.1:${port}`, exchanges, close: () => closeServer(server) };
}

type ServeInput = {
  readonly core: StrictCore;
  readonly options: StrictUpstreamOptions;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly record: ExchangeRecord;
};

const bodyBytesMax = 32 * 1024 * 1024;

async function serve(input: ServeInput): Promise<void> {
  const { core, options, request, response, record } = input;
  const clientLeft = watchClose(response, record);
  const early = options.faultAtHead?.(upstreamRequest(record, null)) ?? null;
  if (early !== null) {
    response.shouldKeepAlive = false;
    await sendAnswer({ ...input, clientLeft, fault: early, result: emptyResult });
    // Unread bytes would turn the end of the connection into a reset, and the answer would be lost.
    request.resume();
    return;
  }
  const size = await receive({ request, record, limit: options.bodyBytesMax ?? bodyBytesMax });
  if (size === "left") return;
  if (size === "too-large") {
    await sendAnswer({ ...input, clientLeft, fault: tooLarge(), result: emptyResult });
    return;
  }
  const result = core.read(record);
  const parsed = result.type === "request" ? result.request : null;
  record.unknownFields = parsed?.unknownFields ?? [];
  const fault = options.fault?.(upstreamRequest(record, parsed)) ?? null;
  await sendAnswer({ ...input, clientLeft, fault, result });
}

const emptyResult: ReadResult = { type: "hello" };

/** These faults send no part of an answer, so none is made: a script keeps its reply for the next attempt. */
const answerless: readonly string[] = ["hang-before-head", "reset-before-head", "not-http", "redirect"];

type AnswerTask = ServeInput & {
  readonly clientLeft: AbortSignal;
  readonly fault: UpstreamFault | null;
  readonly result: ReadResult;
};

async function sendAnswer({
  core,
  options,
  response,
  record,
  clientLeft,
  fault,
  result,
}: AnswerTask): Promise<void> {
  const refusal = refusalOf(fault, record);
  const answered = fault !== null && answerless.includes(fault.type) ? emptyResult : result;
  const answer = refusal === null ? await core.answer(answered, record.n) : core.refuse(refusal, record.n);
  record.error = answer.problem;
  record.usage = answer.usage;
  const body = options.compress === true && wantsGzip(record) ? await gzipAnswer(answer) : answer;
  const steps = deliverySteps({
    answer: record.method === "HEAD" ? withoutBody(body) : body,
    fault,
    split: options.split ?? "events",
    chunkMs: options.pace?.chunkMs ?? 0,
  });
  await playSteps(steps, { response, record, clientLeft, onStart: answer.onStart });
}

function withoutBody(answer: CoreAnswer): CoreAnswer {
  return { ...answer, chunks: [] };
}

/** A fault that refuses replaces the answer, and the model is never asked. */
function refusalOf(fault: UpstreamFault | null, record: ExchangeRecord): RequestProblem | null {
  if (fault?.type === "status")
    return { status: fault.status, type: fault.errorType, message: fault.message };
  if (fault?.type !== "echo-credential") return null;
  const credential = credentialOf(headerMap(record.rawHeaders));
  const message = `invalid credential: ${credential}`;
  return { status: fault.status ?? 401, type: "authentication_error", message };
}

function upstreamRequest(record: ExchangeRecord, parsed: ParsedRequest | null): UpstreamRequest {
  const { n, method, target, rawHeaders, body } = record;
  return { n, method, target, rawHeaders, body, parsed };
}

type ReceiveInput = {
  readonly request: IncomingMessage;
  readonly record: ExchangeRecord;
  readonly limit: number;
};

async function receive({ request, record, limit }: ReceiveInput): Promise<"whole" | "too-large" | "left"> {
  let size = 0;
  try {
    for await (const chunk of request) {
      const bytes = chunk as Buffer; // no encoding is set
      size += bytes.length;
      // The rest is read and dropped, so that the client gets the answer.
      if (size <= limit) record.receive(bytes);
    }
  } catch {
    return "left";
  }
  return size > limit ? "too-large" : "whole";
}

/** Records how the exchange ended; the signal fires when the connection closes. */
function watchClose(response: ServerResponse, record: ExchangeRecord): AbortSignal {
  const controller = new AbortController();
  response.on("finish", () => record.close("answered"));
  response.on("close", () => {
    record.close("client-left");
    controller.abort();
  });
  return controller.signal;
}

function startListening(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve());
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function wantsGzip({ rawHeaders }: Pick<UpstreamExchange, "rawHeaders">): boolean {
  return /\bgzip\b/.test(headerMap(rawHeaders).get("accept-encoding") ?? "");
}

/** Each event is flushed on its own: a client that unpacks as it reads sees it at once. */
async function gzipAnswer(answer: CoreAnswer): Promise<CoreAnswer> {
  const gzip = createGzip();
  let fresh: Buffer[] = [];
  gzip.on("data", (bytes: Buffer) => fresh.push(bytes));
  const chunks: Buffer[] = [];
  for (const chunk of answer.chunks) {
    gzip.write(chunk);
    await new Promise<void>((resolve) => gzip.flush(constants.Z_SYNC_FLUSH, resolve));
    chunks.push(Buffer.concat(fresh));
    fresh = [];
  }
  const ended = new Promise<void>((resolve) => gzip.once("end", () => resolve()));
  gzip.end();
  await ended;
  const headers = [...answer.headers, ["content-encoding", "gzip"] as const];
  return { ...answer, headers, chunks: [...chunks, Buffer.concat(fresh)] };
}

import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "../base/index.ts";
import { actsOf, type Split } from "./acts.ts";
import { ruleAgent } from "./agent.ts";
import { bedrockCore } from "./bedrock.ts";
import type { BindingMode } from "./binding.ts";
import { compressed, wantsGzip } from "./compress.ts";
import { type CoreAnswer, type StrictCore, strictCore } from "./core.ts";
import { deliver } from "./deliver.ts";
import { ExchangeRecord, type UpstreamExchange, type UpstreamRequest } from "./exchange.ts";
import type { Fault, FaultChooser } from "./faults.ts";
import { tooLarge } from "./faults.ts";
import { credentialOf, headersOf, type Reading } from "./read.ts";
import type { ScriptedModel } from "./reply.ts";
import type { ParsedRequest } from "./request.ts";
import type { AwsKeys } from "./sigv4.ts";

export type StrictUpstreamOptions = {
  /** Who answers. Without one, the agent that does what the prompt spells out. */
  readonly model?: ScriptedModel;
  /** For the lifetimes of cached prompts. */
  readonly clock?: Clock;
  /** Which models bind their reasoning to the conversation. */
  readonly binding?: BindingMode;
  /** Asked once a request has been read. */
  readonly fault?: FaultChooser;
  /** Asked before the body is read, for what happens to a client that is still sending. */
  readonly faultAtHead?: FaultChooser;
  /** Accepted credentials; without them, any that is not empty. */
  readonly keys?: readonly string[];
  /** A pause after every event. */
  readonly pace?: { readonly chunkMs: number };
  readonly split?: Split;
  /** Compress answers for clients that accept it. */
  readonly compress?: boolean;
  /** Makes the signatures; a server that is started anew with the same one knows its old ones. */
  readonly secret?: string;
  /** Signatures made elsewhere: refused, or bound to the conversation they are first seen in. */
  readonly foreignSignatures?: "refuse" | "accept";
  /** Values of `anthropic-beta` that nobody knows. */
  readonly unknownBetas?: "refuse" | "accept";
  /** Further model names, each with the name of the model whose rules it has. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** The window of every model, whatever its own is: a full one is met sooner in a small one. */
  readonly windowTokens?: number;
  readonly bodyBytesMax?: number;
  /** Speaks as Amazon Bedrock does, to whoever signs with these keys. */
  readonly bedrock?: AwsKeys;
  /** How many of the latest exchanges keep their bytes; without it all of them do. */
  readonly bodiesKept?: number;
};

export type StrictUpstream = {
  readonly url: string;
  /** In order of arrival; grows while the server runs. */
  readonly exchanges: readonly UpstreamExchange[];
  readonly close: () => Promise<void>;
};

/** Starts a model interface on this machine that refuses whatever the real one might refuse. */
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
  // A connection that we close while a client reuses it would look like a fault nobody asked for.
  server.keepAliveTimeout = 0;
  await listening(server);
  const { port } = server.address() as AddressInfo; // a TCP server has one
  return { url: `http://127.0.0.1:${port}`, exchanges, close: () => closed(server) };
}

type Serving = {
  readonly core: StrictCore;
  readonly options: StrictUpstreamOptions;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly record: ExchangeRecord;
};

const bodyBytesMax = 32 * 1024 * 1024;

async function serve(serving: Serving): Promise<void> {
  const { core, options, request, response, record } = serving;
  const left = departure(response, record);
  const early = options.faultAtHead?.(upstreamRequest(record, null)) ?? null;
  if (early !== null) {
    response.shouldKeepAlive = false;
    await play({ ...serving, left, fault: early, reading: nothingRead });
    // Unread bytes would turn the end of the connection into a reset, and the answer would be lost.
    request.resume();
    return;
  }
  const size = await receive({ request, record, limit: options.bodyBytesMax ?? bodyBytesMax });
  if (size === "left") return;
  if (size === "too-large") {
    await play({ ...serving, left, fault: tooLarge(), reading: nothingRead });
    return;
  }
  const reading = core.read(record);
  const parsed = reading.type === "request" ? reading.request : null;
  record.unknownFields = parsed?.unknownFields ?? [];
  const fault = options.fault?.(upstreamRequest(record, parsed)) ?? null;
  await play({ ...serving, left, fault, reading });
}

const nothingRead: Reading = { type: "hello" };

/** No part of an answer gets out, so none is made up: a script keeps its reply for the next attempt. */
const answerless: readonly string[] = ["hang-before-head", "reset-before-head", "not-http", "redirect"];

type Playing = Serving & {
  readonly left: AbortSignal;
  readonly fault: Fault | null;
  readonly reading: Reading;
};

async function play({ core, options, response, record, left, fault, reading }: Playing): Promise<void> {
  const refusal = refusalOf(fault, record);
  const heard = fault !== null && answerless.includes(fault.type) ? nothingRead : reading;
  const answer = refusal === null ? await core.answer(heard, record.n) : core.refuse(refusal, record.n);
  record.error = answer.problem;
  record.usage = answer.usage;
  const body = options.compress === true && wantsGzip(record) ? await compressed(answer) : answer;
  const acts = actsOf({
    answer: record.method === "HEAD" ? withoutBody(body) : body,
    fault,
    split: options.split ?? "events",
    chunkMs: options.pace?.chunkMs ?? 0,
  });
  await deliver(acts, { response, record, left, started: answer.started });
}

function withoutBody(answer: CoreAnswer): CoreAnswer {
  return { ...answer, chunks: [] };
}

/** Faults that refuse take the place of the answer, and the model is never asked. */
function refusalOf(fault: Fault | null, record: ExchangeRecord): Refusal | null {
  if (fault?.type === "status")
    return { status: fault.status, type: fault.errorType, message: fault.message };
  if (fault?.type !== "echo-credential") return null;
  const credential = credentialOf(headersOf(record.rawHeaders));
  const message = `invalid credential: ${credential}`;
  return { status: fault.status ?? 401, type: "authentication_error", message };
}

type Refusal = { readonly status: number; readonly type: string; readonly message: string };

function upstreamRequest(record: ExchangeRecord, parsed: ParsedRequest | null): UpstreamRequest {
  const { n, method, target, rawHeaders, body } = record;
  return { n, method, target, rawHeaders, body, parsed };
}

type Receiving = {
  readonly request: IncomingMessage;
  readonly record: ExchangeRecord;
  readonly limit: number;
};

async function receive({ request, record, limit }: Receiving): Promise<"whole" | "too-large" | "left"> {
  let size = 0;
  try {
    for await (const chunk of request) {
      const bytes = chunk as Buffer; // no encoding is set
      size += bytes.length;
      // The rest is read and forgotten, so that the client gets to hear the answer.
      if (size <= limit) record.receive(bytes);
    }
  } catch {
    return "left";
  }
  return size > limit ? "too-large" : "whole";
}

/** Tells the end of an exchange from a client that went away in the middle of it. */
function departure(response: ServerResponse, record: ExchangeRecord): AbortSignal {
  const controller = new AbortController();
  response.on("finish", () => record.close("answered"));
  response.on("close", () => {
    record.close("client-left");
    controller.abort();
  });
  return controller.signal;
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve());
  });
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

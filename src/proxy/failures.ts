import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type ApertureError, apertureError } from "../base/index.ts";
import { findProtocol, type Protocol } from "../protocols/index.ts";
import { framingOf, readHead } from "./headers.ts";
import type { Route } from "./routes.ts";
import type { Upstream } from "./upstreams.ts";

/** An error answer of ours in place of the upstream's answer. */
export type Refusal = { readonly status: number; readonly error: ApertureError };

/** A bug of ours ends one request, never the process. */
export const faultRefusal: Refusal = { status: 500, error: apertureError("AP_CONTROL_FAULT") };

/** Carries a refusal of ours through Node's error events. */
export class RefusalError extends Error {
  override readonly name = "RefusalError";
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.error.message);
    this.refusal = refusal;
  }
}

/** Reports only the code of the failure: the message of an error may quote what was sent. */
export function refusalForError(error: Error, upstream: Upstream): Refusal {
  if (error instanceof RefusalError) return error.refusal;
  const reason = codeIn(error);
  const details = { upstream: upstream.name, host: upstream.host, reason };
  if (reason === "ETIMEDOUT") return slowConnectRefusal(upstream);
  const cause = causes.find(({ pattern }) => pattern.test(reason));
  return { status: 502, error: apertureError(cause?.code ?? "AP_UPSTREAM_CONNECT", details) };
}

export function slowConnectRefusal(upstream: Upstream): Refusal {
  const details = { host: upstream.host, seconds: upstream.connectMs / 1_000 };
  return { status: 504, error: apertureError("AP_UPSTREAM_SLOW", details) };
}

/** The upstream's answer is not what HTTP allows here. */
export function protocolRefusal(upstream: Upstream, reason: string): Refusal {
  const details = { upstream: upstream.name, host: upstream.host, reason };
  return { status: 502, error: apertureError("AP_UPSTREAM_PROTOCOL", details) };
}

/** The upstream's answer broke off before the client got anything of it. */
export function resetRefusal(upstream: Upstream): Refusal {
  const details = { upstream: upstream.name, host: upstream.host, reason: "ECONNRESET" };
  return { status: 502, error: apertureError("AP_UPSTREAM_RESET", details) };
}

export function silenceRefusal(upstream: Upstream, idleMs: number): Refusal {
  const details = { host: upstream.host, seconds: idleMs / 1_000 };
  return { status: 504, error: apertureError("AP_UPSTREAM_SILENT", details) };
}

function codeIn(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "unknown";
}

const causes = [
  { pattern: /^(?:ENOTFOUND|EAI_|EDNS|ENODATA|ELINKLOCAL)/, code: "AP_UPSTREAM_DNS" },
  { pattern: /^(?:ECONNRESET|EPIPE|ECONNABORTED)/, code: "AP_UPSTREAM_RESET" },
  { pattern: /^(?:HPE_|ERR_INVALID|ERR_HTTP)/, code: "AP_UPSTREAM_PROTOCOL" },
  { pattern: /^(?:ERR_TLS|ERR_SSL|ERR_OSSL|EPROTO|CERT_|.*(?:CERT|SIGNATURE|CRL))/, code: "AP_UPSTREAM_TLS" },
] as const;

export type ErrorShape = "anthropic" | "openai" | "gemini" | "bedrock";

/** The form of errors that clients of this protocol expect, so that they can show and retry them. */
export function errorShapeOf(route: Route): ErrorShape {
  switch (route.protocol) {
    case "anthropic":
    case "gemini":
    case "bedrock":
      return route.protocol;
    case "openai-chat":
    case "openai-responses":
      return "openai";
    default:
      return route.label === "named" ? "openai" : route.label;
  }
}

type ErrorBodyInput = Refusal & { readonly message: string; readonly requestId: string };

/** How each protocol writes an error. Those without a folder in `src/protocols` are written here. */
const errorBodies: Readonly<Record<ErrorShape, (input: ErrorBodyInput) => string>> = {
  anthropic: (input) => findProtocol("anthropic")?.refusals.errorBody(input) ?? input.message,
  openai: ({ status, message, error: { code } }) =>
    JSON.stringify({ error: { message, type: openaiType(status), param: null, code } }),
  gemini: ({ status, message }) =>
    JSON.stringify({ error: { code: status, message, status: geminiStatus(status) } }),
  bedrock: ({ message }) => JSON.stringify({ message }),
};

/** An error of ours in the form of the client's protocol. */
export function errorBody(refusal: Refusal, requestId: string, shape: ErrorShape): string {
  return errorBodies[shape]({ ...refusal, message: messageOf(refusal), requestId });
}

function messageOf({ error }: Refusal): string {
  return `${error.message} (${error.code})`;
}

/** An error of ours as the last event of an answer that has begun. Only a round can fail so late. */
export function errorEventOf(refusal: Refusal, protocol: Protocol | null): Uint8Array | undefined {
  return protocol?.refusals.errorEvent({ status: refusal.status, message: messageOf(refusal) });
}

function openaiType(status: number): string {
  return status >= 500 ? "server_error" : "invalid_request_error";
}

function geminiStatus(status: number): string {
  if (status === 504) return "DEADLINE_EXCEEDED";
  if (status >= 500) return "UNAVAILABLE";
  const names = new Map([
    [401, "UNAUTHENTICATED"],
    [403, "PERMISSION_DENIED"],
    [404, "NOT_FOUND"],
  ]);
  return names.get(status) ?? "INVALID_ARGUMENT";
}

/** Sent with every answer of ours: no page may read it, no cache keep it, no browser guess its type. */
export const ownHeaders: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
};

type OwnAnswerTarget = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly id: string;
  /** The connection is closed after this answer. */
  readonly endsConnection?: boolean;
  /** The server is closing, so the connection is not kept alive. */
  readonly isDraining: boolean;
};
export type RefusalInput = OwnAnswerTarget & { readonly refusal: Refusal; readonly shape: ErrorShape };

export function sendRefusal({ refusal, shape, ...target }: RefusalInput): void {
  sendOwnAnswer({ ...target, status: refusal.status, body: errorBody(refusal, target.id, shape) });
}

type OwnAnswer = OwnAnswerTarget & { readonly status: number; readonly body: string };

const drainMs = 1_000;

/**
 * Sends an answer of ours. If a socket is closed before its input was read, the system discards the answer,
 * so the rest of the request is read for a moment first.
 */
export function sendOwnAnswer({
  request,
  response,
  status,
  body,
  id,
  endsConnection: ends = false,
  isDraining,
}: OwnAnswer): void {
  if (isDraining) response.shouldKeepAlive = false;
  const isUnread = !request.complete && framingOf(readHead(request.rawHeaders)) !== "none";
  // Node keeps the reason of a head that it refused to write, and would refuse this one for it too.
  response.writeHead(status, STATUS_CODES[status] ?? "", {
    ...ownHeaders,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-aperture-request-id": id,
    ...(status === 426 ? { upgrade: "HTTP/1.1" } : {}),
    ...(status === 405 ? { allow: "GET, HEAD, POST, PUT, PATCH, DELETE" } : {}),
    ...(isUnread || ends ? { connection: "close" } : {}),
  });
  if (!isUnread) {
    response.end(body);
    return;
  }
  response.write(body);
  const end = (): void => {
    response.end();
  };
  const timer = setTimeout(end, drainMs);
  request.once("end", end);
  response.once("close", () => clearTimeout(timer));
  request.resume();
}

type BrokenRequest = {
  readonly error: NodeJS.ErrnoException;
  readonly socket: Duplex;
  /** An answer is being written on this connection, or its last one was written. */
  readonly isBusy: boolean;
};

/**
 * Answers a request that is not valid HTTP; it is never relayed. The connection always ends, because the
 * start of the next request cannot be found.
 */
export function answerBrokenRequest({ error, socket, isBusy }: BrokenRequest): void {
  // Bytes after the last request are ignored: its answer may still be on its way.
  if (error.code === "HPE_CLOSED_CONNECTION" && isBusy) return;
  if (isBusy || !socket.writable || unanswerableCodes.has(error.code ?? "")) {
    socket.destroy();
    return;
  }
  const { status, reason, problem } = statusOfParseError(error.code ?? "");
  const refusal = { status, error: apertureError("AP_REQUEST_MALFORMED", { problem }) };
  const body = errorBody(refusal, "", "openai");
  const headers = {
    ...ownHeaders,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join("")}\r\n${body}`, () => socket.destroy());
}

/** Errors after which no answer can be delivered, or none is due. */
const unanswerableCodes: ReadonlySet<string> = new Set(["ECONNRESET", "HPE_CLOSED_CONNECTION"]);

function statusOfParseError(code: string): {
  readonly status: number;
  readonly reason: string;
  readonly problem: string;
} {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return { status: 431, reason: "Request Header Fields Too Large", problem: "its headers are too large" };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, reason: "Request Timeout", problem: "its headers did not arrive in time" };
    default:
      return { status: 400, reason: "Bad Request", problem: "it is not valid HTTP" };
  }
}

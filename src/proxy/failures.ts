import type { IncomingMessage, ServerResponse } from "node:http";
import { type ApertureError, apertureError } from "../base/index.ts";
import { framingOf, readHead } from "./headers.ts";
import type { Route } from "./routes.ts";
import type { Upstream } from "./upstreams.ts";

/** An answer of our own instead of an upstream's. */
export type Refusal = { readonly status: number; readonly error: ApertureError };

/** Why an exchange was given up by us rather than by the network. */
export class GivenUp extends Error {
  override readonly name = "GivenUp";
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.error.message);
    this.refusal = refusal;
  }
}

/** Names the failure by its code alone: what an error says in words may repeat what was sent. */
export function failureOf(error: Error, upstream: Upstream): Refusal {
  if (error instanceof GivenUp) return error.refusal;
  const reason = codeIn(error);
  const details = { upstream: upstream.name, host: upstream.host, reason };
  if (reason === "ETIMEDOUT") return slow(upstream);
  const found = causes.find(({ pattern }) => pattern.test(reason));
  return { status: 502, error: apertureError(found?.code ?? "AP_UPSTREAM_CONNECT", details) };
}

export function slow(upstream: Upstream): Refusal {
  const details = { host: upstream.host, seconds: upstream.connectMs / 1_000 };
  return { status: 504, error: apertureError("AP_UPSTREAM_SLOW", details) };
}

export function silent(upstream: Upstream, idleMs: number): Refusal {
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

export type Shape = "anthropic" | "openai" | "gemini" | "bedrock";

/** Errors take the form that the client of this protocol expects, so that it can show and retry them. */
export function shapeOf(route: Route): Shape {
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

export function errorBody({ status, error }: Refusal, id: string, shape: Shape): string {
  const message = `${error.message} (${error.code})`;
  switch (shape) {
    case "anthropic":
      return JSON.stringify({
        type: "error",
        error: { type: anthropicType(status), message },
        request_id: id,
      });
    case "openai":
      return JSON.stringify({ error: { message, type: openaiType(status), param: null, code: error.code } });
    case "gemini":
      return JSON.stringify({ error: { code: status, message, status: geminiStatus(status) } });
    default:
      return JSON.stringify({ message });
  }
}

export const threadProblem = "thread: threads are not supported here; send the whole conversation";

/** What a provider says where it keeps no talks. Clients go by the code. */
export function threadBody(id: string): string {
  const details = { error_code: "thread_unsupported_request", unsupported: [] };
  const error = { type: "invalid_request_error", message: threadProblem, details };
  return JSON.stringify({ type: "error", error, request_id: id });
}

function anthropicType(status: number): string {
  if (status >= 500) return "api_error";
  const types = new Map([
    [401, "authentication_error"],
    [403, "permission_error"],
    [404, "not_found_error"],
    [413, "request_too_large"],
  ]);
  return types.get(status) ?? "invalid_request_error";
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

/** On every answer of ours: no page may read it, no cache keep it, no browser guess its type. */
export const ownHeaders: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
};

type Refused = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly id: string;
  /** Nothing more is read from this connection. */
  readonly ends?: boolean;
};
export type Refusing = Refused & { readonly refusal: Refusal; readonly shape: Shape };

export function sendRefusal({ refusal, shape, ...refused }: Refusing): void {
  sendBody({ ...refused, status: refusal.status, body: errorBody(refusal, refused.id, shape) });
}

type Sent = Refused & { readonly status: number; readonly body: string };

const lingerMs = 1_000;

/**
 * Closing a socket whose input was not read makes the system discard the answer, so the rest of the body is
 * read for a moment before the end.
 */
export function sendBody({ request, response, status, body, id, ends = false }: Sent): void {
  const unread = !request.complete && framingOf(readHead(request.rawHeaders)) !== "none";
  response.writeHead(status, {
    ...ownHeaders,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-aperture-request-id": id,
    ...(status === 426 ? { upgrade: "HTTP/1.1" } : {}),
    ...(status === 405 ? { allow: "GET, HEAD, POST, PUT, PATCH, DELETE" } : {}),
    ...(unread || ends ? { connection: "close" } : {}),
  });
  if (!unread) {
    response.end(body);
    return;
  }
  response.write(body);
  const end = (): void => {
    response.end();
  };
  const timer = setTimeout(end, lingerMs);
  request.once("end", end);
  response.once("close", () => clearTimeout(timer));
  request.resume();
}

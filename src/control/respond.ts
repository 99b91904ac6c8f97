import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { ApertureError, ErrorCode } from "../base/index.ts";
import type { ErrorAnswer } from "./contract.ts";

/** What a route answers with. Never HTML: content of others passes through here, and none of it may run. */
export type Answer = {
  readonly status: number;
  readonly type: "application/json" | "text/plain; charset=utf-8" | "application/octet-stream";
  readonly body: string | Uint8Array;
  readonly headers?: OutgoingHttpHeaders;
};

/** On everything, so that no route can forget one. There are no CORS headers: other origins read nothing. */
export const securityHeaders = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
} as const;

export function json(value: unknown, headers: OutgoingHttpHeaders = {}): Answer {
  return { status: 200, type: "application/json", body: JSON.stringify(value), headers };
}

export function text(body: string): Answer {
  return { status: 200, type: "text/plain; charset=utf-8", body };
}

/** To be saved, never to be shown: a browser that would render it is told not to. */
export function attachment(bytes: Uint8Array, name: string): Answer {
  const headers = { "content-disposition": `attachment; filename="${name}"` };
  return { status: 200, type: "application/octet-stream", body: bytes, headers };
}

export function refusal({ code, message }: ApertureError, headers: OutgoingHttpHeaders = {}): Answer {
  const answer: ErrorAnswer = { error: { code, message } };
  return { ...json(answer, headers), status: statusOf(code) };
}

const statuses: Readonly<Partial<Record<ErrorCode, number>>> = {
  AP_QUERY_INVALID: 400,
  AP_INPUT_INVALID: 400,
  AP_COMMAND_INVALID: 400,
  AP_AUTH_REQUIRED: 401,
  AP_LOGIN_INVALID: 401,
  AP_WRITE_REFUSED: 403,
  AP_PAGE_REFUSED: 403,
  AP_METHOD_INVALID: 405,
  AP_REPLAY_IMPOSSIBLE: 409,
  AP_COMMAND_REFUSED: 409,
  AP_COMMAND_LIMIT: 409,
  AP_TOPIC_AMBIGUOUS: 409,
  AP_APPROVAL_DECIDED: 409,
  AP_SESSION_BUSY: 409,
  AP_UNDO_LOCKED: 409,
  AP_UNDO_CONFLICT: 409,
  AP_UNDO_IRREVERSIBLE: 409,
  AP_UNDO_NOTHING: 409,
  AP_UNDO_EMPTY: 409,
  AP_BODY_TOO_LARGE: 413,
  AP_CONTENT_PURGED: 410,
  AP_BLOCK_PURGED: 410,
  AP_WORK_TOO_LARGE: 413,
  AP_LOGIN_BUSY: 429,
  AP_WORK_BUSY: 429,
  AP_VIEWERS_FULL: 503,
  AP_ENGINE_DOWN: 503,
  AP_PERMISSIONS_FILE: 503,
};

export function statusOf(code: ErrorCode): number {
  const own = statuses[code];
  if (own !== undefined) return own;
  if (code.endsWith("_UNKNOWN")) return 404;
  return code.startsWith("AP_STORE_") ? 503 : 500;
}

export function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  if (response.headersSent || response.destroyed) return;
  const { status, type, body, headers } = answer;
  const size = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  // What a caller sends along and nobody reads goes on arriving; it ends with its connection.
  const rest = request.complete ? {} : { connection: "close" };
  const fixed = { "content-type": type, "content-length": size };
  response.writeHead(status, { ...headers, ...rest, ...fixed, ...securityHeaders });
  // Node leaves the body out by itself when the request was HEAD.
  response.end(body);
}

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { ApertureError, ErrorCode } from "../base/index.ts";
import type { ErrorAnswer } from "./contract.ts";

/** The answer of a route. It is never HTML: foreign content passes through here and must not run. */
export type HttpAnswer = {
  readonly status: number;
  readonly type: "application/json" | "text/plain; charset=utf-8" | "application/octet-stream";
  readonly body: string | Uint8Array;
  readonly headers?: OutgoingHttpHeaders;
};

/** Sent with every answer. There are no CORS headers, so other origins can read nothing. */
export const securityHeaders = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
} as const;

export function jsonAnswer(value: unknown, headers: OutgoingHttpHeaders = {}): HttpAnswer {
  return { status: 200, type: "application/json", body: JSON.stringify(value), headers };
}

export function textAnswer(body: string): HttpAnswer {
  return { status: 200, type: "text/plain; charset=utf-8", body };
}

/** A file to save. Browsers are told not to display it. */
export function fileAnswer(bytes: Uint8Array, name: string): HttpAnswer {
  const headers = { "content-disposition": `attachment; filename="${name}"` };
  return { status: 200, type: "application/octet-stream", body: bytes, headers };
}

export function errorAnswer({ code, message }: ApertureError, headers: OutgoingHttpHeaders = {}): HttpAnswer {
  const answer: ErrorAnswer = { error: { code, message } };
  return { ...jsonAnswer(answer, headers), status: statusOf(code) };
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

function statusOf(code: ErrorCode): number {
  const own = statuses[code];
  if (own !== undefined) return own;
  if (code.endsWith("_UNKNOWN")) return 404;
  return code.startsWith("AP_STORE_") ? 503 : 500;
}

export function sendAnswer(request: IncomingMessage, response: ServerResponse, answer: HttpAnswer): void {
  if (response.headersSent || response.destroyed) return;
  const { status, type, body, headers } = answer;
  const size = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  // A body that was not read would go on arriving, so its connection is closed.
  const rest = request.complete ? {} : { connection: "close" };
  const fixed = { "content-type": type, "content-length": size };
  response.writeHead(status, { ...headers, ...rest, ...fixed, ...securityHeaders });
  // Node omits the body of a HEAD request by itself.
  response.end(body);
}

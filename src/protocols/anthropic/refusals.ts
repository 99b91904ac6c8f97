import type { ErrorInput, RefusalReason } from "../protocol.ts";
import { type WireFields, wireFields } from "./schema.ts";

/** Writes an event of our own in the provider's form. */
export function encodeEvent(data: WireFields & { readonly type: string }): Buffer {
  return Buffer.from(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** Keeps the connection of a waiting client alive. */
export function pingEvent(): Buffer {
  return encodeEvent({ type: "ping" });
}

/** An error of ours as the body of an answer. */
export function errorBody({ status, message, requestId }: ErrorInput): string {
  return JSON.stringify({ type: "error", error: errorOf(status, message), request_id: requestId });
}

/** An error of ours as the last event of an answer that has begun. */
export function errorEvent({ status, message }: Omit<ErrorInput, "requestId">): Buffer {
  return encodeEvent({ type: "error", error: errorOf(status, message) });
}

/** The error in the body of a refusal as the last event of an answer that has begun. */
export function refusalEvent(body: Buffer): Buffer {
  return encodeEvent({ type: "error", error: errorIn(body) ?? unnamedError });
}

function errorIn(body: Buffer): unknown {
  try {
    return wireFields(JSON.parse(body.toString("utf8")))?.["error"] ?? null;
  } catch {
    return null;
  }
}

const unnamedError = { type: "api_error", message: "The model API failed in the middle of an answer." };

function errorOf(status: number, message: string): WireFields & { readonly type: string } {
  return { type: errorTypes.get(status) ?? (status >= 500 ? "api_error" : "invalid_request_error"), message };
}

const errorTypes: ReadonlyMap<number, string> = new Map([
  [401, "authentication_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [413, "request_too_large"],
]);

const threadProblem = "thread: threads are not supported here; send the whole conversation";

/**
 * The error of a provider that does not store threads. A client that uses threads knows its code, and sends
 * the whole conversation.
 */
export function threadRefusal(requestId: string): string {
  const details = { error_code: "thread_unsupported_request", unsupported: [] };
  const error = { type: "invalid_request_error", message: threadProblem, details };
  return JSON.stringify({ type: "error", error, request_id: requestId });
}

const reasoningRefusal =
  /bound to a different conversation|invalid `?signature`? in `?thinking|blocks[^"]* cannot be modified/i;
const editRefusal = /context[_-]management|clear_tool_uses/i;

/**
 * Why the provider refused a request: reasoning that was changed or follows another prefix than it was made
 * for, or the edit it was asked for, or the field or beta that asks for one.
 */
export function refusalReason(body: Uint8Array): RefusalReason {
  const text = Buffer.from(body).toString("utf8");
  if (editRefusal.test(text)) return "edit";
  return reasoningRefusal.test(text) ? "reasoning" : "other";
}

import type { UpstreamRequest } from "./upstream-exchange.ts";

/**
 * A fault that an upstream makes on demand. Events are counted from 1; an answer that does not stream is one
 * event. Faults of bytes and events damage the answer that would have been given.
 */
export type UpstreamFault = HeadFault | BodyFault;

/** A fault before the first byte of the body. */
export type HeadFault =
  /** Reads the request and never answers. */
  | { readonly type: "hang-before-head" }
  /** Answers as usual, but late. */
  | { readonly type: "slow-head"; readonly ms: number }
  /** Drops the connection without an answer. */
  | { readonly type: "reset-before-head" }
  /** Sends bytes that are not HTTP, and hangs up. */
  | { readonly type: "not-http"; readonly text: string }
  /** Announces an answer with an interim one (103). */
  | { readonly type: "early-hints" }
  /** Refuses, with any status and headers. */
  | {
      readonly type: "status";
      readonly status: number;
      readonly errorType: string;
      readonly message: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Redirects the client. */
  | { readonly type: "redirect"; readonly location: string; readonly status?: number }
  /** Promises more bytes than it sends, then closes. */
  | { readonly type: "short-body"; readonly missing: number }
  /** Answers as usual with other headers, such as a wrong content-type. */
  | { readonly type: "headers"; readonly headers: Readonly<Record<string, string>> }
  /** Refuses with a body that repeats the credential it was given. */
  | { readonly type: "echo-credential"; readonly status?: number };

/** A fault inside the body. */
export type BodyFault =
  /** Pauses once, after some events. */
  | { readonly type: "pause-after-events"; readonly events: number; readonly ms: number }
  /** Pauses after every event. */
  | { readonly type: "slow-events"; readonly ms: number }
  /** Goes silent after some events, with the connection open. */
  | { readonly type: "hang-after-events"; readonly events: number }
  /** Resets the connection after some events. */
  | { readonly type: "reset-after-events"; readonly events: number }
  /** Resets the connection after some bytes of the body. */
  | { readonly type: "reset-after-bytes"; readonly bytes: number }
  /** Ends the body cleanly, but without the rest of the events. */
  | { readonly type: "end-after-events"; readonly events: number }
  /** Ends the body cleanly after some bytes: inside an event, a line or a character. */
  | { readonly type: "end-after-bytes"; readonly bytes: number }
  /** Closes the connection politely in the middle of the body. */
  | { readonly type: "close-after-events"; readonly events: number }
  /** Puts bytes of your choice between two events. */
  | { readonly type: "garbage-after-events"; readonly events: number; readonly bytes: Uint8Array }
  /** Leaves out the blank line after one event. */
  | { readonly type: "missing-blank-line"; readonly event: number }
  /** Puts one enormous event after some others. */
  | { readonly type: "huge-event"; readonly events: number; readonly bytes: number }
  /** Sends an `error` event after some others, and ends. */
  | {
      readonly type: "error-event";
      readonly events: number;
      readonly errorType: string;
      readonly message: string;
    };

/** Called once per request; null is no fault. */
export type FaultChooser = (request: UpstreamRequest) => UpstreamFault | null;

export function rateLimited(retryAfterSeconds: number): UpstreamFault {
  const headers = { "retry-after": String(retryAfterSeconds) };
  const message = "This request would exceed your rate limit.";
  return { type: "status", status: 429, errorType: "rate_limit_error", message, headers };
}

export function overloaded(): UpstreamFault {
  return { type: "status", status: 529, errorType: "overloaded_error", message: "Overloaded" };
}

export function internalError(): UpstreamFault {
  return { type: "status", status: 500, errorType: "api_error", message: "Internal server error" };
}

export function tooLarge(): UpstreamFault {
  const message = "Request exceeds the maximum size";
  return { type: "status", status: 413, errorType: "request_too_large", message };
}

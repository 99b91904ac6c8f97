import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { apertureError } from "../base/index.ts";
import type { PlannedRequest } from "../exchange/index.ts";
import { finishAnswer, passAnswerOn, truncateAnswer } from "./answer.ts";
import { mayHoldOwnCalls } from "./deliver.ts";
import {
  errorShapeOf,
  type Refusal,
  RefusalError,
  refusalForError,
  sendOwnAnswer,
  sendRefusal,
  slowConnectRefusal,
  threadBody,
  threadProblem,
} from "./failures.ts";
import { framingOf, reframeHeaders, trailerPairs, upstreamHeaders } from "./headers.ts";
import { holdRefusal, mayBeRetried } from "./hold-refusal.ts";
import type { RelayedExchange } from "./relayed-exchange.ts";
import { recordResend } from "./report-exchange.ts";
import {
  completeAnswerBefore,
  type FailedAnswer,
  isFailedRound,
  readToEnd,
  sendFailureEvent,
  sendMissingAnswerEvent,
} from "./rounds.ts";

/**
 * Opens a request upstream and writes the planned body, or the client's as far as it came. Throws on invalid
 * HTTP.
 */
export function sendUpstream(exchange: RelayedExchange): void {
  const outgoing = connect(exchange);
  for (const piece of exchange.planned?.pieces ?? exchange.clientBody.chunks ?? []) outgoing.write(piece);
  if (exchange.hasWholeBody) endUpstreamRequest(exchange);
}

/** For event handlers, where no caller would catch the error. */
export function sendUpstreamOrGiveUp(exchange: RelayedExchange): void {
  try {
    sendUpstream(exchange);
  } catch {
    giveUp(exchange, { status: 500, error: apertureError("AP_CONTROL_FAULT") });
  }
}

export function endUpstreamRequest({ outgoing, arrival: { request } }: RelayedExchange): void {
  if (request.rawTrailers.length > 0) outgoing?.addTrailers(trailerPairs(request.rawTrailers));
  outgoing?.end();
}

function connect(exchange: RelayedExchange): ClientRequest {
  const { request, route, upstream } = exchange.arrival;
  const outgoing = upstream.open({
    method: request.method ?? "GET",
    rest: route.rest,
    headers: headersFor(exchange),
  });
  exchange.outgoing = outgoing;
  outgoing.once("socket", (socket) => onSocket(exchange, outgoing, socket));
  outgoing.on("drain", () => request.resume());
  outgoing.once("response", (incoming) => onAnswer(exchange, incoming));
  outgoing.on("error", (error) => onUpstreamError(exchange, outgoing, error));
  return outgoing;
}

function headersFor({ arrival, planned }: RelayedExchange): string[] {
  const { head, request, upstream } = arrival;
  const headers = upstreamHeaders(head, upstream.host);
  if (framingOf(head) === "none") return withEmptyBody(headers, request.method);
  if (planned === null) return headers;
  const { rendering, length, betas } = planned;
  return reframeHeaders(headers, {
    isReplaced: rendering !== "raw",
    length,
    betas,
    mustBePlain: mayHoldOwnCalls(planned),
  });
}

/**
 * A request without a length has no body. Node would send it chunked if its method usually has one, so the
 * length 0 is given explicitly.
 */
function withEmptyBody(headers: string[], method: string | undefined): string[] {
  const usuallyHasBody = method === "POST" || method === "PUT" || method === "PATCH";
  return usuallyHasBody ? [...headers, "Content-Length", "0"] : headers;
}

function onAnswer(exchange: RelayedExchange, incoming: IncomingMessage): void {
  const before = isFailedRound(exchange, incoming) ? completeAnswerBefore(exchange) : null;
  if (before !== null) {
    readToEnd(exchange, { incoming, held: [] }, () => finishAnswer(exchange, before.incoming, before.head));
    return;
  }
  if (!mayBeRetried(exchange, incoming)) {
    passOrReportFailure(exchange, { incoming, held: [] });
    return;
  }
  holdRefusal(exchange, incoming, ({ chunks, retry }) => {
    if (retry === null) passOrReportFailure(exchange, { incoming, held: chunks });
    else sendRetry(exchange, retry);
  });
}

/**
 * A client that has part of the answer already gets the failure as an event; otherwise it gets the answer.
 */
function passOrReportFailure(exchange: RelayedExchange, { incoming, held }: FailedAnswer): void {
  const isBegun = exchange.arrival.response.headersSent;
  if (isBegun && isFailedRound(exchange, incoming)) sendFailureEvent(exchange, { incoming, held });
  else passOrGiveUp(exchange, incoming, held);
}

function passOrGiveUp(exchange: RelayedExchange, incoming: IncomingMessage, held: readonly Buffer[]): void {
  try {
    passAnswerOn(exchange, incoming, { held, sendAgain: sendUpstreamOrGiveUp });
  } catch (error) {
    const reason = error instanceof Error ? error : new Error("the answer cannot be passed on");
    giveUp(exchange, refusalForError(reason, exchange.arrival.upstream));
  }
}

/** Sends another plan in place of the refused one; the client never sees the refusal. */
function sendRetry(exchange: RelayedExchange, retry: PlannedRequest): void {
  exchange.planned = retry;
  exchange.isRetried = false;
  if (retry.refusal !== null) {
    giveUp(exchange, { status: 409, error: retry.refusal });
    return;
  }
  recordResend(exchange, retry.sent);
  sendUpstreamOrGiveUp(exchange);
}

/** Notes the facts by which a stale connection is recognised, and limits the time to connect. */
function onSocket(exchange: RelayedExchange, outgoing: ClientRequest, socket: Socket): void {
  exchange.socketStart.bytesRead = socket.bytesRead;
  exchange.socketStart.at = performance.now();
  if (outgoing.reusedSocket) return;
  const { upstream } = exchange.arrival;
  const timer = setTimeout(
    () => outgoing.destroy(new RefusalError(slowConnectRefusal(upstream))),
    upstream.connectMs,
  );
  const done = (): void => clearTimeout(timer);
  socket.once(upstream.isSecure ? "secureConnect" : "connect", done);
  socket.once("close", done);
}

function onUpstreamError(exchange: RelayedExchange, outgoing: ClientRequest, error: Error): void {
  // The attempt was replaced by another, or the exchange has ended already.
  if (exchange.outgoing !== outgoing || exchange.outcome !== null) return;
  exchange.releaseRefusal?.();
  if (exchange.incoming !== null) {
    // Without a length the answer would look complete; only this error shows that it is not.
    if (!exchange.incoming.complete) truncateAnswer(exchange);
    return;
  }
  if (isStaleConnection(exchange, outgoing, error)) retryOnNewConnection(exchange);
  else giveUp(exchange, refusalForError(error, exchange.arrival.upstream));
}

/** A stale connection fails at once; an upstream that hangs up later may have started to work. */
const staleMaxMs = 1_000;

/**
 * An upstream may close an idle connection in the very moment it is reused. It has not read the request then,
 * and the client does not know of our connections, so we send the request again.
 */
function isStaleConnection(exchange: RelayedExchange, outgoing: ClientRequest, error: Error): boolean {
  const code = "code" in error ? error.code : null;
  const isUntouched =
    outgoing.socket === null || outgoing.socket.bytesRead === exchange.socketStart.bytesRead;
  return (
    outgoing.reusedSocket &&
    !exchange.isRetried &&
    (code === "ECONNRESET" || code === "EPIPE") &&
    isUntouched &&
    (exchange.planned?.pieces ?? exchange.clientBody.chunks) !== null &&
    performance.now() - exchange.socketStart.at <= staleMaxMs
  );
}

function retryOnNewConnection(exchange: RelayedExchange): void {
  exchange.isRetried = true;
  exchange.context.meter.add("retried", 1);
  // Other idle connections are as old and probably stale too.
  exchange.arrival.upstream.forgetIdle();
  sendUpstreamOrGiveUp(exchange);
  if (!exchange.hasWholeBody) exchange.arrival.request.resume();
}

/**
 * Answers with the provider's own error: a client that uses threads knows it, and sends the whole
 * conversation.
 */
export function refuseThread(exchange: RelayedExchange): void {
  if (exchange.outcome !== null) return;
  const { id, request, response } = exchange.arrival;
  exchange.outcome = "failed";
  exchange.problem = threadProblem;
  if (exchange.context.isDraining) response.shouldKeepAlive = false;
  sendOwnAnswer({ request, response, id, status: 400, body: threadBody(id) });
}

/**
 * Ends an exchange from our side: with the answer of the round before if there is one, with an error, or by
 * cutting an answer that has begun.
 */
export function giveUp(exchange: RelayedExchange, refusal: Refusal): void {
  if (exchange.outcome !== null) return;
  const { id, route, request, response } = exchange.arrival;
  const before = exchange.incoming === null ? completeAnswerBefore(exchange) : null;
  if (before !== null) {
    finishAnswer(exchange, before.incoming, before.head);
    exchange.outcome = "failed";
    exchange.problem = refusal.error.message;
  } else if (response.headersSent) {
    if (!sendMissingAnswerEvent(exchange, refusal)) truncateAnswer(exchange);
  } else {
    exchange.outcome = "failed";
    exchange.problem = refusal.error.message;
    if (exchange.context.isDraining) response.shouldKeepAlive = false;
    sendRefusal({ request, response, refusal, id, shape: errorShapeOf(route) });
  }
  exchange.outgoing?.destroy();
}

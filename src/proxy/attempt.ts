import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { apertureError } from "../base/index.ts";
import type { Sending } from "../session/index.ts";
import { finish as finishAnswer, passOn, truncate } from "./answer.ts";
import { mayHide } from "./deliver.ts";
import type { Exchange } from "./exchange.ts";
import {
  failureOf,
  GivenUp,
  type Refusal,
  sendBody,
  sendRefusal,
  shapeOf,
  slow,
  threadBody,
  threadProblem,
} from "./failures.ts";
import { framingOf, reframed, trailerPairs, upstreamHeaders } from "./headers.ts";
import { holdBack, isHeldBack } from "./hold-back.ts";
import { announceAgain } from "./report.ts";
import { hearOut, isNoRound, type Refusing, standsAlone, tellFailure, tellNoAnswer } from "./rounds.ts";

/** Opens a request upstream and writes what there is to send. Throws if it cannot be written as HTTP. */
export function attempt(exchange: Exchange): void {
  const outgoing = connect(exchange);
  for (const piece of exchange.sending?.pieces ?? exchange.sent.chunks ?? []) outgoing.write(piece);
  if (exchange.bodyEnded) finish(exchange);
}

/** An attempt outside the call that began the exchange, where nobody else would catch a mistake of ours. */
export function attemptLater(exchange: Exchange): void {
  try {
    attempt(exchange);
  } catch {
    giveUp(exchange, { status: 500, error: apertureError("AP_CONTROL_FAULT") });
  }
}

/** The body is whole, and so is what goes upstream. */
export function finish({ outgoing, arrival: { request } }: Exchange): void {
  if (request.rawTrailers.length > 0) outgoing?.addTrailers(trailerPairs(request.rawTrailers));
  outgoing?.end();
}

function connect(exchange: Exchange): ClientRequest {
  const { request, route, upstream } = exchange.arrival;
  const outgoing = upstream.open({
    method: request.method ?? "GET",
    rest: route.rest,
    headers: headersFor(exchange),
  });
  exchange.outgoing = outgoing;
  outgoing.once("socket", (socket) => socketGiven(exchange, outgoing, socket));
  outgoing.on("drain", () => request.resume());
  outgoing.once("response", (incoming) => answered(exchange, incoming));
  outgoing.on("error", (error) => upstreamFailed(exchange, outgoing, error));
  return outgoing;
}

function headersFor({ arrival, sending }: Exchange): string[] {
  const { head, request, upstream } = arrival;
  const headers = upstreamHeaders(head, upstream.host);
  if (framingOf(head) === "none") return withEmptyBody(headers, request.method);
  if (sending === null) return headers;
  const { rendering, length, betas } = sending;
  return reframed(headers, { isReplaced: rendering !== "raw", length, betas, isRead: mayHide(sending) });
}

/**
 * A request without a length has no body. Node would send it in chunks where a method usually has one, so it
 * is told what an upstream would conclude by itself.
 */
function withEmptyBody(headers: string[], method: string | undefined): string[] {
  const usual = method === "POST" || method === "PUT" || method === "PATCH";
  return usual ? [...headers, "Content-Length", "0"] : headers;
}

function answered(exchange: Exchange, incoming: IncomingMessage): void {
  const before = isNoRound(exchange, incoming) ? standsAlone(exchange) : null;
  if (before !== null) {
    hearOut(exchange, { incoming, held: [] }, () => finishAnswer(exchange, before.incoming, before.head));
    return;
  }
  if (!isHeldBack(exchange, incoming)) {
    passOrTell(exchange, { incoming, held: [] });
    return;
  }
  holdBack(exchange, incoming, ({ chunks, another }) => {
    if (another === null) passOrTell(exchange, { incoming, held: chunks });
    else sendInstead(exchange, another);
  });
}

/** A refusal in the middle of what the client has got already is told there. */
function passOrTell(exchange: Exchange, { incoming, held }: Refusing): void {
  const isBegun = exchange.arrival.response.headersSent;
  if (isBegun && isNoRound(exchange, incoming)) tellFailure(exchange, { incoming, held });
  else pass(exchange, incoming, held);
}

function pass(exchange: Exchange, incoming: IncomingMessage, held: readonly Buffer[]): void {
  try {
    passOn(exchange, incoming, { held, again: attemptLater });
  } catch (error) {
    const reason = error instanceof Error ? error : new Error("the answer cannot be passed on");
    giveUp(exchange, failureOf(reason, exchange.arrival.upstream));
  }
}

/** What was refused is forgotten, and the client knows nothing of it. */
function sendInstead(exchange: Exchange, another: Sending): void {
  exchange.sending = another;
  exchange.retried = false;
  if (another.refusal !== null) {
    giveUp(exchange, { status: 409, error: another.refusal });
    return;
  }
  announceAgain(exchange, another.sent);
  attemptLater(exchange);
}

/** Remembers what a retry depends on, and bounds the time a new connection may take. */
function socketGiven(exchange: Exchange, outgoing: ClientRequest, socket: Socket): void {
  exchange.given.bytesRead = socket.bytesRead;
  exchange.given.at = performance.now();
  if (outgoing.reusedSocket) return;
  const { upstream } = exchange.arrival;
  const timer = setTimeout(() => outgoing.destroy(new GivenUp(slow(upstream))), upstream.connectMs);
  const done = (): void => clearTimeout(timer);
  socket.once(upstream.secure ? "secureConnect" : "connect", done);
  socket.once("close", done);
}

function upstreamFailed(exchange: Exchange, outgoing: ClientRequest, error: Error): void {
  // A failure of an attempt that was replaced, or that follows what already ended the exchange.
  if (exchange.outgoing !== outgoing || exchange.outcome !== null) return;
  exchange.letGo?.();
  if (exchange.incoming !== null) {
    // An answer that only the end of its connection ends would look complete: the error is what tells.
    if (!exchange.incoming.complete) truncate(exchange);
    return;
  }
  if (wasStale(exchange, outgoing, error)) retry(exchange);
  else giveUp(exchange, failureOf(error, exchange.arrival.upstream));
}

/** A dead connection shows at once; an upstream that hangs up later may have begun the work. */
const staleMaxMs = 1_000;

/**
 * An upstream may close an idle connection in the very moment we use it again. Such a request was not read,
 * and clients know nothing of our connections, so it is our task to send it again.
 */
function wasStale(exchange: Exchange, outgoing: ClientRequest, error: Error): boolean {
  const code = "code" in error ? error.code : null;
  const untouched = outgoing.socket === null || outgoing.socket.bytesRead === exchange.given.bytesRead;
  return (
    outgoing.reusedSocket &&
    !exchange.retried &&
    (code === "ECONNRESET" || code === "EPIPE") &&
    untouched &&
    (exchange.sending?.pieces ?? exchange.sent.chunks) !== null &&
    performance.now() - exchange.given.at <= staleMaxMs
  );
}

function retry(exchange: Exchange): void {
  exchange.retried = true;
  exchange.context.meter.add("retried", 1);
  // Its neighbours were opened at the same time, and the next attempt must not meet one of them.
  exchange.arrival.upstream.forgetIdle();
  attemptLater(exchange);
  if (!exchange.bodyEnded) exchange.arrival.request.resume();
}

/** In the provider's words: a client that lets its provider keep the talk knows them, and sends all of it. */
export function refuseThread(exchange: Exchange): void {
  if (exchange.outcome !== null) return;
  const { id, request, response } = exchange.arrival;
  exchange.outcome = "failed";
  exchange.problem = threadProblem;
  if (exchange.context.draining) response.shouldKeepAlive = false;
  sendBody({ request, response, id, status: 400, body: threadBody(id) });
}

/** Ends an exchange from our side: with an error of our own, or by cutting an answer that has begun. */
export function giveUp(exchange: Exchange, refusal: Refusal): void {
  if (exchange.outcome !== null) return;
  const { id, route, request, response } = exchange.arrival;
  const before = exchange.incoming === null ? standsAlone(exchange) : null;
  if (before !== null) {
    finishAnswer(exchange, before.incoming, before.head);
    exchange.outcome = "failed";
    exchange.problem = refusal.error.message;
  } else if (response.headersSent) {
    if (!tellNoAnswer(exchange, refusal)) truncate(exchange);
  } else {
    exchange.outcome = "failed";
    exchange.problem = refusal.error.message;
    if (exchange.context.draining) response.shouldKeepAlive = false;
    sendRefusal({ request, response, refusal, id, shape: shapeOf(route) });
  }
  exchange.outgoing?.destroy();
}

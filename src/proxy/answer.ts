import type { IncomingMessage } from "node:http";
import { apertureError } from "../base/index.ts";
import { appendToCopy } from "./body-copy.ts";
import { deliver, deliverEnd, deliverHeld, interceptorFor, isEventStream, stripperFor } from "./deliver.ts";
import { errorShapeOf, sendRefusal } from "./failures.ts";
import { clientHeaders, framingOf, type Head, readHead, trailerPairs } from "./headers.ts";
import type { RelayedExchange } from "./relayed-exchange.ts";
import { recordRequestOnce } from "./report-exchange.ts";
import { startRound } from "./rounds.ts";

/**
 * Passes the upstream's answer on to the client: its head, the chunks that were held, and the rest as it
 * arrives. Throws if the answer cannot be written as HTTP.
 */
export function passAnswerOn(
  exchange: RelayedExchange,
  incoming: IncomingMessage,
  { held, sendAgain }: PassOnOptions,
): void {
  const { answerBody } = exchange;
  startAnswer(exchange, incoming);
  exchange.incoming = incoming;
  exchange.firstByteAt ??= performance.now();
  exchange.quietSweeps = 0;
  const pass = (chunk: Buffer): void => {
    exchange.quietSweeps = 0;
    if (!deliver(exchange, chunk)) incoming.pause();
    appendToCopy(answerBody, chunk);
  };
  for (const chunk of held) pass(chunk);
  incoming.on("data", pass);
  incoming.once("end", () => answerEnded(exchange, incoming, sendAgain));
  // `close` follows the error of an answer that breaks off, and is handled below.
  incoming.on("error", () => undefined);
  incoming.once("close", () => {
    if (!incoming.complete) truncateAnswer(exchange);
  });
  // An answer that was held until it was over emits no more events.
  if (incoming.closed) endClosedAnswer(exchange, incoming, sendAgain);
  setImmediate(flushLoneHead, exchange);
}

type PassOnOptions = {
  /** Chunks of the body that arrived while the answer was held. */
  readonly held: readonly Buffer[];
  /** Sends the planned request of the exchange for a round. */
  readonly sendAgain: (exchange: RelayedExchange) => void;
};

/**
 * Writes the head at once, unless it was written for the first round, or an interceptor needs the whole
 * answer before it can be delivered.
 */
function startAnswer(exchange: RelayedExchange, incoming: IncomingMessage): void {
  const head = readHead(incoming.rawHeaders);
  exchange.answerHead = head;
  exchange.stripper = stripperFor(exchange, head);
  const isOk = incoming.statusCode === 200;
  if (!exchange.isContinued) exchange.interceptor = isOk ? interceptorFor(exchange, head) : null;
  else if (isOk) exchange.interceptor?.beginRound();
  // The client gets the refusal in place of everything the interceptor holds.
  else exchange.interceptor = null;
  if (exchange.interceptor === null || (!exchange.isContinued && isEventStream(head)))
    writeHead(exchange, incoming, head);
}

function writeHead(exchange: RelayedExchange, incoming: IncomingMessage, head: Head): void {
  const { request, response, id } = exchange.arrival;
  const status = incoming.statusCode ?? 502;
  const isBodyless = request.method === "HEAD" || status === 204 || status === 304;
  const mayChunk = request.httpVersion === "1.1" && !isBodyless;
  const isChunked = mayChunk && framingOf(head) === "chunked";
  const hasLength = exchange.interceptor === null;
  // The upstream's Date header is passed on; Node would add a second one.
  response.sendDate = false;
  if (exchange.context.isDraining) response.shouldKeepAlive = false;
  response.writeHead(status, incoming.statusMessage ?? "", clientHeaders(head, { id, isChunked, hasLength }));
}

function endClosedAnswer(
  exchange: RelayedExchange,
  incoming: IncomingMessage,
  sendAgain: PassOnOptions["sendAgain"],
): void {
  if (incoming.complete) answerEnded(exchange, incoming, sendAgain);
  else truncateAnswer(exchange);
}

/** Sends the head alone if no body has arrived yet; otherwise both were sent together. */
function flushLoneHead(exchange: RelayedExchange): void {
  const { arrival, answerBody, stripper, interceptor } = exchange;
  if (exchange.endedAt !== null) return;
  const isHeld = (stripper !== null || interceptor !== null) && exchange.deliveredBytes === 0;
  const isAlone = (answerBody.length === 0 || isHeld) && arrival.response.headersSent;
  if (isAlone && !arrival.response.writableEnded) arrival.response.flushHeaders();
  if (exchange.hasWholeBody) recordRequestOnce(exchange);
}

function answerEnded(
  exchange: RelayedExchange,
  incoming: IncomingMessage,
  sendAgain: PassOnOptions["sendAgain"],
): void {
  if (
    exchange.outcome !== null ||
    !incoming.complete ||
    startRound(exchange, { sendAgain, finish: finishAnswer })
  )
    return;
  finishAnswer(exchange, incoming);
}

/** Delivers the end of the answer, or cuts the connection if that fails: no caller would catch the error. */
export function finishAnswer(
  exchange: RelayedExchange,
  incoming: IncomingMessage,
  head = exchange.answerHead,
): void {
  try {
    completeAnswer(exchange, incoming, head);
  } catch {
    exchange.outcome = null;
    truncateAnswer(exchange);
  }
}

function completeAnswer(exchange: RelayedExchange, incoming: IncomingMessage, head: Head | null): void {
  const { response, request } = exchange.arrival;
  exchange.outcome = "complete";
  if (!response.headersSent && head !== null) writeHead(exchange, incoming, head);
  deliverEnd(exchange);
  if (incoming.rawTrailers.length > 0) response.addTrailers(trailerPairs(incoming.rawTrailers));
  response.end();
  if (exchange.hasWholeBody) return;
  // The upstream has answered early and does not read the rest of the request.
  exchange.outgoing?.destroy();
  request.resume();
}

/**
 * The upstream's answer broke off. The client gets the bytes that arrived, then the connection is cut: a
 * regular end would look like a complete answer.
 */
export function truncateAnswer(exchange: RelayedExchange): void {
  const { request, response } = exchange.arrival;
  if (exchange.outcome !== null) return;
  if (!response.headersSent) {
    refuseHeldAnswer(exchange);
    return;
  }
  exchange.outcome = "truncated";
  deliverUnread(exchange);
  deliverHeld(exchange);
  const { socket } = response;
  if (socket === null) response.destroy();
  else if (request.httpVersion === "1.1" || isDelimited(exchange)) socket.destroySoon();
  // If only the end of the connection delimits the body, a regular close would look complete, so it is reset.
  else socket.write("", () => socket.resetAndDestroy());
}

/** The client has got nothing of a held answer yet, so it gets an error of ours. */
function refuseHeldAnswer(exchange: RelayedExchange): void {
  const { id, route, request, response, upstream } = exchange.arrival;
  const details = { upstream: upstream.name, host: upstream.host, reason: "ECONNRESET" };
  const refusal = { status: 502, error: apertureError("AP_UPSTREAM_RESET", details) };
  exchange.outcome = "failed";
  exchange.problem = refusal.error.message;
  sendRefusal({ request, response, refusal, id, shape: errorShapeOf(route) });
}

/** The client was sent a Content-Length. With an interceptor we send none. */
function isDelimited({ answerHead, interceptor }: RelayedExchange): boolean {
  return interceptor === null && answerHead !== null && framingOf(answerHead) === "length";
}

/** Delivers bytes that arrived while the client was too slow to read them. */
function deliverUnread(exchange: RelayedExchange): void {
  const { incoming, answerBody } = exchange;
  if (incoming === null) return;
  for (let chunk = incoming.read(); chunk instanceof Buffer; chunk = incoming.read()) {
    deliver(exchange, chunk);
    appendToCopy(answerBody, chunk);
  }
}

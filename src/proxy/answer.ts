import type { IncomingMessage } from "node:http";
import { apertureError } from "../base/index.ts";
import { deliver, deliverHeld, deliverRest, interceptorFor, isEventStream, stripperFor } from "./deliver.ts";
import type { Exchange } from "./exchange.ts";
import { collect } from "./exchange-copy.ts";
import { sendRefusal, shapeOf } from "./failures.ts";
import { clientHeaders, framingOf, type Head, readHead, trailerPairs } from "./headers.ts";
import { announce } from "./report.ts";
import { goesOn } from "./rounds.ts";

/**
 * Passes on the head of an answer, then what was held of its body, then the rest as it arrives. Throws if it
 * cannot be written as HTTP.
 */
export function passOn(exchange: Exchange, incoming: IncomingMessage, { held, again }: Passing): void {
  const { received } = exchange;
  beginAnswer(exchange, incoming);
  exchange.incoming = incoming;
  exchange.firstByteAt ??= performance.now();
  exchange.quietSweeps = 0;
  const pass = (chunk: Buffer): void => {
    exchange.quietSweeps = 0;
    if (!deliver(exchange, chunk)) incoming.pause();
    collect(received, chunk);
  };
  for (const chunk of held) pass(chunk);
  incoming.on("data", pass);
  incoming.once("end", () => ended(exchange, incoming, again));
  // The error of an answer that breaks off says nothing that `close` does not.
  incoming.on("error", () => undefined);
  incoming.once("close", () => {
    if (!incoming.complete) truncate(exchange);
  });
  // One that was held back until it was over says nothing more.
  if (incoming.closed) endHeld(exchange, incoming, again);
  setImmediate(afterHead, exchange);
}

type Passing = {
  /** What was held of its body. */
  readonly held: readonly Buffer[];
  /** Sends what the exchange is to send now: the answer goes on with the answer to that. */
  readonly again: (exchange: Exchange) => void;
};

/** What is written of the head at once: of an answer that goes on, it was; of one that is held, it waits. */
function beginAnswer(exchange: Exchange, incoming: IncomingMessage): void {
  const head = readHead(incoming.rawHeaders);
  exchange.incomingHead = head;
  exchange.stripper = stripperFor(exchange, head);
  const isWell = incoming.statusCode === 200;
  if (!exchange.isGoingOn) exchange.interceptor = isWell ? interceptorFor(exchange, head) : null;
  else if (isWell) exchange.interceptor?.goOn();
  // Of what was held nothing is told: the client gets the refusal in its place.
  else exchange.interceptor = null;
  if (exchange.interceptor === null || (!exchange.isGoingOn && isEventStream(head)))
    writeHead(exchange, incoming, head);
}

function writeHead(exchange: Exchange, incoming: IncomingMessage, head: Head): void {
  const { request, response, id } = exchange.arrival;
  const status = incoming.statusCode ?? 502;
  const bodyless = request.method === "HEAD" || status === 204 || status === 304;
  const mayChunk = request.httpVersion === "1.1" && !bodyless;
  const chunked = mayChunk && framingOf(head) === "chunked";
  const hasLength = exchange.interceptor === null;
  // The upstream's date passes like its other headers; a second one would be ours.
  response.sendDate = false;
  if (exchange.context.draining) response.shouldKeepAlive = false;
  response.writeHead(status, incoming.statusMessage ?? "", clientHeaders(head, { id, chunked, hasLength }));
}

function endHeld(exchange: Exchange, incoming: IncomingMessage, again: Passing["again"]): void {
  if (incoming.complete) ended(exchange, incoming, again);
  else truncate(exchange);
}

/** A head whose body lets itself be waited for goes out alone; with a body at hand both went together. */
function afterHead(exchange: Exchange): void {
  const { arrival, received, stripper, interceptor } = exchange;
  if (exchange.endedAt !== null) return;
  const isHeld = (stripper !== null || interceptor !== null) && exchange.delivered === 0;
  const isAlone = (received.length === 0 || isHeld) && arrival.response.headersSent;
  if (isAlone && !arrival.response.writableEnded) arrival.response.flushHeaders();
  if (exchange.bodyEnded) announce(exchange);
}

function ended(exchange: Exchange, incoming: IncomingMessage, again: Passing["again"]): void {
  if (exchange.outcome !== null || !incoming.complete || goesOn(exchange, { again, finish })) return;
  finish(exchange, incoming);
}

/** The client gets the last of it, or sees that it is missing: nobody else would catch a mistake here. */
export function finish(exchange: Exchange, incoming: IncomingMessage, head = exchange.incomingHead): void {
  try {
    complete(exchange, incoming, head);
  } catch {
    exchange.outcome = null;
    truncate(exchange);
  }
}

function complete(exchange: Exchange, incoming: IncomingMessage, head: Head | null): void {
  const { response, request } = exchange.arrival;
  exchange.outcome = "complete";
  if (!response.headersSent && head !== null) writeHead(exchange, incoming, head);
  deliverRest(exchange);
  if (incoming.rawTrailers.length > 0) response.addTrailers(trailerPairs(incoming.rawTrailers));
  response.end();
  if (exchange.bodyEnded) return;
  // Nobody reads the rest of the question any more.
  exchange.outgoing?.destroy();
  request.resume();
}

/**
 * The answer broke off. What arrived is sent, then the connection is cut: an end that looks regular would be
 * taken for a complete answer.
 */
export function truncate(exchange: Exchange): void {
  const { request, response } = exchange.arrival;
  if (exchange.outcome !== null) return;
  if (!response.headersSent) {
    refuseHalf(exchange);
    return;
  }
  exchange.outcome = "truncated";
  salvage(exchange);
  deliverHeld(exchange);
  const { socket } = response;
  if (socket === null) response.destroy();
  else if (request.httpVersion === "1.1" || isDelimited(exchange)) socket.destroySoon();
  // Where only the end of the connection ends the body, it must not be an orderly end.
  else socket.write("", () => socket.resetAndDestroy());
}

/** Of an answer that was held back until it is whole, the client has seen nothing yet. */
function refuseHalf(exchange: Exchange): void {
  const { id, route, request, response, upstream } = exchange.arrival;
  const details = { upstream: upstream.name, host: upstream.host, reason: "ECONNRESET" };
  const refusal = { status: 502, error: apertureError("AP_UPSTREAM_RESET", details) };
  exchange.outcome = "failed";
  exchange.problem = refusal.error.message;
  sendRefusal({ request, response, refusal, id, shape: shapeOf(route) });
}

/** Of an answer that may hide something no length was told. */
function isDelimited({ incomingHead, interceptor }: Exchange): boolean {
  return interceptor === null && incomingHead !== null && framingOf(incomingHead) === "length";
}

/** Bytes that had arrived while the client was too slow to take them. */
function salvage(exchange: Exchange): void {
  const { incoming, received } = exchange;
  if (incoming === null) return;
  for (let chunk = incoming.read(); chunk instanceof Buffer; chunk = incoming.read()) {
    deliver(exchange, chunk);
    collect(received, chunk);
  }
}

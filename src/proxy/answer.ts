import type { IncomingMessage } from "node:http";
import { deliver, deliverHeld, deliverRest, stripperFor } from "./deliver.ts";
import type { Exchange } from "./exchange.ts";
import { collect } from "./exchange-copy.ts";
import { clientHeaders, framingOf, readHead, trailerPairs } from "./headers.ts";
import { announce } from "./report.ts";

/**
 * Passes on the head of an answer, then what was held of its body, then the rest as it arrives. Throws if it
 * cannot be written as HTTP.
 */
export function passOn(exchange: Exchange, incoming: IncomingMessage, held: readonly Buffer[]): void {
  const { received } = exchange;
  writeHead(exchange, incoming);
  exchange.incoming = incoming;
  exchange.firstByteAt = performance.now();
  exchange.quietSweeps = 0;
  const pass = (chunk: Buffer): void => {
    exchange.quietSweeps = 0;
    if (!deliver(exchange, chunk)) incoming.pause();
    collect(received, chunk);
  };
  for (const chunk of held) pass(chunk);
  incoming.on("data", pass);
  incoming.once("end", () => ended(exchange, incoming));
  // The error of an answer that breaks off says nothing that `close` does not.
  incoming.on("error", () => undefined);
  incoming.once("close", () => {
    if (!incoming.complete) truncate(exchange);
  });
  // One that was held back until it was over says nothing more.
  if (incoming.closed) endHeld(exchange, incoming);
  setImmediate(afterHead, exchange);
}

function writeHead(exchange: Exchange, incoming: IncomingMessage): void {
  const { request, response, id } = exchange.arrival;
  const head = readHead(incoming.rawHeaders);
  const status = incoming.statusCode ?? 502;
  const bodyless = request.method === "HEAD" || status === 204 || status === 304;
  const chunked = request.httpVersion === "1.1" && !bodyless && framingOf(head) === "chunked";
  exchange.incomingHead = head;
  exchange.stripper = stripperFor(exchange, head);
  // The upstream's date passes like its other headers; a second one would be ours.
  response.sendDate = false;
  if (exchange.context.draining) response.shouldKeepAlive = false;
  response.writeHead(status, incoming.statusMessage ?? "", clientHeaders(head, { id, chunked }));
}

function endHeld(exchange: Exchange, incoming: IncomingMessage): void {
  if (incoming.complete) ended(exchange, incoming);
  else truncate(exchange);
}

/** A head whose body lets itself be waited for goes out alone; with a body at hand both went together. */
function afterHead(exchange: Exchange): void {
  const { arrival, received } = exchange;
  if (exchange.endedAt !== null) return;
  const isAlone = received.length === 0 || (exchange.stripper !== null && exchange.delivered === 0);
  if (isAlone && !arrival.response.writableEnded) arrival.response.flushHeaders();
  if (exchange.bodyEnded) announce(exchange);
}

function ended(exchange: Exchange, incoming: IncomingMessage): void {
  const { response, request } = exchange.arrival;
  if (exchange.outcome !== null || !incoming.complete) return;
  exchange.outcome = "complete";
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
  exchange.outcome = "truncated";
  salvage(exchange);
  deliverHeld(exchange);
  const { socket } = response;
  if (socket === null) response.destroy();
  else if (request.httpVersion === "1.1" || isDelimited(exchange)) socket.destroySoon();
  // Where only the end of the connection ends the body, it must not be an orderly end.
  else socket.write("", () => socket.resetAndDestroy());
}

function isDelimited({ incomingHead }: Exchange): boolean {
  return incomingHead !== null && framingOf(incomingHead) === "length";
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

import type { ClientRequest } from "node:http";
import type { Socket } from "node:net";
import { apertureError } from "../base/index.ts";
import { passOn, truncate } from "./answer.ts";
import { type Arrival, type Exchange, openExchange, type RelayContext } from "./exchange.ts";
import { collect } from "./exchange-copy.ts";
import { failureOf, GivenUp, type Refusal, sendRefusal, shapeOf, silent, slow } from "./failures.ts";
import { framingOf, headerOf, trailerPairs, upstreamHeaders } from "./headers.ts";
import { conclude } from "./report.ts";

/** Starts an exchange. It ends by itself, whatever happens; nobody waits for it. */
export function relay(context: RelayContext, arrival: Arrival): void {
  const { head, request, response } = arrival;
  const exchange = openExchange(context, arrival);
  context.active.add(exchange);
  context.meter.add("requests", 1);
  context.meter.add("active", 1);
  const closed = (): void => clientClosed(exchange);
  response.once("close", closed);
  // An answer that waits behind another one on its connection is not told when that connection goes away.
  if (response.socket === null) request.socket.setMaxListeners(0).once("close", closed);
  if (Number(headerOf(head, "content-length") ?? 0) > context.limits.bodyBytesMax) {
    giveUp(exchange, tooLarge(context));
    return;
  }
  response.on("drain", () => exchange.incoming?.resume());
  connect(exchange);
  if (framingOf(head) === "none") bodyEnded(exchange);
  else pump(exchange);
}

function pump(exchange: Exchange): void {
  const { arrival, sent, context } = exchange;
  const { request } = arrival;
  const { bodyBytesMax } = context.limits;
  request.on("data", (chunk: Buffer) => {
    if (exchange.outcome !== null) return;
    exchange.quietSweeps = 0;
    if (exchange.outgoing?.write(chunk) === false) request.pause();
    collect(sent, chunk);
    if (sent.length > bodyBytesMax) giveUp(exchange, tooLarge(context));
  });
  request.once("end", () => bodyEnded(exchange));
}

function bodyEnded(exchange: Exchange): void {
  exchange.bodyEnded = true;
  if (exchange.outcome === null) finish(exchange);
}

function finish({ outgoing, arrival: { request } }: Exchange): void {
  if (request.rawTrailers.length > 0) outgoing?.addTrailers(trailerPairs(request.rawTrailers));
  outgoing?.end();
}

function tooLarge({ limits }: RelayContext): Refusal {
  return { status: 413, error: apertureError("AP_BODY_TOO_LARGE", { limit: limits.bodyBytesMax }) };
}

function connect(exchange: Exchange): void {
  const { request, head, route, upstream } = exchange.arrival;
  const headers = upstreamHeaders(head, upstream.host);
  const outgoing = upstream.open({
    method: request.method ?? "GET",
    rest: route.rest,
    headers: framingOf(head) === "none" ? withEmptyBody(headers, request.method) : headers,
  });
  exchange.outgoing = outgoing;
  outgoing.once("socket", (socket) => socketGiven(exchange, outgoing, socket));
  outgoing.on("drain", () => request.resume());
  outgoing.once("response", (incoming) => {
    try {
      passOn(exchange, incoming);
    } catch (error) {
      outgoing.destroy(error instanceof Error ? error : undefined);
    }
  });
  outgoing.on("error", (error) => upstreamFailed(exchange, outgoing, error));
}

/**
 * A request without a length has no body. Node would send it in chunks where a method usually has one, so it
 * is told what an upstream would conclude by itself.
 */
function withEmptyBody(headers: string[], method: string | undefined): string[] {
  const usual = method === "POST" || method === "PUT" || method === "PATCH";
  return usual ? [...headers, "Content-Length", "0"] : headers;
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
    exchange.sent.chunks !== null &&
    performance.now() - exchange.given.at <= staleMaxMs
  );
}

function retry(exchange: Exchange): void {
  exchange.retried = true;
  exchange.context.meter.add("retried", 1);
  // Its neighbours were opened at the same time, and the next attempt must not meet one of them.
  exchange.arrival.upstream.forgetIdle();
  connect(exchange);
  for (const chunk of exchange.sent.chunks ?? []) exchange.outgoing?.write(chunk);
  if (exchange.bodyEnded) finish(exchange);
  else exchange.arrival.request.resume();
}

/** Ends an exchange from our side: with an error of our own, or by cutting an answer that has begun. */
function giveUp(exchange: Exchange, refusal: Refusal): void {
  if (exchange.outcome !== null) return;
  const { id, route, request, response } = exchange.arrival;
  if (exchange.incoming !== null) truncate(exchange);
  else {
    exchange.outcome = "failed";
    exchange.problem = refusal.error.message;
    if (exchange.context.draining) response.shouldKeepAlive = false;
    sendRefusal({ request, response, refusal, id, shape: shapeOf(route) });
  }
  exchange.outgoing?.destroy();
}

/** Also called when everything went well: then there is nothing left to stop. */
function clientClosed(exchange: Exchange): void {
  const { response } = exchange.arrival;
  if (exchange.outcome === "complete" && !response.writableFinished) exchange.outcome = "aborted";
  exchange.outcome ??= "aborted";
  if (exchange.outcome !== "complete") exchange.outgoing?.destroy();
  conclude(exchange);
}

/** How many sweeps make up the idle time: more would cost more, fewer would be less exact. */
export const sweepsPerIdle = 4;

/** One timer for all exchanges instead of one for each: most of them move a byte every few milliseconds. */
export function sweep({ active, limits }: RelayContext): void {
  for (const exchange of active) {
    exchange.quietSweeps += 1;
    if (exchange.quietSweeps <= sweepsPerIdle) continue;
    giveUp(exchange, silent(exchange.arrival.upstream, limits.idleMs));
    // A client that does not read would hold back even the cut.
    if (exchange.quietSweeps > sweepsPerIdle + 1) exchange.arrival.request.socket.destroy();
  }
}

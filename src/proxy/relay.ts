import { apertureError } from "../base/index.ts";
import { attempt, finish, giveUp } from "./attempt.ts";
import { isDemoBody, mayNameModel, namesAnother, turnToDemo } from "./demo.ts";
import { type Arrival, type Exchange, openExchange, type RelayContext } from "./exchange.ts";
import { collect } from "./exchange-copy.ts";
import { type Refusal, silent } from "./failures.ts";
import { framingOf, headerOf } from "./headers.ts";
import { conclude } from "./report.ts";
import { askingFor, refuseUnread, relayInstead, take } from "./take.ts";

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
  exchange.asking = askingFor(exchange);
  // What was asked is kept until it is answered, because it may have to be sent again.
  if (exchange.asking === null && context.recorder.keepsBodies?.() === false) exchange.received.chunks = null;
  if (exchange.asking === null && mayNameModel(exchange)) exchange.held = "";
  const isUnread = exchange.asking === null && exchange.held === null;
  if (isUnread && !refuseUnread(exchange)) attempt(exchange);
  if (framingOf(head) === "none") bodyEnded(exchange);
  else pump(exchange);
}

function pump(exchange: Exchange): void {
  const { arrival, sent, context } = exchange;
  const { request } = arrival;
  const { bodyBytesMax, keptBytesMax } = context.limits;
  request.on("data", (chunk: Buffer) => {
    if (exchange.outcome !== null) return;
    exchange.quietSweeps = 0;
    if (isWaitedFor(exchange) && sent.length + chunk.length > keptBytesMax) relayInstead(exchange);
    if (exchange.outgoing?.write(chunk) === false) request.pause();
    collect(sent, chunk);
    if (exchange.held !== null && namesAnother(exchange, chunk)) relayInstead(exchange);
    if (sent.length > bodyBytesMax) giveUp(exchange, tooLarge(context));
    // The last byte is known by its place; the event that says so comes some turns of the loop later.
    else if (sent.length === exchange.asking?.length) bodyEnded(exchange);
  });
  request.once("end", () => bodyEnded(exchange));
}

function bodyEnded(exchange: Exchange): void {
  const { context } = exchange;
  if (exchange.bodyEnded) return;
  exchange.bodyEnded = true;
  if (exchange.outcome !== null) return;
  if (isWaitedFor(exchange) && isDemoBody(exchange)) turnToDemo(exchange, context.demo);
  if (exchange.asking !== null && context.desk !== null) take(exchange, context.desk, exchange.asking);
  else if (exchange.held !== null) relayInstead(exchange);
  else finish(exchange);
}

/** Nothing has left yet: the body is looked at before it is decided what goes where. */
function isWaitedFor({ asking, held }: Exchange): boolean {
  return asking !== null || held !== null;
}

function tooLarge({ limits }: RelayContext): Refusal {
  return { status: 413, error: apertureError("AP_BODY_TOO_LARGE", { limit: limits.bodyBytesMax }) };
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

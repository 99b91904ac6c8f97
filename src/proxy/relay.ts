import { apertureError } from "../base/index.ts";
import { appendToCopy } from "./body-copy.ts";
import { isDemoBody, mayNameModel, namesOtherModel, rerouteToDemo } from "./demo.ts";
import { type Refusal, silenceRefusal } from "./failures.ts";
import { framingOf, headerOf } from "./headers.ts";
import { metaToPlan, planAndSend, refuseIfUnreadable, relayUnplanned } from "./plan-body.ts";
import { type Arrival, openExchange, type RelayContext, type RelayedExchange } from "./relayed-exchange.ts";
import { concludeExchange } from "./report-exchange.ts";
import { endUpstreamRequest, giveUp, sendUpstream } from "./send-upstream.ts";

/** Starts an exchange. No caller waits for it: it always ends by itself. */
export function relay(context: RelayContext, arrival: Arrival): void {
  const { head, request, response } = arrival;
  const exchange = openExchange(context, arrival);
  context.activeExchanges.add(exchange);
  context.meter.add("requests", 1);
  context.meter.add("active", 1);
  const onClose = (): void => onClientClose(exchange);
  response.once("close", onClose);
  // A pipelined response has no socket yet, and gets no `close` event if the connection ends before its turn.
  if (response.socket === null) request.socket.setMaxListeners(0).once("close", onClose);
  if (Number(headerOf(head, "content-length") ?? 0) > context.limits.bodyBytesMax) {
    giveUp(exchange, tooLargeRefusal(context));
    return;
  }
  response.on("drain", () => exchange.incoming?.resume());
  exchange.awaitingPlan = metaToPlan(exchange);
  // Only the copy of the answer is dropped: the request may have to be sent again.
  if (exchange.awaitingPlan === null && context.recorder.hasRoomForBodies?.() === false)
    exchange.answerBody.chunks = null;
  if (exchange.awaitingPlan === null && mayNameModel(exchange)) exchange.modelScanTail = "";
  const isUnread = exchange.awaitingPlan === null && exchange.modelScanTail === null;
  if (isUnread && !refuseIfUnreadable(exchange)) sendUpstream(exchange);
  if (framingOf(head) === "none") onBodyEnd(exchange);
  else collectBody(exchange);
}

function collectBody(exchange: RelayedExchange): void {
  const { arrival, clientBody, context } = exchange;
  const { request } = arrival;
  const { bodyBytesMax, keptBytesMax } = context.limits;
  request.on("data", (chunk: Buffer) => {
    if (exchange.outcome !== null) return;
    exchange.quietSweeps = 0;
    if (isHoldingBody(exchange) && clientBody.length + chunk.length > keptBytesMax) relayUnplanned(exchange);
    if (exchange.outgoing?.write(chunk) === false) request.pause();
    appendToCopy(clientBody, chunk);
    if (exchange.modelScanTail !== null && namesOtherModel(exchange, chunk)) relayUnplanned(exchange);
    if (clientBody.length > bodyBytesMax) giveUp(exchange, tooLargeRefusal(context));
    // The length shows the last byte; the `end` event comes some turns of the event loop later.
    else if (clientBody.length === exchange.awaitingPlan?.length) onBodyEnd(exchange);
  });
  request.once("end", () => onBodyEnd(exchange));
}

function onBodyEnd(exchange: RelayedExchange): void {
  const { context } = exchange;
  if (exchange.hasWholeBody) return;
  exchange.hasWholeBody = true;
  if (exchange.outcome !== null) return;
  if (isHoldingBody(exchange) && isDemoBody(exchange)) rerouteToDemo(exchange, context.demo);
  if (exchange.awaitingPlan !== null && context.planner !== null)
    planAndSend(exchange, context.planner, exchange.awaitingPlan);
  else if (exchange.modelScanTail !== null) relayUnplanned(exchange);
  else endUpstreamRequest(exchange);
}

/** The body is held: it is read before any byte is sent. */
function isHoldingBody({ awaitingPlan, modelScanTail }: RelayedExchange): boolean {
  return awaitingPlan !== null || modelScanTail !== null;
}

function tooLargeRefusal({ limits }: RelayContext): Refusal {
  return { status: 413, error: apertureError("AP_BODY_TOO_LARGE", { limit: limits.bodyBytesMax }) };
}

/** Also called after a complete answer; then there is nothing left to stop. */
function onClientClose(exchange: RelayedExchange): void {
  const { response } = exchange.arrival;
  if (exchange.outcome === "complete" && !response.writableFinished) exchange.outcome = "aborted";
  exchange.outcome ??= "aborted";
  if (exchange.outcome !== "complete") exchange.outgoing?.destroy();
  concludeExchange(exchange);
}

/** The idle time is this many sweeps: more would cost more, fewer would be less exact. */
export const sweepsPerIdle = 4;

/** Ends exchanges without traffic. One timer serves all of them: resetting one per chunk would cost more. */
export function sweepIdle({ activeExchanges, limits }: RelayContext): void {
  for (const exchange of activeExchanges) {
    exchange.quietSweeps += 1;
    if (exchange.quietSweeps <= sweepsPerIdle) continue;
    giveUp(exchange, silenceRefusal(exchange.arrival.upstream, limits.idleMs));
    // The first end waits for a client that does not read, so the socket is destroyed.
    if (exchange.quietSweeps > sweepsPerIdle + 1) exchange.arrival.request.socket.destroy();
  }
}

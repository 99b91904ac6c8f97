import { apertureError } from "../base/index.ts";
import { writeChunk } from "./carry-out.ts";
import { dispatchEvent } from "./dispatch-event.ts";
import type { HoldReason } from "./exchange-phases.ts";
import { type Refusal, silenceRefusal } from "./failures.ts";
import { framingOf, headerOf } from "./headers.ts";
import { isDemoBody, mayNameModel, unscanned } from "./model-scan.ts";
import { metaToPlan } from "./plan-body.ts";
import {
  type Arrival,
  createRelayedExchange,
  outcomeOf,
  type RelayContext,
  type RelayedExchange,
  safely,
} from "./relayed-exchange.ts";

/**
 * Starts an exchange. No caller waits for it: it always ends by itself. The shell around its state machine
 * (`exchange-phases`) is this file and `take-answer`, which turn the events of sockets into events of the
 * machine, and `carry-out`, which carries out its commands. There is one short cut: chunks of a body or an
 * answer that only pass through are no events, because an object for each would cost more than passing it on.
 */
export function relay(context: RelayContext, arrival: Arrival): void {
  const { head, request, response } = arrival;
  const relayed = createRelayedExchange(context, arrival, (event) => dispatchEvent(relayed, event));
  context.activeExchanges.add(relayed);
  context.meter.add("requests", 1);
  context.meter.add("active", 1);
  const onClose = (): void =>
    relayed.dispatch({ type: "client-closed", isDelivered: response.writableFinished });
  response.once("close", onClose);
  // A pipelined response has no socket yet, and gets no `close` event if the connection ends before its turn.
  if (response.socket === null) request.socket.setMaxListeners(0).once("close", onClose);
  if (Number(headerOf(head, "content-length") ?? 0) > context.limits.bodyBytesMax) {
    relayed.dispatch({ type: "gave-up", refusal: tooLargeRefusal(context) });
    return;
  }
  response.on("drain", () => relayed.answer?.incoming.resume());
  const holding = holdingFor(relayed);
  relayed.dispatch({ type: "arrived", holding, bytesMax: context.limits.keptBytesMax });
  if (framingOf(head) === "none") onBodyEnd(relayed);
  else readBody(relayed);
}

/** Null if the body need not be read before it is sent. */
function holdingFor(relayed: RelayedExchange): HoldReason | null {
  const { route, head } = relayed.arrival;
  relayed.meta = metaToPlan(relayed);
  if (relayed.meta !== null) return { for: "planner" };
  // Only the copy of the answer is dropped: the request may have to be sent again.
  if (relayed.context.recorder.hasRoomForBodies?.() === false) relayed.answerBody.chunks = null;
  return mayNameModel(route, head) ? { for: "model", scan: unscanned } : null;
}

function readBody(relayed: RelayedExchange): void {
  const { request } = relayed.arrival;
  request.on(
    "data",
    safely(relayed, (chunk: Buffer) => onBodyChunk(relayed, chunk)),
  );
  request.once(
    "end",
    safely(relayed, () => onBodyEnd(relayed)),
  );
}

function onBodyChunk(relayed: RelayedExchange, chunk: Buffer): void {
  const { context, clientBody } = relayed;
  if (outcomeOf(relayed) !== null) return;
  relayed.quietSweeps = 0;
  if (isCollecting(relayed)) relayed.dispatch({ type: "body", chunk });
  else writeChunk(relayed, chunk);
  if (clientBody.length > context.limits.bodyBytesMax)
    relayed.dispatch({ type: "gave-up", refusal: tooLargeRefusal(context) });
  // The length shows the last byte; the `end` event comes some turns of the event loop later.
  else if (isCollecting(relayed) && clientBody.length === relayed.meta?.length) onBodyEnd(relayed);
}

function onBodyEnd(relayed: RelayedExchange): void {
  if (relayed.exchange.hasWholeBody) return;
  const isDemo = isCollecting(relayed) && isDemoBody(relayed.clientBody.chunks ?? []);
  relayed.dispatch({ type: "body-end", isDemo });
}

function isCollecting({ exchange }: RelayedExchange): boolean {
  return exchange.phase.name === "collecting";
}

function tooLargeRefusal({ limits }: RelayContext): Refusal {
  return { status: 413, error: apertureError("AP_BODY_TOO_LARGE", { limit: limits.bodyBytesMax }) };
}

/** The idle time is this many sweeps: more would cost more, fewer would be less exact. */
export const sweepsPerIdle = 4;

/** Ends exchanges without traffic. One timer serves all of them: resetting one per chunk would cost more. */
export function sweepIdle({ activeExchanges, limits }: RelayContext): void {
  for (const relayed of activeExchanges) {
    const { request, upstream } = relayed.arrival;
    relayed.quietSweeps += 1;
    if (relayed.quietSweeps <= sweepsPerIdle) continue;
    relayed.dispatch({ type: "gave-up", refusal: silenceRefusal(upstream, limits.idleMs) });
    // The first end waits for a client that does not read, so the socket is destroyed.
    if (relayed.quietSweeps > sweepsPerIdle + 1) request.socket.destroy();
  }
}

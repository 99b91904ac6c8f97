import { callerOf, maskedTarget, requestHeaders, responseHeaders } from "./credentials.ts";
import type { Exchange, RelayContext } from "./exchange.ts";
import { givenAway } from "./exchange-copy.ts";

/**
 * Tells the recorder of the request, once, and lets go of the bytes. Called after the head of the answer has
 * been passed on: joining a large body takes time that the client must not wait for.
 */
export function announce(exchange: Exchange): void {
  if (exchange.announced) return;
  exchange.announced = true;
  const { arrival, context, sent } = exchange;
  const { protocol, rest, upstream } = arrival.route;
  // A client may ask its next question the moment it has an answer; the recorder hears of them in that order.
  settle(context);
  if (protocol !== null) {
    guarded(context, () => {
      const caller = callerOf(arrival.head, rest, context.hasher);
      exchange.secrets = caller.secrets;
      context.recorder.requested({
        id: arrival.id,
        protocol,
        upstream,
        method: arrival.request.method ?? "",
        target: maskedTarget(arrival.upstream.prefix + rest, caller.secrets),
        headers: requestHeaders(arrival.head, caller.secrets),
        caller,
        startedMs: exchange.startedMs,
        body: givenAway(sent, exchange.outgoing?.writableFinished === true),
        length: sent.length,
      });
    });
  }
  sent.chunks = null;
}

/** How much later the recorder may be told, so that the client's next request is not kept waiting. */
const settleMs = 2;

/** Counts an exchange that has ended, once, and has the recorder told of it in a moment. */
export function conclude(exchange: Exchange): void {
  if (exchange.endedAt !== null) return;
  exchange.endedAt = performance.now();
  const { context, arrival } = exchange;
  context.active.delete(exchange);
  count(exchange);
  if (arrival.route.protocol === null) return;
  if (context.concluded.length === 0) setTimeout(settle, settleMs, context);
  context.concluded.push(exchange);
}

/** Tells the recorder how the exchanges ended that it does not know of yet. */
export function settle(context: RelayContext): void {
  if (context.concluded.length === 0) return;
  for (const exchange of context.concluded.splice(0)) answer(exchange);
}

function answer(exchange: Exchange): void {
  const { context, arrival, received, startedAt, firstByteAt } = exchange;
  announce(exchange);
  guarded(context, () => {
    const head = exchange.incomingHead;
    context.recorder.answered({
      id: arrival.id,
      status: exchange.incoming?.statusCode ?? null,
      headers: head === null ? {} : responseHeaders(head, exchange.secrets),
      body: givenAway(received, arrival.response.writableFinished),
      length: received.length,
      outcome: exchange.outcome ?? "aborted",
      problem: exchange.problem,
      firstByteMs: firstByteAt === null ? null : firstByteAt - startedAt,
      totalMs: (exchange.endedAt ?? startedAt) - startedAt,
    });
  });
  received.chunks = null;
}

function count(exchange: Exchange): void {
  const { arrival } = exchange;
  const { meter } = exchange.context;
  meter.add("active", -1);
  meter.add("bytesUp", exchange.sent.length);
  meter.add("bytesDown", exchange.received.length);
  meter.answered(arrival.route.label, arrival.response.statusCode);
  if (exchange.firstByteAt !== null) meter.firstByte(exchange.firstByteAt - exchange.startedAt);
  const outcome = exchange.outcome ?? "aborted";
  if (outcome !== "complete") meter.add(outcome, 1);
}

/** A fault of the recorder is ours alone: the client's exchange goes on as if nothing had happened. */
function guarded({ meter }: RelayContext, act: () => void): void {
  try {
    act();
  } catch {
    meter.add("recorderFaults", 1);
  }
}

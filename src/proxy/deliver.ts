import type { PlannedRequest } from "../exchange/index.ts";
import {
  eventInterceptor,
  eventStripper,
  type Interceptor,
  messageInterceptor,
  messageStripper,
  type Stripper,
} from "../protocols/index.ts";
import { framingOf, type Head, headerOf, headersOf } from "./headers.ts";
import type { RelayedExchange } from "./relayed-exchange.ts";

/**
 * Removes our notes from this answer if the model repeats them. Null if the answer cannot hold any, or is
 * compressed: unpacking it would hold back bytes that the upstream has flushed.
 */
export function stripperFor({ planned, arrival, context }: RelayedExchange, head: Head): Stripper | null {
  const filter = planned?.ownLineFilter ?? null;
  if (filter === null || arrival.route.protocol !== "anthropic" || isEncoded(head)) return null;
  const guarded = (isMatch: (line: string) => boolean) => (line: string) => {
    try {
      return isMatch(line);
    } catch {
      context.meter.add("plannerFaults", 1);
      return false;
    }
  };
  const { isOwn, opens, continues } = filter;
  const own = { isOwn: guarded(isOwn), opens: guarded(opens), continues: guarded(continues) };
  if (isEventStream(head)) return eventStripper(own);
  return headerOf(head, "content-type")?.includes("json") === true
    ? messageStripper(own, context.limits.keptBytesMax)
    : null;
}

/** Hides calls of our tools and command lines in this answer. Null if the model knows of neither. */
export function interceptorFor({ planned, context }: RelayedExchange, head: Head): Interceptor | null {
  if (planned === null || !mayHoldOwnCalls(planned) || isEncoded(head)) return null;
  const { isOwnTool, commandNonce } = planned;
  const isOwn = isOwnTool ?? (() => false);
  if (isEventStream(head)) return eventInterceptor(isOwn, commandNonce);
  const isJson = headerOf(head, "content-type")?.includes("json") === true;
  return isJson ? messageInterceptor(isOwn, context.limits.keptBytesMax, commandNonce) : null;
}

/** The answer may hold calls or commands that the client must not see. */
export function mayHoldOwnCalls({ isOwnTool, commandNonce }: PlannedRequest): boolean {
  return isOwnTool !== null || commandNonce !== null;
}

export function isEventStream(head: Head): boolean {
  return headerOf(head, "content-type")?.includes("text/event-stream") === true;
}

export function isEncoded(head: Head): boolean {
  return headersOf(head, "content-encoding").some((coding) => coding.toLowerCase() !== "identity");
}

/** Passes a chunk of the answer on to the client. False if the client is too slow to take more. */
export function deliver(exchange: RelayedExchange, chunk: Buffer): boolean {
  const { stripper, interceptor, arrival } = exchange;
  if (stripper === null && interceptor === null) return arrival.response.write(chunk);
  return writeToClient(exchange, intercept(exchange, stripper === null ? [chunk] : stripper.push(chunk)));
}

function intercept({ interceptor }: RelayedExchange, pieces: readonly Uint8Array[]): readonly Uint8Array[] {
  return interceptor === null ? pieces : pieces.flatMap((piece) => interceptor.push(piece));
}

/** Delivers the line that the stripper holds: the upstream's answer has ended, so the line is complete. */
export function deliverStripperRest(exchange: RelayedExchange): void {
  if (exchange.stripper !== null) writeToClient(exchange, intercept(exchange, exchange.stripper.end()));
  exchange.stripper = null;
}

/** Delivers everything that stripper and interceptor hold, because the answer broke off or has ended. */
export function deliverHeld(exchange: RelayedExchange): void {
  deliverStripperRest(exchange);
  if (exchange.interceptor !== null) writeToClient(exchange, exchange.interceptor.end());
}

/**
 * Delivers the end of a complete answer. If the client was sent a Content-Length, newlines replace the bytes
 * that the stripper removed: they mean nothing after a JSON value or after events.
 */
export function deliverEnd(exchange: RelayedExchange): void {
  const { answerHead, answerBody, stripper, interceptor } = exchange;
  deliverHeld(exchange);
  // With an interceptor we send no Content-Length.
  if (stripper === null || interceptor !== null || answerHead === null || framingOf(answerHead) !== "length")
    return;
  writeToClient(exchange, [Buffer.alloc(answerBody.length - exchange.deliveredBytes, "\n")]);
}

function writeToClient(exchange: RelayedExchange, pieces: readonly Uint8Array[]): boolean {
  let mayContinue = true;
  for (const piece of pieces) {
    if (piece.length === 0) continue;
    exchange.deliveredBytes += piece.length;
    mayContinue = exchange.arrival.response.write(piece);
  }
  return mayContinue;
}

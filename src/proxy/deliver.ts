import {
  eventInterceptor,
  eventStripper,
  type Interceptor,
  messageInterceptor,
  messageStripper,
  type Stripper,
} from "../protocols/index.ts";
import type { Sending } from "../session/index.ts";
import type { Exchange } from "./exchange.ts";
import { framingOf, type Head, headerOf, headersOf } from "./headers.ts";

/**
 * What takes lines of ours out of this answer; null where nothing of ours can be in it, or where it cannot be
 * seen: a compressed one passes as it is, for taking it apart would hold back what the upstream has flushed.
 */
export function stripperFor({ sending, arrival, context }: Exchange, head: Head): Stripper | null {
  const strips = sending?.strips ?? null;
  if (strips === null || arrival.route.protocol !== "anthropic" || isEncoded(head)) return null;
  const guarded = (knows: (line: string) => boolean) => (line: string) => {
    try {
      return knows(line);
    } catch {
      context.meter.add("deskFaults", 1);
      return false;
    }
  };
  const { isOwn, opens, continues } = strips;
  const own = { isOwn: guarded(isOwn), opens: guarded(opens), continues: guarded(continues) };
  if (isEventStream(head)) return eventStripper(own);
  return headerOf(head, "content-type")?.includes("json") === true
    ? messageStripper(own, context.limits.keptBytesMax)
    : null;
}

/** What hides calls and commands of ours in this answer; null where the model knows of none. */
export function interceptorFor({ sending, context }: Exchange, head: Head): Interceptor | null {
  if (sending === null || !mayHide(sending) || isEncoded(head)) return null;
  const { isOwnTool, textNonce } = sending;
  const isOwn = isOwnTool ?? (() => false);
  if (isEventStream(head)) return eventInterceptor(isOwn, textNonce);
  const isJson = headerOf(head, "content-type")?.includes("json") === true;
  return isJson ? messageInterceptor(isOwn, context.limits.keptBytesMax, textNonce) : null;
}

/** Whether an answer may hold something that the client must not see. */
export function mayHide({ isOwnTool, textNonce }: Sending): boolean {
  return isOwnTool !== null || textNonce !== null;
}

export function isEventStream(head: Head): boolean {
  return headerOf(head, "content-type")?.includes("text/event-stream") === true;
}

export function isEncoded(head: Head): boolean {
  return headersOf(head, "content-encoding").some((coding) => coding.toLowerCase() !== "identity");
}

/** Passes a chunk of the answer on to the client; false where the client is too slow to take more. */
export function deliver(exchange: Exchange, chunk: Buffer): boolean {
  const { stripper, interceptor, arrival } = exchange;
  if (stripper === null && interceptor === null) return arrival.response.write(chunk);
  return write(exchange, unhidden(exchange, stripper === null ? [chunk] : stripper.push(chunk)));
}

function unhidden({ interceptor }: Exchange, pieces: readonly Uint8Array[]): readonly Uint8Array[] {
  return interceptor === null ? pieces : pieces.flatMap((piece) => interceptor.push(piece));
}

/** One answer of the upstream has ended: nothing more can come of lines that were begun. */
export function deliverSampled(exchange: Exchange): void {
  if (exchange.stripper !== null) write(exchange, unhidden(exchange, exchange.stripper.end()));
  exchange.stripper = null;
}

/** Passes on what was held: the answer broke off, and what arrived of it is the client's. */
export function deliverHeld(exchange: Exchange): void {
  deliverSampled(exchange);
  if (exchange.interceptor !== null) write(exchange, exchange.interceptor.end());
}

/**
 * The same for an answer that came to its end. Where its length was told, empty lines make up for what was
 * taken out: they mean nothing behind a JSON value, nor behind events.
 */
export function deliverRest(exchange: Exchange): void {
  const { incomingHead, received, stripper, interceptor } = exchange;
  deliverHeld(exchange);
  // Of an answer that may hide something no length was told.
  if (
    stripper === null ||
    interceptor !== null ||
    incomingHead === null ||
    framingOf(incomingHead) !== "length"
  )
    return;
  write(exchange, [Buffer.alloc(received.length - exchange.delivered, "\n")]);
}

function write(exchange: Exchange, pieces: readonly Uint8Array[]): boolean {
  let isTaken = true;
  for (const piece of pieces) {
    if (piece.length === 0) continue;
    exchange.delivered += piece.length;
    isTaken = exchange.arrival.response.write(piece);
  }
  return isTaken;
}

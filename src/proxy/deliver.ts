import { eventStripper, messageStripper, type Stripper } from "../protocols/index.ts";
import type { Exchange } from "./exchange.ts";
import { framingOf, type Head, headerOf, headersOf } from "./headers.ts";

/**
 * What takes lines of ours out of this answer; null where nothing of ours can be in it, or where it cannot be
 * seen: a compressed one passes as it is, for taking it apart would hold back what the upstream has flushed.
 */
export function stripperFor({ sending, arrival, context }: Exchange, head: Head): Stripper | null {
  const strips = sending?.strips ?? null;
  if (strips === null || arrival.route.protocol !== "anthropic") return null;
  if (headersOf(head, "content-encoding").some((coding) => coding.toLowerCase() !== "identity")) return null;
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
  const type = headerOf(head, "content-type") ?? "";
  if (type.includes("text/event-stream")) return eventStripper(own);
  return type.includes("json") ? messageStripper(own, context.limits.keptBytesMax) : null;
}

/** Passes a chunk of the answer on to the client; false where the client is too slow to take more. */
export function deliver(exchange: Exchange, chunk: Buffer): boolean {
  const { stripper, arrival } = exchange;
  return stripper === null ? arrival.response.write(chunk) : write(exchange, stripper.push(chunk));
}

/** Passes on what was held: the answer broke off, and what arrived of it is the client's. */
export function deliverHeld(exchange: Exchange): void {
  if (exchange.stripper !== null) write(exchange, exchange.stripper.end());
}

/**
 * The same for an answer that came to its end. Where its length was told, empty lines make up for what was
 * taken out: they mean nothing behind a JSON value, nor behind events.
 */
export function deliverRest(exchange: Exchange): void {
  const { incomingHead, received, stripper } = exchange;
  deliverHeld(exchange);
  if (stripper === null || incomingHead === null || framingOf(incomingHead) !== "length") return;
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

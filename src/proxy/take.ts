import type { Asking, Desk, Sending } from "../session/index.ts";
import { attempt, attemptLater, giveUp, refuseThread } from "./attempt.ts";
import { describeRequest } from "./describe.ts";
import type { Exchange } from "./exchange.ts";
import { makeRoom } from "./exchange-copy.ts";
import { framingOf, type Head, headerOf, headersOf } from "./headers.ts";
import { isLogin } from "./login.ts";
import { announce, settleForDesk, tellUnused } from "./report.ts";

/** What to ask the desk, if it wants the body of this request. Null: it is relayed as it comes. */
export function askingFor(exchange: Exchange): Asking | null {
  const { head } = exchange.arrival;
  const { desk, limits, meter } = exchange.context;
  if (desk === null || exchange.arrival.route.protocol === null || !isReplaceable(head)) return null;
  const declared = headerOf(head, "content-length");
  const length = declared === undefined ? null : Number(declared);
  if (length === 0 || (length ?? 1) > limits.keptBytesMax) return null;
  try {
    const asking = describedAs(exchange, length);
    if (asking === null || !desk.reads(asking)) return null;
    if (length !== null && length >= roomBytesMin) makeRoom(exchange.sent, desk.room(length));
    return asking;
  } catch {
    meter.add("deskFaults", 1);
    return null;
  }
}

function describedAs(exchange: Exchange, length: number | null): Asking | null {
  const described = describeRequest(exchange);
  return described === null ? null : { ...described, length, isLogin: isLogin(exchange.arrival.head) };
}

/** Smaller bodies come in few pieces, and their memory costs nothing. */
const roomBytesMin = 32 * 1024;

/** Headers that speak for the very bytes of a body: with them, no other body can be sent. */
const bodyBound = ["content-md5", "digest", "content-digest", "repr-digest", "x-amz-content-sha256"] as const;

function isReplaceable(head: Head): boolean {
  if (framingOf(head) === "none" || bodyBound.some((name) => head.names.includes(name))) return false;
  if (/^AWS4-/.test(headerOf(head, "authorization") ?? "")) return false;
  return headersOf(head, "content-encoding").every((coding) => coding.toLowerCase() === "identity");
}

/** Nobody waits for the whole body any longer: what there is of it goes as it came, then the rest. */
export function relayInstead(exchange: Exchange): void {
  exchange.asking = null;
  exchange.held = null;
  if (!refuseUnread(exchange)) attemptLater(exchange);
}

/** Nobody looks into the body. Where something is withheld that may be in it, it does not leave: true. */
export function refuseUnread(exchange: Exchange): boolean {
  const { desk } = exchange.context;
  const asking = desk === null ? null : describedAs(exchange, null);
  const error = asking === null ? null : (desk?.unread(asking) ?? null);
  if (error !== null) giveUp(exchange, { status: 409, error });
  return error !== null;
}

/** The body is whole: asks the desk what is sent, and sends it. */
export function take(exchange: Exchange, desk: Desk, asking: Asking): void {
  const { context, sent } = exchange;
  const wholeAt = performance.now();
  settleForDesk(context);
  let taken: Sending | Promise<Sending>;
  try {
    taken = desk.take(asking, sent.chunks ?? []);
  } catch {
    failed(exchange);
    return;
  }
  if (taken instanceof Promise) wait(exchange, taken, wholeAt);
  else depart(exchange, taken, wholeAt);
}

function wait(exchange: Exchange, taken: Promise<Sending>, wholeAt: number): void {
  const { context, sent } = exchange;
  const late = (): void => {
    if (!isWaiting(exchange)) return;
    // The desk may still be reading what it was given, which from here on is others' too.
    sent.chunks = sent.chunks?.map((chunk) => Buffer.from(chunk)) ?? null;
    failed(exchange);
  };
  const timer = setTimeout(late, context.limits.takeMs);
  taken.then(
    (sending) => {
      clearTimeout(timer);
      if (isWaiting(exchange)) depart(exchange, sending, wholeAt);
      else tellUnused(context, sending);
    },
    () => {
      clearTimeout(timer);
      failed(exchange);
    },
  );
}

/** Neither was it sent without the desk's word, nor has the client left. */
function isWaiting({ asking, outcome }: Exchange): boolean {
  return asking !== null && outcome === null;
}

/** A desk that does not say what to send is our fault, and the client's request goes as it came. */
function failed(exchange: Exchange): void {
  if (!isWaiting(exchange)) return;
  exchange.context.meter.add("deskFaults", 1);
  relayInstead(exchange);
}

function depart(exchange: Exchange, sending: Sending, wholeAt: number): void {
  exchange.sending = sending;
  try {
    if (sending.isThread) refuseThread(exchange);
    else if (sending.refusal !== null) giveUp(exchange, { status: 409, error: sending.refusal });
    else {
      attempt(exchange);
      exchange.addedMs = performance.now() - wholeAt;
      // What was written goes out first; no answer can be heard before both are done.
      process.nextTick(announce, exchange);
    }
    exchange.asking = null;
  } catch {
    takeBack(exchange, sending);
    failed(exchange);
  }
}

/** What the desk gave cannot be sent. No byte of it has left: a request waits a moment for its connection. */
function takeBack(exchange: Exchange, sending: Sending): void {
  const { outgoing, context } = exchange;
  exchange.outgoing = null;
  exchange.sending = null;
  outgoing?.destroy();
  tellUnused(context, sending);
}

import {
  type Answering,
  type AnswerNumbers,
  alone,
  type Sending,
  type SentReport,
} from "../session/index.ts";
import { responseHeaders } from "./credentials.ts";
import { describeRequest } from "./describe.ts";
import type { Exchange, RelayContext } from "./exchange.ts";
import { type BodyCopy, givenAway } from "./exchange-copy.ts";
import { headerOf } from "./headers.ts";

/**
 * Tells the recorder of the request, once, and lets go of the bytes. What the desk made of a request is told
 * as soon as it was written, before anything else happens: the record must not lag behind the ledger.
 * Otherwise it is told after the head of the answer has been passed on: joining a large body takes time that
 * the client must not wait for.
 */
export function announce(exchange: Exchange): void {
  const { context, sent, sending } = exchange;
  // A client may ask its next question the moment it has an answer; the recorder hears of them in that order.
  // This one itself may be among those that ended: then it is announced there.
  if (!exchange.announced) settle(context);
  if (exchange.announced) return;
  exchange.announced = true;
  guarded(context, () => {
    const described = describeRequest(exchange);
    if (described === null) return;
    const copy =
      sending === null
        ? { body: givenAway(sent, exchange.outgoing?.writableFinished === true), length: sent.length }
        : { body: [sending.clientBody], length: sending.clientBody.length };
    const likeness = sending?.likeness ?? (sent.room === null ? null : alone);
    context.recorder.requested({ ...described, ...copy, sent: sending?.sent ?? null }, likeness);
  });
  sent.chunks = null;
}

/** Tells the recorder that something else was sent than what it was told. Null: the body, as it came. */
export function announceAgain({ context, arrival }: Exchange, sent: SentReport | null): void {
  guarded(context, () => context.recorder.resent(arrival.id, sent));
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

/** Tells the desk and the recorder how the exchanges ended that they do not know of yet. */
export function settle(context: RelayContext): void {
  if (context.concluded.length === 0) return;
  for (const exchange of context.concluded.splice(0)) answer(exchange);
}

/**
 * The same before the desk takes a request, which may be the client's next. An answer that came to its end is
 * told too where its last bytes are still being written, and one that said its last word where only the end
 * of the body is missing: the client may act on either before we hear of it.
 */
export function settleForDesk(context: RelayContext): void {
  settle(context);
  for (const exchange of context.active) {
    const { outcome, received, announced } = exchange;
    // The desk uses the memory of a body again, so the recorder must have its copy before.
    if (!announced) continue;
    if (outcome === "complete" || (outcome === null && hasLastWord(received))) tellDesk(exchange);
  }
}

const lastWord = Buffer.from('"message_stop"');
const lastWordWithin = 128;

function hasLastWord({ chunks }: BodyCopy): boolean {
  const tail = Buffer.concat((chunks ?? []).slice(-2).map((chunk) => chunk.subarray(-lastWordWithin)));
  return tail.includes(lastWord);
}

function answer(exchange: Exchange): void {
  announce(exchange);
  tellDesk(exchange);
  tellRecorder(exchange, {});
}

function tellRecorder(exchange: Exchange, how: { readonly goesOn?: true }): void {
  const { context, arrival, received, startedAt, firstByteAt } = exchange;
  guarded(context, () => {
    const head = exchange.incomingHead;
    const secrets = exchange.described?.caller.secrets ?? [];
    context.recorder.answered({
      id: arrival.id,
      status: exchange.incoming?.statusCode ?? null,
      headers: head === null ? {} : responseHeaders(head, secrets),
      body: givenAway(received, arrival.response.writableFinished),
      ...how,
      length: received.length,
      // Only an answer that has come to its end is gone on with.
      outcome: exchange.outcome ?? (how.goesOn ? "complete" : "aborted"),
      numbered: exchange.numbered,
      problem: exchange.problem,
      firstByteMs: firstByteAt === null ? null : firstByteAt - startedAt,
      // An answer that is gone on with has ended now, and the exchange has not.
      totalMs: (exchange.endedAt ?? performance.now()) - startedAt,
      addedMs: exchange.addedMs,
    });
  });
  exchange.addedMs = null;
  received.chunks = null;
}

/** The same for an answer that the client does not get to the end of: something more is sent for it. */
export function tellRound(exchange: Exchange): void {
  announce(exchange);
  tellDesk(exchange);
  tellRecorder(exchange, { goesOn: true });
}

/** Once for every sending of the exchange. The desk only reads the bytes: the recorder gets them next. */
function tellDesk(exchange: Exchange): void {
  const { context, sending, replaced, incoming, incomingHead, received } = exchange;
  if (sending === null || exchange.deskTold) return;
  exchange.deskTold = true;
  if (replaced !== null) tellEnd(context, replaced.sending, replaced.answer);
  exchange.numbered = tellEnd(context, sending, {
    status: incoming?.statusCode ?? null,
    contentType: (incomingHead && headerOf(incomingHead, "content-type")) ?? "",
    contentEncoding: (incomingHead && headerOf(incomingHead, "content-encoding")) ?? "",
    body: received.chunks,
    isComplete: exchange.outcome === "complete" || exchange.outcome === null,
    hasLeft: exchange.outgoing?.writableFinished === true,
  });
}

/** For a sending that nobody waits for any more, and that never left. */
export function tellUnused(context: RelayContext, sending: Sending): void {
  tellEnd(context, sending, {
    status: null,
    contentType: "",
    contentEncoding: "",
    body: null,
    isComplete: false,
    hasLeft: false,
  });
}

function tellEnd({ desk, meter }: RelayContext, sending: Sending, answer: Answering): AnswerNumbers {
  try {
    return desk?.answered(sending, answer) ?? null;
  } catch {
    meter.add("deskFaults", 1);
    return null;
  }
}

function count(exchange: Exchange): void {
  const { arrival, sending, replaced } = exchange;
  const { meter } = exchange.context;
  meter.add("active", -1);
  meter.add("bytesUp", (sending ?? exchange.sent).length + (replaced?.sending.length ?? 0));
  meter.add("bytesDown", exchange.received.length);
  if (sending !== null && sending.rendering !== "raw") meter.add(sending.rendering, 1);
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

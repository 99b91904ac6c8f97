import {
  type BlockNumbers,
  noOverlap,
  type PlannedRequest,
  type RequestCopy,
  type ResponseCopy,
  type ResponseSummary,
  type SentRequest,
} from "../exchange/index.ts";
import { type BodyCopy, takePieces } from "./body-copy.ts";
import { responseHeaders } from "./credentials.ts";
import { headerOf } from "./headers.ts";
import type { RelayContext, RelayedExchange } from "./relayed-exchange.ts";
import { describeRequest } from "./request-description.ts";

/**
 * Records the request, once, and gives its bytes away. A planned request is recorded as soon as it was
 * written: the record must not lag behind the ledger. Any other is recorded after the head of its answer was
 * passed on: joining a large body takes time, and the client must not wait for it.
 */
export function recordRequestOnce(exchange: RelayedExchange): void {
  const { context, clientBody, planned } = exchange;
  // The client may send this request right after an answer, and the recorder must get both in that order. The
  // exchange itself may be among the concluded ones: then it is recorded by this call.
  if (!exchange.isRequestRecorded) reportConcluded(context);
  if (exchange.isRequestRecorded) return;
  exchange.isRequestRecorded = true;
  guarded(context, () => {
    const description = describeRequest(exchange);
    if (description === null) return;
    const copy =
      planned === null
        ? {
            body: takePieces(clientBody, exchange.outgoing?.writableFinished === true),
            length: clientBody.length,
          }
        : {
            body: [planned.clientBody],
            length: planned.clientBody.length,
            ...readingOf(planned),
          };
    const overlap = planned?.overlap ?? (clientBody.buffer === null ? null : noOverlap);
    context.recorder.recordRequest({ ...description, ...copy, sent: planned?.sent ?? null }, overlap);
  });
  clientBody.chunks = null;
}

/** The planner's reading, so that the recorder decides nothing again. */
function readingOf({ received }: PlannedRequest): Pick<RequestCopy, "read" | "identity" | "purpose"> {
  if (received === undefined) return {};
  const { request: read, identity, purpose } = received;
  return { read, identity, purpose };
}

/** Records that another request was sent for the same exchange. Null if it was the client's body. */
export function recordResend({ context, arrival }: RelayedExchange, sent: SentRequest | null): void {
  guarded(context, () => context.recorder.recordResend(arrival.id, sent));
}

/** Reports wait this long, so that they do not delay the client's next request. */
const reportDelayMs = 2;

/** Counts an exchange that has ended, once, and schedules its report. */
export function concludeExchange(exchange: RelayedExchange): void {
  if (exchange.endedAt !== null) return;
  exchange.endedAt = performance.now();
  const { context, arrival } = exchange;
  context.activeExchanges.delete(exchange);
  countExchange(exchange);
  if (arrival.route.protocol === null) return;
  if (context.unreported.length === 0) setTimeout(reportConcluded, reportDelayMs, context);
  context.unreported.push(exchange);
}

/** Reports exchanges that have ended to planner and recorder. */
export function reportConcluded(context: RelayContext): void {
  if (context.unreported.length === 0) return;
  for (const exchange of context.unreported.splice(0)) reportExchange(exchange);
}

/**
 * Reports every finished answer to the planner before it plans a request, which may be the client's next. An
 * answer counts as finished even if its last bytes are still being written, or if its last event has come but
 * not the end of its body: the client may react to it before we see its end.
 */
export function reportBeforePlanning(context: RelayContext): void {
  reportConcluded(context);
  for (const exchange of context.activeExchanges) {
    const { outcome, answerBody, isRequestRecorded } = exchange;
    // The planner may reuse the memory of the body afterwards, so the recorder must have its copy.
    if (!isRequestRecorded) continue;
    if (outcome === "complete" || (outcome === null && hasMessageStop(answerBody))) finishPlansOf(exchange);
  }
}

const messageStop = Buffer.from('"message_stop"');
const messageStopWithin = 128;

function hasMessageStop({ chunks }: BodyCopy): boolean {
  const tail = Buffer.concat((chunks ?? []).slice(-2).map((chunk) => chunk.subarray(-messageStopWithin)));
  return tail.includes(messageStop);
}

function reportExchange(exchange: RelayedExchange): void {
  recordRequestOnce(exchange);
  finishPlansOf(exchange);
  recordResponseOf(exchange, {});
}

function recordResponseOf(exchange: RelayedExchange, how: Pick<ResponseCopy, "isContinued">): void {
  const { context, arrival, answerBody, startedAt, firstByteAt } = exchange;
  guarded(context, () => {
    const head = exchange.answerHead;
    const secrets = exchange.description?.caller.secrets ?? [];
    context.recorder.recordResponse({
      id: arrival.id,
      status: exchange.incoming?.statusCode ?? null,
      headers: head === null ? {} : responseHeaders(head, secrets),
      body: takePieces(answerBody, arrival.response.writableFinished),
      ...how,
      length: answerBody.length,
      // A round follows only after a complete answer.
      outcome: exchange.outcome ?? (how.isContinued ? "complete" : "aborted"),
      blockNumbers: exchange.blockNumbers,
      problem: exchange.problem,
      firstByteMs: firstByteAt === null ? null : firstByteAt - startedAt,
      // An answer that a round continues has ended, but the exchange has not.
      totalMs: (exchange.endedAt ?? performance.now()) - startedAt,
      addedMs: exchange.addedMs,
    });
  });
  exchange.addedMs = null;
  answerBody.chunks = null;
}

/** Reports an answer that a round continues. */
export function reportRound(exchange: RelayedExchange): void {
  recordRequestOnce(exchange);
  finishPlansOf(exchange);
  recordResponseOf(exchange, { isContinued: true });
}

/**
 * Reports each plan's end to the planner, once. The planner only reads the bytes: the recorder gets them
 * next.
 */
function finishPlansOf(exchange: RelayedExchange): void {
  const { context, planned, refusedAttempt, incoming, answerHead, answerBody } = exchange;
  if (planned === null || exchange.isPlannerNotified) return;
  exchange.isPlannerNotified = true;
  if (refusedAttempt !== null) finishPlan(context, refusedAttempt.planned, refusedAttempt.answer);
  exchange.blockNumbers = finishPlan(context, planned, {
    status: incoming?.statusCode ?? null,
    contentType: (answerHead && headerOf(answerHead, "content-type")) ?? "",
    contentEncoding: (answerHead && headerOf(answerHead, "content-encoding")) ?? "",
    body: answerBody.chunks,
    isComplete: exchange.outcome === "complete" || exchange.outcome === null,
    isRequestFlushed: exchange.outgoing?.writableFinished === true,
  });
}

/** Reports the end of a plan that was never sent. */
export function finishUnsent(context: RelayContext, planned: PlannedRequest): void {
  finishPlan(context, planned, {
    status: null,
    contentType: "",
    contentEncoding: "",
    body: null,
    isComplete: false,
    isRequestFlushed: false,
  });
}

function finishPlan(
  { planner, meter }: RelayContext,
  planned: PlannedRequest,
  answer: ResponseSummary,
): BlockNumbers {
  try {
    return planner?.finish(planned, answer) ?? null;
  } catch {
    meter.add("plannerFaults", 1);
    return null;
  }
}

function countExchange(exchange: RelayedExchange): void {
  const { arrival, planned, refusedAttempt } = exchange;
  const { meter } = exchange.context;
  meter.add("active", -1);
  meter.add("bytesUp", (planned ?? exchange.clientBody).length + (refusedAttempt?.planned.length ?? 0));
  meter.add("bytesDown", exchange.answerBody.length);
  if (planned !== null && planned.rendering !== "raw") meter.add(planned.rendering, 1);
  meter.countResponse(arrival.route.label, arrival.response.statusCode);
  if (exchange.firstByteAt !== null) meter.countFirstByte(exchange.firstByteAt - exchange.startedAt);
  const outcome = exchange.outcome ?? "aborted";
  if (outcome !== "complete") meter.add(outcome, 1);
}

/** A fault of the recorder must not affect the client's exchange. */
function guarded({ meter }: RelayContext, act: () => void): void {
  try {
    act();
  } catch {
    meter.add("recorderFaults", 1);
  }
}

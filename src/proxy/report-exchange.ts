import {
  type BlockNumbers,
  decodeBody,
  noOverlap,
  type PlannedRequest,
  type RequestCopy,
  type ResponseCopy,
  type ResponseSummary,
  type SentRequest,
} from "../exchange/index.ts";
import type { WireAnswer } from "../protocols/index.ts";
import { createBodyCopy, takePieces } from "./body-copy.ts";
import { responseHeaders } from "./credentials.ts";
import { headerOf } from "./headers.ts";
import {
  isRequestFlushed,
  outcomeOf,
  protocolOf,
  type RelayContext,
  type RelayedExchange,
} from "./relayed-exchange.ts";
import { describeRequest } from "./request-description.ts";

/**
 * Records the request, once, and gives its bytes away. A planned request is recorded as soon as it was
 * written: the record must not lag behind the ledger. Any other is recorded after the head of its answer was
 * passed on: joining a large body takes time, and the client must not wait for it.
 */
export function recordRequestOnce(relayed: RelayedExchange): void {
  const { context, clientBody, report } = relayed;
  // The client may send this request right after an answer, and the recorder must get both in that order. The
  // exchange itself may be among the concluded ones: then it is recorded by this call.
  if (!report.isRequestRecorded) reportConcluded(context);
  if (report.isRequestRecorded) return;
  report.isRequestRecorded = true;
  const { planned } = report;
  guarded(context, () => {
    const description = describeRequest(relayed);
    if (description === null) return;
    const copy =
      planned === null
        ? { body: takePieces(clientBody, isRequestFlushed(relayed)), length: clientBody.length }
        : { body: [planned.clientBody], length: planned.clientBody.length, ...readingOf(planned) };
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
export function concludeExchange(relayed: RelayedExchange): void {
  const { context, arrival, report } = relayed;
  if (report.endedAt !== null) return;
  report.endedAt = performance.now();
  context.activeExchanges.delete(relayed);
  countExchange(relayed);
  if (arrival.route.protocol === null) return;
  if (context.unreported.length === 0) setTimeout(reportConcluded, reportDelayMs, context);
  context.unreported.push(relayed);
}

/** Reports exchanges that have ended to planner and recorder. */
export function reportConcluded(context: RelayContext): void {
  if (context.unreported.length === 0) return;
  for (const relayed of context.unreported.splice(0)) {
    recordRequestOnce(relayed);
    finishPlans(relayed);
    recordResponse(relayed, {});
  }
}

/**
 * Reports every finished answer to the planner before it plans a request, which may be the client's next. An
 * answer counts as finished even if its last bytes are still being written, or if its last event has come but
 * not the end of its body: the client may react to it before we see its end.
 */
export function reportBeforePlanning(context: RelayContext): void {
  reportConcluded(context);
  for (const relayed of context.activeExchanges) {
    const outcome = outcomeOf(relayed);
    // The planner may reuse the memory of the body afterwards, so the recorder must have its copy.
    if (!relayed.report.isRequestRecorded) continue;
    if (outcome === "complete" || (outcome === null && hasLastEvent(relayed))) finishPlans(relayed);
  }
}

function hasLastEvent(relayed: RelayedExchange): boolean {
  const { interceptor, isIntercepted, answerBody } = relayed;
  if (interceptor !== null && isIntercepted) return interceptor.hasStopped();
  return protocolOf(relayed)?.answer.endsWithStop((answerBody.chunks ?? []).slice(-2)) ?? false;
}

/** The answer as far as it has come; planner and recorder get the same. Null: the recorder reads the copy. */
function readAnswer(relayed: RelayedExchange): WireAnswer | null {
  const { interceptor, isIntercepted, answerBody, report } = relayed;
  if (report.read?.length !== answerBody.length) {
    const answer = interceptor !== null && isIntercepted ? interceptor.answer() : readCopy(relayed);
    report.read = { length: answerBody.length, answer };
  }
  return report.read.answer;
}

/** Reads an answer that could not be intercepted, because it is compressed, if the planner needs it. */
function readCopy(relayed: RelayedExchange): WireAnswer | null {
  const { answer, answerBody, report } = relayed;
  const { chunks } = answerBody;
  if (answer?.incoming.statusCode !== 200 || chunks === null || report.planned?.needsAnswer !== true)
    return null;
  const plain = decodeBody(Buffer.concat(chunks), headerOf(answer.head, "content-encoding") ?? "");
  if (plain === null) return null;
  return protocolOf(relayed)?.answer.read(plain, headerOf(answer.head, "content-type") ?? "") ?? null;
}

/** Reports an answer that a round continues. */
export function reportRound(relayed: RelayedExchange): void {
  recordRequestOnce(relayed);
  finishPlans(relayed);
  recordResponse(relayed, { isContinued: true });
}

/** Prepares the report of a round, and records that it was sent. */
export function beginRound(relayed: RelayedExchange, planned: PlannedRequest): void {
  const { report, context } = relayed;
  relayed.answerBefore = relayed.answer;
  relayed.answer = null;
  relayed.isIntercepted = false;
  relayed.answerBody = createBodyCopy(context.limits.keptBytesMax);
  report.planned = planned;
  report.isPlannerNotified = false;
  report.blockNumbers = null;
  report.read = null;
  recordResend(relayed, planned.sent);
}

function recordResponse(relayed: RelayedExchange, how: Pick<ResponseCopy, "isContinued">): void {
  const { context, arrival, answer, answerBody, report, startedAt } = relayed;
  const { phase } = relayed.exchange;
  guarded(context, () => {
    const secrets = relayed.description?.caller.secrets ?? [];
    context.recorder.recordResponse({
      id: arrival.id,
      status: answer?.incoming.statusCode ?? null,
      headers: answer === null ? {} : responseHeaders(answer.head, secrets),
      answer: answerBody.chunks === null ? null : readAnswer(relayed),
      body: takePieces(answerBody, arrival.response.writableFinished),
      ...how,
      length: answerBody.length,
      // A round follows only after a complete answer.
      outcome: outcomeOf(relayed) ?? (how.isContinued ? "complete" : "aborted"),
      blockNumbers: report.blockNumbers,
      problem: phase.name === "done" ? phase.problem : null,
      firstByteMs: report.firstByteAt === null ? null : report.firstByteAt - startedAt,
      // An answer that a round continues has ended, but the exchange has not.
      totalMs: (report.endedAt ?? performance.now()) - startedAt,
      addedMs: report.addedMs,
    });
  });
  report.addedMs = null;
  answerBody.chunks = null;
}

/** Reports the end of each plan to the planner, once. */
function finishPlans(relayed: RelayedExchange): void {
  const { context, answer, report } = relayed;
  const { planned, refused } = report;
  if (planned === null || report.isPlannerNotified) return;
  report.isPlannerNotified = true;
  if (refused !== null)
    finishPlan(context, refused.planned, {
      status: 400,
      answer: null,
      isComplete: true,
      isRequestFlushed: refused.isFlushed,
    });
  const outcome = outcomeOf(relayed);
  report.blockNumbers = finishPlan(context, planned, {
    status: answer?.incoming.statusCode ?? null,
    answer: readAnswer(relayed),
    isComplete: outcome === "complete" || outcome === null,
    isRequestFlushed: isRequestFlushed(relayed),
  });
}

/** Reports the end of a plan that was never sent. */
export function finishUnsent(context: RelayContext, planned: PlannedRequest): void {
  finishPlan(context, planned, { status: null, answer: null, isComplete: false, isRequestFlushed: false });
}

function finishPlan(
  { planner, meter }: RelayContext,
  planned: PlannedRequest,
  response: ResponseSummary,
): BlockNumbers {
  try {
    return planner?.finish(planned, response) ?? null;
  } catch {
    meter.add("plannerFaults", 1);
    return null;
  }
}

function countExchange(relayed: RelayedExchange): void {
  const { arrival, report } = relayed;
  const { planned, refused, firstByteAt } = report;
  const { meter } = relayed.context;
  meter.add("active", -1);
  meter.add("bytesUp", (planned ?? relayed.clientBody).length + (refused?.planned.length ?? 0));
  meter.add("bytesDown", relayed.answerBody.length);
  if (planned !== null && planned.rendering !== "raw") meter.add(planned.rendering, 1);
  meter.countResponse(arrival.route.label, arrival.response.statusCode);
  if (firstByteAt !== null) meter.countFirstByte(firstByteAt - relayed.startedAt);
  const outcome = outcomeOf(relayed) ?? "aborted";
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

import type { IncomingMessage } from "node:http";
import type { PlannedRequest, Planner } from "../exchange/index.ts";
import { encodeEvent } from "../protocols/index.ts";
import { appendToCopy, createBodyCopy } from "./body-copy.ts";
import { deliverStripperRest, isEncoded, isEventStream } from "./deliver.ts";
import { errorBody, type Refusal } from "./failures.ts";
import { readHead } from "./headers.ts";
import type { RelayedExchange, UpstreamAnswer } from "./relayed-exchange.ts";
import { finishUnsent, recordResend, reportRound } from "./report-exchange.ts";

/** The next steps, as arguments: they lie in files that import this one. */
export type RoundSteps = {
  /** Sends the planned request of the exchange. */
  readonly sendAgain: (exchange: RelayedExchange) => void;
  /** Ends the answer as it is. */
  readonly finish: (exchange: RelayedExchange, incoming: IncomingMessage) => void;
};

/**
 * Called when an answer of the upstream has ended. True if it called our tools alone: then their results are
 * sent in a round, and the model's next answer continues the client's.
 */
export function startRound(exchange: RelayedExchange, steps: RoundSteps): boolean {
  const { interceptor, planned, incoming } = exchange;
  const { planner } = exchange.context;
  if (interceptor === null || planned === null || planner === null || incoming === null) return false;
  deliverStripperRest(exchange);
  if (!interceptor.isWaitingForUs()) return false;
  reportRound(exchange);
  void planAndSendRound(exchange, { planner, planned, incoming, ...steps });
  return true;
}

type RoundInput = RoundSteps & {
  readonly planner: Planner;
  readonly planned: PlannedRequest;
  readonly incoming: IncomingMessage;
};

async function planAndSendRound(
  exchange: RelayedExchange,
  { planner, planned, incoming, sendAgain, finish }: RoundInput,
): Promise<void> {
  const { context } = exchange;
  pingWhile(exchange, () => isAwaitingAnswer(exchange, incoming));
  const next = await planner.planRound(planned).catch(() => {
    context.meter.add("plannerFaults", 1);
    return null;
  });
  if (exchange.outcome !== null) {
    if (next !== null) finishUnsent(context, next);
  } else if (next === null || next.refusal !== null) finish(exchange, incoming);
  else {
    prepareRound(exchange, next);
    sendAgain(exchange);
  }
}

/** Replaces the timer of the round before, if it still runs. */
function pingWhile(exchange: RelayedExchange, isStillWaiting: () => boolean): void {
  if (exchange.pingTimer !== null) clearInterval(exchange.pingTimer);
  const timer = setInterval(() => {
    if (isStillWaiting()) sendPing(exchange);
    else clearInterval(timer);
  }, exchange.context.limits.pingMs);
  exchange.pingTimer = timer;
}

/** The round's answer has not begun: the upstream may take its time before the first byte. */
function isAwaitingAnswer({ outcome, incoming }: RelayedExchange, before: IncomingMessage): boolean {
  return outcome === null && (incoming === null || incoming === before);
}

function prepareRound(exchange: RelayedExchange, next: PlannedRequest): void {
  const { incoming, answerHead: head } = exchange;
  exchange.previousAnswer = incoming === null || head === null ? null : { incoming, head };
  exchange.isContinued = true;
  exchange.planned = next;
  exchange.isPlannerNotified = false;
  exchange.blockNumbers = null;
  exchange.answerBody = createBodyCopy(exchange.context.limits.keptBytesMax);
  exchange.incoming = null;
  exchange.isRetried = false;
  recordResend(exchange, next.sent);
}

/** The answer to a round cannot continue the client's: it is a refusal, or it is compressed. */
export function isFailedRound({ isContinued }: RelayedExchange, incoming: IncomingMessage): boolean {
  return isContinued && (incoming.statusCode !== 200 || isEncoded(readHead(incoming.rawHeaders)));
}

/**
 * The answer before a failed round, if the client's part of it is an answer by itself; it is not taken back
 * then.
 */
export function completeAnswerBefore({
  isContinued,
  previousAnswer,
  interceptor,
}: RelayedExchange): UpstreamAnswer | null {
  return isContinued && interceptor?.mayEndHere() === true ? previousAnswer : null;
}

/** Reads an answer to its end without passing it on to the client. */
export function readToEnd(
  exchange: RelayedExchange,
  { incoming, held }: FailedAnswer,
  then: () => void,
): void {
  const { answerBody } = exchange;
  exchange.incoming = incoming;
  exchange.answerHead = readHead(incoming.rawHeaders);
  for (const chunk of held) appendToCopy(answerBody, chunk);
  const onEnd = (): void => {
    if (exchange.outcome === null) then();
  };
  if (incoming.closed) {
    onEnd();
    return;
  }
  incoming.on("data", (chunk: Buffer) => appendToCopy(answerBody, chunk));
  incoming.on("error", () => undefined);
  incoming.once("close", onEnd);
}

/** An answer that is not passed on, and the chunks of it that were held. */
export type FailedAnswer = { readonly incoming: IncomingMessage; readonly held: readonly Buffer[] };

/** Ends a streamed answer with the error of a failed round as an event. */
export function sendFailureEvent(exchange: RelayedExchange, answer: FailedAnswer): void {
  readToEnd(exchange, answer, () => {
    exchange.outcome = "complete";
    endWithErrorEvent(exchange, errorIn(Buffer.concat(exchange.answerBody.chunks ?? [])));
  });
}

/** Ends a streamed answer with an error event if a round got no answer. False if that is not possible. */
export function sendMissingAnswerEvent(exchange: RelayedExchange, { status, error }: Refusal): boolean {
  const { isContinued, incoming, answerHead, arrival } = exchange;
  const isStreamed = answerHead !== null && isEventStream(answerHead);
  if (!isContinued || incoming !== null || !isStreamed || !arrival.response.headersSent) return false;
  exchange.outcome = "failed";
  exchange.problem = error.message;
  const { error: errorDetails } = JSON.parse(
    errorBody({ status, error }, arrival.id, "anthropic"),
  ) as ErrorEnvelope;
  endWithErrorEvent(exchange, errorDetails);
  return true;
}

function endWithErrorEvent({ arrival }: RelayedExchange, error: unknown): void {
  arrival.response.end(encodeEvent({ type: "error", error }));
}

type ErrorEnvelope = { readonly error: unknown };

function errorIn(body: Buffer): unknown {
  try {
    const { error } = JSON.parse(body.toString("utf8")) as Partial<ErrorEnvelope>;
    return error ?? unnamedError;
  } catch {
    return unnamedError;
  }
}

const unnamedError = { type: "api_error", message: "The model API failed in the middle of an answer." };

/** Only a streamed answer can have pings; one JSON value cannot. */
function sendPing({ arrival, answerHead, outcome }: RelayedExchange): void {
  const isStreamed = answerHead !== null && isEventStream(answerHead);
  if (isStreamed && outcome === null) arrival.response.write(encodeEvent({ type: "ping" }));
}

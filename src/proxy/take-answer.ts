import type { IncomingMessage } from "node:http";
import { appendToCopy } from "./body-copy.ts";
import { beginAnswer, deliver, endRound, flushLoneHead, upstreamHeadOf } from "./client-answer.ts";
import type { RelayCommand } from "./exchange-phases.ts";
import { protocolRefusal, refusalForError, resetRefusal } from "./failures.ts";
import { readHead } from "./headers.ts";
import { outcomeOf, protocolOf, type RelayedExchange, safely } from "./relayed-exchange.ts";
import { recordRequestOnce } from "./report-exchange.ts";
import { isStaleConnection, type UpstreamListener } from "./upstream-request.ts";

export function listenerFor(relayed: RelayedExchange): UpstreamListener {
  return {
    onAnswer: safely(relayed, (incoming) => onAnswer(relayed, incoming)),
    onUpgrade: () => onUpgrade(relayed),
    onError: safely(relayed, (error) => onUpstreamError(relayed, error)),
  };
}

function onAnswer(relayed: RelayedExchange, incoming: IncomingMessage): void {
  // Node announces a switch of protocols that does not name the new one as an answer.
  if (incoming.statusCode === 101) {
    onUpgrade(relayed);
    return;
  }
  relayed.arrivedAnswer = { incoming, head: readHead(incoming.rawHeaders) };
  relayed.heldChunks = [];
  relayed.dispatch({ type: "head", head: upstreamHeadOf(incoming) });
}

function onUpgrade(relayed: RelayedExchange): void {
  const refusal = protocolRefusal(relayed.arrival.upstream, "it switched protocols");
  relayed.dispatch({ type: "upstream-failed", refusal, isStale: false });
}

function onUpstreamError(relayed: RelayedExchange, error: Error): void {
  const { upstream } = relayed.arrival;
  if (relayed.exchange.phase.name === "refused") relayed.dispatch({ type: "refusal-end", isWhole: false });
  if (relayed.answer === null) {
    const isStale = isStaleConnection(relayed, error);
    relayed.dispatch({ type: "upstream-failed", refusal: refusalForError(error, upstream), isStale });
    return;
  }
  // Without a length the answer would look complete; only this error shows that it is not.
  if (!relayed.answer.incoming.complete)
    relayed.dispatch({ type: "answer-broken", refusal: resetRefusal(upstream) });
}

/** Holds a refusal back from the client until it is whole, too large, or late. */
export function holdRefusal(relayed: RelayedExchange): void {
  const incoming = relayed.arrivedAnswer?.incoming;
  const isHeld = (): boolean => relayed.exchange.phase.name === "refused";
  const release = (isWhole: boolean): void => {
    if (isHeld()) relayed.dispatch({ type: "refusal-end", isWhole });
  };
  relayed.holdTimer = setTimeout(() => release(false), relayed.context.limits.holdMs);
  incoming?.on("data", (chunk: Buffer) => {
    if (!isHeld()) return;
    relayed.quietSweeps = 0;
    relayed.heldChunks.push(chunk);
    relayed.dispatch({ type: "refusal-bytes", bytes: chunk.length });
  });
  // `close` follows the error of an answer that breaks off, and is handled below.
  incoming?.on("error", () => undefined);
  // After `close` the connection is free again, and the second attempt may use it.
  incoming?.once("close", () => release(incoming.complete));
}

/** Takes the answer that has arrived, with the chunks that were held of it. */
function takeAnswer(relayed: RelayedExchange) {
  const { arrivedAnswer: answer, heldChunks: held } = relayed;
  stopTimers(relayed);
  relayed.arrivedAnswer = null;
  relayed.heldChunks = [];
  return answer === null ? null : { answer, held };
}

export function passAnswer(
  relayed: RelayedExchange,
  command: Extract<RelayCommand, { type: "pass-answer" }>,
): void {
  const { report } = relayed;
  const taken = takeAnswer(relayed);
  if (taken === null) return;
  const { answer, held } = taken;
  const { incoming } = answer;
  beginAnswer(relayed, answer, command);
  report.firstByteAt ??= performance.now();
  relayed.quietSweeps = 0;
  const pass = safely(relayed, (chunk: Buffer) => {
    if (relayed.exchange.phase.name === "done") return;
    relayed.quietSweeps = 0;
    if (!deliver(relayed, chunk)) incoming.pause();
  });
  for (const chunk of held) pass(chunk);
  const onClose = (): void => {
    const refusal = resetRefusal(relayed.arrival.upstream);
    if (!incoming.complete) relayed.dispatch({ type: "answer-broken", refusal });
  };
  incoming.on("data", pass);
  incoming.once(
    "end",
    safely(relayed, () => onAnswerEnd(relayed, incoming)),
  );
  // `close` follows the error of an answer that breaks off, and is handled below.
  incoming.on("error", () => undefined);
  incoming.once("close", onClose);
  // An answer that was held until it was over emits no more events.
  if (incoming.closed && incoming.complete) onAnswerEnd(relayed, incoming);
  else if (incoming.closed) onClose();
  setImmediate(safely(relayed, () => onHeadPassed(relayed)));
}

function onAnswerEnd(relayed: RelayedExchange, incoming: IncomingMessage): void {
  if (relayed.exchange.phase.name !== "answering" || !incoming.complete) return;
  const { interceptor, context } = relayed;
  endRound(relayed);
  const isWaitingForUs = context.planner !== null && interceptor?.isWaitingForUs() === true;
  const mayEndHere = interceptor?.mayEndHere() === true;
  relayed.dispatch({ type: "answer-end", isWaitingForUs, mayEndHere });
}

function onHeadPassed(relayed: RelayedExchange): void {
  if (relayed.report.endedAt !== null) return;
  flushLoneHead(relayed);
  if (relayed.exchange.hasWholeBody) recordRequestOnce(relayed);
}

/** Reads an answer to its end without passing it on to the client. */
export function discardAnswer(relayed: RelayedExchange): void {
  const taken = takeAnswer(relayed);
  if (taken === null) return;
  const { answer, held } = taken;
  const { incoming } = answer;
  const { answerBody } = relayed;
  relayed.answer = answer;
  for (const chunk of held) appendToCopy(answerBody, chunk);
  const onEnd = (): void =>
    relayed.dispatch({ type: "answer-end", isWaitingForUs: false, mayEndHere: false });
  if (incoming.closed) {
    onEnd();
    return;
  }
  incoming.on("data", (chunk: Buffer) => appendToCopy(answerBody, chunk));
  incoming.on("error", () => undefined);
  incoming.once("close", onEnd);
}

/** A streamed answer has pings until the round's answer begins; one JSON value cannot have any. */
export function startPings(relayed: RelayedExchange): void {
  const { arrival, context } = relayed;
  if (relayed.pingTimer !== null) clearInterval(relayed.pingTimer);
  relayed.pingTimer = setInterval(
    safely(relayed, () => {
      if (!relayed.exchange.isBegun || outcomeOf(relayed) !== null) return;
      const ping = protocolOf(relayed)?.answer.ping();
      if (ping !== undefined) arrival.response.write(ping);
    }),
    context.limits.pingMs,
  );
}

export function stopTimers(relayed: RelayedExchange): void {
  const { holdTimer, pingTimer } = relayed;
  if (holdTimer !== null) clearTimeout(holdTimer);
  if (pingTimer !== null) clearInterval(pingTimer);
  relayed.holdTimer = null;
  relayed.pingTimer = null;
}

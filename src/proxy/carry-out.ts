import type { PlannedRequest } from "../exchange/index.ts";
import { appendToCopy } from "./body-copy.ts";
import { cutAnswer, endAnswer } from "./client-answer.ts";
import { rerouteToDemo } from "./demo.ts";
import type { RelayCommand } from "./exchange-phases.ts";
import { errorEventOf, errorShapeOf, sendOwnAnswer, sendRefusal } from "./failures.ts";
import { planBody, planNextRound, planRetry, unreadableRefusal } from "./plan-body.ts";
import { protocolOf, type RelayedExchange } from "./relayed-exchange.ts";
import {
  beginRound,
  concludeExchange,
  finishUnsent,
  recordRequestOnce,
  recordResend,
  reportRound,
} from "./report-exchange.ts";
import {
  discardAnswer,
  holdRefusal,
  listenerFor,
  passAnswer,
  startPings,
  stopTimers,
} from "./take-answer.ts";
import { endRequest, openRequest } from "./upstream-request.ts";

/** Carries out a command of the state machine. Throws if that is not possible. */
export function carryOut<T extends RelayCommand["type"]>(
  relayed: RelayedExchange,
  command: CommandOf<T>,
): void {
  const { type }: { readonly type: T } = command;
  handlers[type](relayed, command);
}

type CommandOf<T extends RelayCommand["type"]> = Extract<RelayCommand, { readonly type: T }>;
type Handlers = {
  readonly [T in RelayCommand["type"]]: (relayed: RelayedExchange, command: CommandOf<T>) => void;
};

const handlers: Handlers = {
  hold: ({ clientBody }, { chunk }) => appendToCopy(clientBody, chunk),
  write: (relayed, { chunk }) => writeChunk(relayed, chunk),
  "reroute-to-demo": rerouteToDemo,
  plan: planBody,
  "copy-body": copyBody,
  open: (relayed, { planned, isWhole }) => openUpstream(relayed, planned, isWhole),
  "end-request": endRequest,
  "resume-body": ({ arrival }) => arrival.request.resume(),
  "forget-idle-connections": ({ arrival }) => arrival.upstream.forgetIdle(),
  "hold-refusal": holdRefusal,
  "plan-retry": (relayed, { planned }) =>
    relayed.dispatch({ type: "retry-planned", planned: planRetry(relayed, planned) }),
  "pass-answer": passAnswer,
  "discard-answer": discardAnswer,
  "plan-round": (relayed, { planned }) => {
    startPings(relayed);
    planNextRound(relayed, planned);
  },
  "begin-round": (relayed, { planned }) => beginRound(relayed, planned),
  "end-answer": (relayed, { of }) =>
    endAnswer(relayed, of === "last answer" ? relayed.answer : relayed.answerBefore),
  "end-with-refusal": (relayed) => {
    const body = Buffer.concat(relayed.answerBody.chunks ?? []);
    relayed.arrival.response.end(protocolOf(relayed)?.refusals.refusalEvent(body));
  },
  "end-with-error": (relayed, { refusal }) =>
    relayed.arrival.response.end(errorEventOf(refusal, protocolOf(relayed))),
  cut: cutAnswer,
  refuse: ({ arrival, context }, { refusal }) =>
    sendRefusal({ ...arrival, refusal, shape: errorShapeOf(arrival.route), isDraining: context.isDraining }),
  "refuse-thread": (relayed) => {
    const { arrival, context } = relayed;
    const body = protocolOf(relayed)?.refusals.threadRefusal(arrival.id) ?? "";
    sendOwnAnswer({ ...arrival, status: 400, body, isDraining: context.isDraining });
  },
  "destroy-request": ({ sent }) => sent?.outgoing.destroy(),
  // The body is written first; no answer can arrive before the request is recorded.
  "record-request": (relayed) => process.nextTick(recordPlanned, relayed),
  "record-resend": (relayed, { sent }) => recordResend(relayed, sent),
  "report-round": reportRound,
  "keep-plan": ({ report }, { planned }) => {
    report.planned = planned;
  },
  "finish-unsent": ({ context }, { planned }) => finishUnsent(context, planned),
  count: ({ context }, { counter }) => context.meter.add(counter, 1),
  conclude: (relayed) => {
    stopTimers(relayed);
    concludeExchange(relayed);
  },
};

export function writeChunk({ sent, arrival, clientBody }: RelayedExchange, chunk: Buffer): void {
  if (sent?.outgoing.write(chunk) === false) arrival.request.pause();
  appendToCopy(clientBody, chunk);
}

function copyBody({ clientBody }: RelayedExchange): void {
  clientBody.chunks = clientBody.chunks?.map((chunk) => Buffer.from(chunk)) ?? null;
}

/** Not if the plan could not be sent after all. */
function recordPlanned(relayed: RelayedExchange): void {
  if (relayed.report.planned !== null) recordRequestOnce(relayed);
}

function openUpstream(relayed: RelayedExchange, planned: PlannedRequest | null, isWhole: boolean): void {
  const { report } = relayed;
  const unreadable = planned === null ? unreadableRefusal(relayed) : null;
  if (unreadable !== null) {
    relayed.dispatch({ type: "gave-up", refusal: unreadable });
    return;
  }
  report.planned = planned;
  openRequest(relayed, planned, listenerFor(relayed));
  if (isWhole) endRequest(relayed);
  if (planned !== null && report.wholeAt !== null) report.addedMs = performance.now() - report.wholeAt;
  report.wholeAt = null;
}

import { type ApertureError, unreachable } from "../base/index.ts";
import type { PlannedRequest, RelayOutcome, SentRequest } from "../exchange/index.ts";
import { faultRefusal, type Refusal } from "./failures.ts";
import { type ModelScan, scanModel } from "./model-scan.ts";

/**
 * One client request from its arrival to the end of its answer, as a state machine: events of the sockets and
 * of the planner go in, commands for the shell come out. It holds no socket, no timer and no body.
 *
 *   phase        event                                    next phase
 *   arriving     the body must be read                    collecting
 *                it need not be read                      sending
 *   collecting   the body is whole                        planning, or sending if no plan is needed
 *                it is too large, or names its model      sending
 *   planning     planned, or no plan in time              sending
 *                the plan must not be sent                done
 *   sending      the connection was stale                 sending, once
 *                the upstream refuses a plan              refused
 *                an answer begins                         answering
 *                the answer to a round cannot go on       discarding
 *   refused      the planner has another plan             sending
 *                it has none, or the refusal is too long  answering
 *   answering    the answer ends                          done
 *                it ends, and called only our tools       looping
 *   looping      the round is planned                     sending
 *                no round follows                         done
 *   discarding   the answer ends                          done
 *   any          the client leaves, something fails       done
 */
export type ExchangeState = {
  readonly phase: Phase;
  /** The client has sent its whole body. */
  readonly hasWholeBody: boolean;
  /** The client has got the head of an answer. */
  readonly isBegun: boolean;
};

export type Phase =
  /** The head of the request is there; nothing was decided. */
  | { readonly name: "arriving" }
  /** The body is held until it is whole, or until it names its model. */
  | {
      readonly name: "collecting";
      readonly holding: HoldReason;
      readonly length: number;
      readonly bytesMax: number;
    }
  /** The planner has the whole body. */
  | { readonly name: "planning" }
  /** A request is on its way to the upstream. */
  | { readonly name: "sending"; readonly attempt: UpstreamAttempt }
  /** The upstream refused a plan. The client does not get the refusal before the planner has read it. */
  | {
      readonly name: "refused";
      readonly attempt: UpstreamAttempt;
      readonly head: UpstreamHead;
      readonly bytes: number;
    }
  /** The answer passes to the client. */
  | { readonly name: "answering"; readonly attempt: UpstreamAttempt }
  /** The answer called only our tools, which are being executed. */
  | { readonly name: "looping"; readonly attempt: UpstreamAttempt; readonly mayEndHere: boolean }
  /** A round failed: its answer is read for the record, and the client gets something else. */
  | { readonly name: "discarding"; readonly instead: "answer before" | "error event" }
  | { readonly name: "done"; readonly outcome: RelayOutcome; readonly problem: string | null };

/** Why a body is held: the planner needs it, or it may name the demo model. */
export type HoldReason = { readonly for: "planner" } | { readonly for: "model"; readonly scan: ModelScan };

/** A request to the upstream, and what was tried before it. */
export type UpstreamAttempt = {
  /** Null if the client's body is sent as it comes. */
  readonly planned: PlannedRequest | null;
  /** It was sent again because its connection was stale. */
  readonly isResent: boolean;
  /** Another plan was refused before. There is never a third. */
  readonly isRetry: boolean;
  /** Set if it continues an answer; `mayEndHere` if the client's part of that is an answer by itself. */
  readonly round: { readonly mayEndHere: boolean } | null;
};

/** The head of an upstream's answer, as far as it decides something. */
export type UpstreamHead = {
  readonly status: number;
  /** A compressed answer has the form "other": it is not read as it comes. */
  readonly form: "events" | "message" | "other";
  readonly isEncoded: boolean;
};

export type RelayEvent =
  /** `holding` is null if the body need not be read before it is sent; a body over `bytesMax` is not held. */
  | { readonly type: "arrived"; readonly holding: HoldReason | null; readonly bytesMax: number }
  | { readonly type: "body"; readonly chunk: Buffer }
  | { readonly type: "body-end"; readonly isDemo: boolean }
  | { readonly type: "planned"; readonly planned: PlannedRequest }
  | { readonly type: "plan-failed" | "plan-late" }
  /** The request cannot be written as HTTP. */
  | { readonly type: "unsendable" }
  | { readonly type: "head"; readonly head: UpstreamHead }
  /** The head cannot be written as HTTP. */
  | { readonly type: "head-invalid"; readonly refusal: Refusal; readonly isBegun: boolean }
  | { readonly type: "refusal-bytes"; readonly bytes: number }
  | { readonly type: "refusal-end"; readonly isWhole: boolean }
  | { readonly type: "retry-planned"; readonly planned: PlannedRequest | null }
  | { readonly type: "answer-end"; readonly isWaitingForUs: boolean; readonly mayEndHere: boolean }
  | { readonly type: "answer-broken"; readonly refusal: Refusal }
  /** The end of the answer cannot be written. */
  | { readonly type: "end-invalid"; readonly refusal: Refusal }
  | { readonly type: "round-planned"; readonly planned: PlannedRequest | null }
  | { readonly type: "upstream-failed"; readonly refusal: Refusal; readonly isStale: boolean }
  /** We end the exchange: it is too large, too slow, or must not be sent. */
  | { readonly type: "gave-up"; readonly refusal: Refusal }
  | { readonly type: "client-closed"; readonly isDelivered: boolean };

export type RelayCommand =
  /** Keeps a chunk of the body without sending it. */
  | { readonly type: "hold"; readonly chunk: Buffer }
  /** Sends a chunk of the body and keeps a copy. */
  | { readonly type: "write"; readonly chunk: Buffer }
  | { readonly type: "reroute-to-demo" }
  | { readonly type: "plan" }
  /** The planner may still use the memory of the body, so the body is copied. */
  | { readonly type: "copy-body" }
  /** Opens a request to the upstream, and sends the plan or the body as far as it came. */
  | { readonly type: "open"; readonly planned: PlannedRequest | null; readonly isWhole: boolean }
  | { readonly type: "end-request" }
  /** The client may send more of its body again. */
  | { readonly type: "resume-body" }
  | { readonly type: "forget-idle-connections" }
  | { readonly type: "hold-refusal" }
  | { readonly type: "plan-retry"; readonly planned: PlannedRequest }
  /** Passes the answer on to the client: its head, chunks that were held, and the rest as it comes. */
  | { readonly type: "pass-answer"; readonly attempt: UpstreamAttempt; readonly head: UpstreamHead }
  /** Reads the answer to its end without passing it on. */
  | { readonly type: "discard-answer" }
  | { readonly type: "plan-round"; readonly planned: PlannedRequest }
  | { readonly type: "begin-round"; readonly planned: PlannedRequest }
  /** Writes the end of the client's answer: of the last answer of the upstream, or of the one before. */
  | { readonly type: "end-answer"; readonly of: "last answer" | "answer before" }
  /** Ends the client's answer with the error of the answer that was discarded. */
  | { readonly type: "end-with-refusal" }
  /** Ends the client's answer with an error of ours. */
  | { readonly type: "end-with-error"; readonly refusal: Refusal }
  /** Cuts the client's connection, so that the answer does not look complete. */
  | { readonly type: "cut" }
  | { readonly type: "refuse"; readonly refusal: Refusal }
  | { readonly type: "refuse-thread" }
  | { readonly type: "destroy-request" }
  | { readonly type: "record-request" }
  | { readonly type: "record-resend"; readonly sent: SentRequest | null }
  /** Reports the answer before a round to planner and recorder. */
  | { readonly type: "report-round" }
  /** A plan was made, and nothing of it is sent. */
  | { readonly type: "keep-plan"; readonly planned: PlannedRequest }
  | { readonly type: "finish-unsent"; readonly planned: PlannedRequest }
  | { readonly type: "count"; readonly counter: "plannerFaults" | "retried" }
  | { readonly type: "conclude" };

export type ExchangeStep = { readonly exchange: ExchangeState; readonly commands: readonly RelayCommand[] };

/** A larger refusal is passed on to the client as it comes. */
const refusalBytesMax = 64 * 1024;

export const newExchange: ExchangeState = {
  phase: { name: "arriving" },
  hasWholeBody: false,
  isBegun: false,
};

export function advance(exchange: ExchangeState, event: RelayEvent): ExchangeStep {
  const { phase } = exchange;
  if (event.type === "client-closed") return leave(exchange, event.isDelivered);
  if (event.type === "gave-up") return fail(exchange, event.refusal);
  switch (phase.name) {
    case "arriving":
      return whileArriving(exchange, event);
    case "collecting":
      return whileCollecting(exchange, phase, event);
    case "planning":
      return whilePlanning(exchange, event);
    case "sending":
      return whileSending(exchange, phase, event);
    case "refused":
      return whileRefused(exchange, phase, event);
    case "answering":
      return whileAnswering(exchange, phase, event);
    case "looping":
      return whileLooping(exchange, phase, event);
    case "discarding":
      return whileDiscarding(exchange, phase, event);
    case "done":
      return whenDone(exchange, event);
    default:
      return unreachable(phase);
  }
}

type PhaseOf<N extends Phase["name"]> = Extract<Phase, { readonly name: N }>;

function whileArriving(exchange: ExchangeState, event: RelayEvent): ExchangeStep {
  if (event.type !== "arrived") return ignore(exchange, event);
  const { holding, bytesMax } = event;
  if (holding === null) return send(exchange, firstAttempt);
  return to(exchange, { name: "collecting", holding, length: 0, bytesMax });
}

function whileCollecting(
  exchange: ExchangeState,
  phase: PhaseOf<"collecting">,
  event: RelayEvent,
): ExchangeStep {
  switch (event.type) {
    case "body":
      return holdChunk(exchange, phase, event.chunk);
    case "body-end": {
      const whole = { ...exchange, hasWholeBody: true };
      const step =
        phase.holding.for === "planner"
          ? to(whole, { name: "planning" }, { type: "plan" })
          : send(whole, firstAttempt);
      return event.isDemo ? before(step, { type: "reroute-to-demo" }) : step;
    }
    default:
      return ignore(exchange, event);
  }
}

function holdChunk(exchange: ExchangeState, phase: PhaseOf<"collecting">, chunk: Buffer): ExchangeStep {
  const { holding, bytesMax } = phase;
  const length = phase.length + chunk.length;
  // A body that is too large to be held is sent as it comes.
  if (length > bytesMax) return after(send(exchange, firstAttempt), { type: "write", chunk });
  const held: RelayCommand = { type: "hold", chunk };
  if (holding.for === "planner") return to(exchange, { ...phase, length }, held);
  const scan = scanModel(holding.scan, chunk, length);
  if (scan === "other model") return before(send(exchange, firstAttempt), held);
  return to(exchange, { ...phase, holding: { for: "model", scan }, length }, held);
}

function whilePlanning(exchange: ExchangeState, event: RelayEvent): ExchangeStep {
  switch (event.type) {
    case "planned": {
      const { planned } = event;
      const kept: RelayCommand = { type: "keep-plan", planned };
      if (planned.isProviderThread)
        return to(exchange, failed(storedProblem), kept, { type: "refuse-thread" });
      if (planned.refusal !== null) return before(fail(exchange, withheldRefusal(planned.refusal)), kept);
      return after(send(exchange, { ...firstAttempt, planned }), { type: "record-request" });
    }
    case "plan-failed":
      return before(send(exchange, firstAttempt), plannerFault);
    case "plan-late":
      return before(send(exchange, firstAttempt), { type: "copy-body" }, plannerFault);
    default:
      return ignore(exchange, event);
  }
}

function whileSending(
  exchange: ExchangeState,
  { attempt }: PhaseOf<"sending">,
  event: RelayEvent,
): ExchangeStep {
  const { planned, isResent, isRetry, round } = attempt;
  switch (event.type) {
    case "unsendable": {
      const isFirst = !isResent && !isRetry && round === null;
      if (planned === null || !isFirst) return fail(exchange, faultRefusal);
      // A plan that cannot be sent is our fault, so the client's body is sent as it came.
      return before(send(exchange, firstAttempt), { type: "finish-unsent", planned }, plannerFault);
    }
    case "upstream-failed": {
      if (!event.isStale || isResent) return fail(exchange, event.refusal);
      const again = send(exchange, { ...attempt, isResent: true });
      const step = exchange.hasWholeBody ? again : after(again, { type: "resume-body" });
      return before(step, { type: "count", counter: "retried" }, { type: "forget-idle-connections" });
    }
    case "head": {
      const { head } = event;
      if (isFailedRound(attempt, head) && round?.mayEndHere)
        return to(exchange, { name: "discarding", instead: "answer before" }, { type: "discard-answer" });
      if (head.status === 400 && planned?.mayRetry && !isRetry)
        return to(exchange, { name: "refused", attempt, head, bytes: 0 }, { type: "hold-refusal" });
      return pass(exchange, attempt, head);
    }
    default:
      return ignore(exchange, event);
  }
}

function whileRefused(exchange: ExchangeState, phase: PhaseOf<"refused">, event: RelayEvent): ExchangeStep {
  const { attempt, head } = phase;
  const { planned } = attempt;
  switch (event.type) {
    case "refusal-bytes": {
      const bytes = phase.bytes + event.bytes;
      return bytes > refusalBytesMax ? pass(exchange, attempt, head) : to(exchange, { ...phase, bytes });
    }
    case "refusal-end":
      return event.isWhole && planned !== null
        ? to(exchange, phase, { type: "plan-retry", planned })
        : pass(exchange, attempt, head);
    case "retry-planned": {
      const { planned: retry } = event;
      if (retry === null) return pass(exchange, attempt, head);
      if (retry.refusal !== null)
        return before(fail(exchange, withheldRefusal(retry.refusal)), { type: "keep-plan", planned: retry });
      const next = { ...attempt, planned: retry, isResent: false, isRetry: true };
      return before(send(exchange, next), { type: "record-resend", sent: retry.sent });
    }
    default:
      return ignore(exchange, event);
  }
}

function whileAnswering(
  exchange: ExchangeState,
  { attempt }: PhaseOf<"answering">,
  event: RelayEvent,
): ExchangeStep {
  const { planned } = attempt;
  switch (event.type) {
    case "head-invalid":
      return fail({ ...exchange, isBegun: event.isBegun }, event.refusal);
    case "answer-broken":
      return fail(exchange, event.refusal);
    case "answer-end": {
      const { isWaitingForUs, mayEndHere } = event;
      if (planned === null || !isWaitingForUs) return complete(exchange, "last answer");
      const looping = { name: "looping", attempt, mayEndHere } as const;
      return to(exchange, looping, { type: "report-round" }, { type: "plan-round", planned });
    }
    default:
      return ignore(exchange, event);
  }
}

function whileLooping(exchange: ExchangeState, phase: PhaseOf<"looping">, event: RelayEvent): ExchangeStep {
  if (event.type !== "round-planned") return ignore(exchange, event);
  const { planned } = event;
  // The answer ends here, with the text that there is none if the client got nothing else.
  if (planned === null) return complete(exchange, "last answer");
  if (planned.refusal !== null)
    return before(complete(exchange, "last answer"), { type: "finish-unsent", planned });
  const { mayEndHere, attempt } = phase;
  const next = { ...attempt, planned, isResent: false, round: { mayEndHere } };
  return before(send(exchange, next), { type: "begin-round", planned });
}

function whileDiscarding(
  exchange: ExchangeState,
  { instead }: PhaseOf<"discarding">,
  event: RelayEvent,
): ExchangeStep {
  if (event.type !== "answer-end" && event.type !== "answer-broken") return ignore(exchange, event);
  if (instead === "answer before") return complete(exchange, "answer before");
  return to(exchange, completed, { type: "end-with-refusal" });
}

function whenDone(exchange: ExchangeState, event: RelayEvent): ExchangeStep {
  if (event.type !== "end-invalid") return ignore(exchange, event);
  return exchange.isBegun ? truncate(exchange) : refuse(exchange, event.refusal);
}

/** Events that change nothing in this phase. A plan that comes too late is given back. */
function ignore(exchange: ExchangeState, event: RelayEvent): ExchangeStep {
  switch (event.type) {
    case "body-end": {
      const whole = { ...exchange, hasWholeBody: true };
      return exchange.phase.name === "done"
        ? to(whole, exchange.phase)
        : to(whole, exchange.phase, { type: "end-request" });
    }
    case "planned":
      return to(exchange, exchange.phase, { type: "finish-unsent", planned: event.planned });
    case "round-planned":
      return event.planned === null
        ? to(exchange, exchange.phase)
        : to(exchange, exchange.phase, { type: "finish-unsent", planned: event.planned });
    default:
      return to(exchange, exchange.phase);
  }
}

/** Sends a request. */
function send(exchange: ExchangeState, attempt: UpstreamAttempt): ExchangeStep {
  const { hasWholeBody: isWhole } = exchange;
  return to(exchange, { name: "sending", attempt }, { type: "open", planned: attempt.planned, isWhole });
}

/** Passes an answer on; a client that has part of an answer already gets a failed round as an event. */
function pass(exchange: ExchangeState, attempt: UpstreamAttempt, head: UpstreamHead): ExchangeStep {
  if (exchange.isBegun && isFailedRound(attempt, head))
    return to(exchange, { name: "discarding", instead: "error event" }, { type: "discard-answer" });
  const isHeadHeld = mayHide(attempt, head) && head.form === "message";
  const passing = { ...exchange, isBegun: exchange.isBegun || !isHeadHeld };
  return to(passing, { name: "answering", attempt }, { type: "pass-answer", attempt, head });
}

/** The answer may hold calls or commands that the client must not see. */
export function mayHide(
  { planned }: Pick<UpstreamAttempt, "planned">,
  { status, form }: UpstreamHead,
): boolean {
  if (planned === null || status !== 200 || form === "other") return false;
  return planned.isOwnTool !== null || planned.commandNonce !== null;
}

/** The answer to a round cannot continue the client's: it is a refusal, or it cannot be read. */
function isFailedRound({ round }: UpstreamAttempt, { status, isEncoded }: UpstreamHead): boolean {
  return round !== null && (status !== 200 || isEncoded);
}

function complete(exchange: ExchangeState, of: "last answer" | "answer before"): ExchangeStep {
  const step = to(exchange, completed, { type: "end-answer", of });
  // The upstream has answered early and does not read the rest of the request.
  if (exchange.hasWholeBody) return step;
  return after(step, { type: "destroy-request" }, { type: "resume-body" });
}

/**
 * Ends an exchange from our side: with the answer of the round before if there is one, with an error, or by
 * cutting an answer that has begun.
 */
function fail(exchange: ExchangeState, refusal: Refusal): ExchangeStep {
  const { phase, isBegun } = exchange;
  if (phase.name === "done") return to(exchange, phase);
  const isUnanswered = phase.name === "sending" || phase.name === "refused";
  const round = isUnanswered ? phase.attempt.round : null;
  if (round?.mayEndHere) {
    const { exchange: ended, commands } = complete(exchange, "answer before");
    return to(ended, failed(refusal.error.message), ...commands, { type: "destroy-request" });
  }
  if (!isBegun) return refuse(exchange, refusal);
  if (round === null) return after(truncate(exchange), { type: "destroy-request" });
  const problem = refusal.error.message;
  return to(exchange, failed(problem), { type: "end-with-error", refusal }, { type: "destroy-request" });
}

function refuse(exchange: ExchangeState, refusal: Refusal): ExchangeStep {
  const problem = refusal.error.message;
  return to(exchange, failed(problem), { type: "refuse", refusal }, { type: "destroy-request" });
}

function truncate(exchange: ExchangeState): ExchangeStep {
  return to(exchange, { name: "done", outcome: "truncated", problem: null }, { type: "cut" });
}

/** The client's connection is closed, perhaps after a complete answer. The first outcome stays. */
function leave(exchange: ExchangeState, isDelivered: boolean): ExchangeStep {
  const { phase } = exchange;
  const conclude: RelayCommand = { type: "conclude" };
  if (phase.name === "done" && (phase.outcome !== "complete" || isDelivered))
    return to(exchange, phase, conclude);
  const aborted = { name: "done", outcome: "aborted", problem: null } as const;
  return to(exchange, aborted, { type: "destroy-request" }, conclude);
}

function to(exchange: ExchangeState, phase: Phase, ...commands: readonly RelayCommand[]): ExchangeStep {
  return { exchange: { ...exchange, phase }, commands };
}

function before({ exchange, commands }: ExchangeStep, ...earlier: readonly RelayCommand[]): ExchangeStep {
  return { exchange, commands: [...earlier, ...commands] };
}

function after({ exchange, commands }: ExchangeStep, ...later: readonly RelayCommand[]): ExchangeStep {
  return { exchange, commands: [...commands, ...later] };
}

const firstAttempt: UpstreamAttempt = { planned: null, isResent: false, isRetry: false, round: null };
const completed: Phase = { name: "done", outcome: "complete", problem: null };
const plannerFault: RelayCommand = { type: "count", counter: "plannerFaults" };

function failed(problem: string): Phase {
  return { name: "done", outcome: "failed", problem };
}

function withheldRefusal(error: ApertureError): Refusal {
  return { status: 409, error };
}

/** The record of a request whose conversation the provider was to keep. */
const storedProblem = "the provider was to keep the thread; the client was told to send all of it";

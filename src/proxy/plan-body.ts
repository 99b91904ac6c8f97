import type { PlannedRequest, Planner, RequestMeta } from "../exchange/index.ts";
import { setCopyBuffer } from "./body-copy.ts";
import { isLogin } from "./credentials.ts";
import { framingOf, type Head, headerOf, headersOf } from "./headers.ts";
import type { RelayedExchange } from "./relayed-exchange.ts";
import { finishUnsent, recordRequestOnce, reportBeforePlanning } from "./report-exchange.ts";
import { describeRequest } from "./request-description.ts";
import { giveUp, refuseThread, sendUpstream, sendUpstreamOrGiveUp } from "./send-upstream.ts";

/**
 * The request as the planner needs it. Null if the planner does not need its body: it is relayed as it comes.
 */
export function metaToPlan(exchange: RelayedExchange): RequestMeta | null {
  const { head } = exchange.arrival;
  const { planner, limits, meter } = exchange.context;
  if (planner === null || exchange.arrival.route.protocol === null || !isReplaceable(head)) return null;
  const declared = headerOf(head, "content-length");
  const length = declared === undefined ? null : Number(declared);
  if (length === 0 || (length ?? 1) > limits.keptBytesMax) return null;
  try {
    const meta = requestMetaOf(exchange, length);
    if (meta === null || !planner.needsBody(meta)) return null;
    if (length !== null && length >= pooledBytesMin)
      setCopyBuffer(exchange.clientBody, planner.allocateBody(length));
    return meta;
  } catch {
    meter.add("plannerFaults", 1);
    return null;
  }
}

function requestMetaOf(exchange: RelayedExchange, length: number | null): RequestMeta | null {
  const description = describeRequest(exchange);
  return description === null ? null : { ...description, length, isLogin: isLogin(exchange.arrival.head) };
}

/** Smaller bodies come in few pieces, and pooling their memory saves nothing. */
const pooledBytesMin = 32 * 1024;

/** Headers that depend on the exact bytes of the body, so that no other body can be sent. */
const bodyBound = ["content-md5", "digest", "content-digest", "repr-digest", "x-amz-content-sha256"] as const;

function isReplaceable(head: Head): boolean {
  if (framingOf(head) === "none" || bodyBound.some((name) => head.names.includes(name))) return false;
  if (/^AWS4-/.test(headerOf(head, "authorization") ?? "")) return false;
  return headersOf(head, "content-encoding").every((coding) => coding.toLowerCase() === "identity");
}

/** Stops holding the body: sends the part that has come, and then the rest as it comes. */
export function relayUnplanned(exchange: RelayedExchange): void {
  exchange.awaitingPlan = null;
  exchange.modelScanTail = null;
  if (!refuseIfUnreadable(exchange)) sendUpstreamOrGiveUp(exchange);
}

/** Refuses a request whose body is not read but may hold withheld content. True if it was refused. */
export function refuseIfUnreadable(exchange: RelayedExchange): boolean {
  const { planner } = exchange.context;
  const meta = planner === null ? null : requestMetaOf(exchange, null);
  const error = meta === null ? null : (planner?.errorIfUnread(meta) ?? null);
  if (error !== null) giveUp(exchange, { status: 409, error });
  return error !== null;
}

/** Has the planner plan the whole body, and sends the plan. */
export function planAndSend(exchange: RelayedExchange, planner: Planner, meta: RequestMeta): void {
  const { context, clientBody } = exchange;
  const wholeAt = performance.now();
  reportBeforePlanning(context);
  let plan: PlannedRequest | Promise<PlannedRequest>;
  try {
    plan = planner.plan(meta, clientBody.chunks ?? []);
  } catch {
    planFailed(exchange);
    return;
  }
  if (plan instanceof Promise) awaitPlan(exchange, plan, wholeAt);
  else sendPlanned(exchange, plan, wholeAt);
}

function awaitPlan(exchange: RelayedExchange, plan: Promise<PlannedRequest>, wholeAt: number): void {
  const { context, clientBody } = exchange;
  const onTimeout = (): void => {
    if (!isAwaitingPlan(exchange)) return;
    // The planner may still read these chunks, and may reuse their memory.
    clientBody.chunks = clientBody.chunks?.map((chunk) => Buffer.from(chunk)) ?? null;
    planFailed(exchange);
  };
  const timer = setTimeout(onTimeout, context.limits.planMs);
  plan.then(
    (planned) => {
      clearTimeout(timer);
      if (isAwaitingPlan(exchange)) sendPlanned(exchange, planned, wholeAt);
      else finishUnsent(context, planned);
    },
    () => {
      clearTimeout(timer);
      planFailed(exchange);
    },
  );
}

/** The request was not sent without a plan, and the client has not left. */
function isAwaitingPlan({ awaitingPlan, outcome }: RelayedExchange): boolean {
  return awaitingPlan !== null && outcome === null;
}

/** A planner that fails is our fault, so the client's body is sent as it came. */
function planFailed(exchange: RelayedExchange): void {
  if (!isAwaitingPlan(exchange)) return;
  exchange.context.meter.add("plannerFaults", 1);
  relayUnplanned(exchange);
}

function sendPlanned(exchange: RelayedExchange, planned: PlannedRequest, wholeAt: number): void {
  exchange.planned = planned;
  try {
    if (planned.isProviderThread) refuseThread(exchange);
    else if (planned.refusal !== null) giveUp(exchange, { status: 409, error: planned.refusal });
    else {
      sendUpstream(exchange);
      exchange.addedMs = performance.now() - wholeAt;
      // The body is written first; no answer can arrive before the request is recorded.
      process.nextTick(recordRequestOnce, exchange);
    }
    exchange.awaitingPlan = null;
  } catch {
    discardPlan(exchange, planned);
    planFailed(exchange);
  }
}

/**
 * Drops a plan that cannot be sent. None of its bytes has left, because a request first waits for a
 * connection.
 */
function discardPlan(exchange: RelayedExchange, planned: PlannedRequest): void {
  const { outgoing, context } = exchange;
  exchange.outgoing = null;
  exchange.planned = null;
  outgoing?.destroy();
  finishUnsent(context, planned);
}

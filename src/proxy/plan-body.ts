import { decodeBody, type PlannedRequest, type Planner, type RequestMeta } from "../exchange/index.ts";
import { setCopyBuffer } from "./body-copy.ts";
import { isLogin } from "./credentials.ts";
import type { Refusal } from "./failures.ts";
import { framingOf, type Head, headerOf, headersOf } from "./headers.ts";
import { isRequestFlushed, type RelayedExchange } from "./relayed-exchange.ts";
import { reportBeforePlanning } from "./report-exchange.ts";
import { describeRequest } from "./request-description.ts";

/**
 * The request as the planner needs it. Null if the planner does not need its body: it is relayed as it comes.
 */
export function metaToPlan(relayed: RelayedExchange): RequestMeta | null {
  const { head, route } = relayed.arrival;
  const { planner, limits, meter } = relayed.context;
  if (planner === null || route.protocol === null || !isReplaceable(head)) return null;
  const declared = headerOf(head, "content-length");
  const length = declared === undefined ? null : Number(declared);
  if (length === 0 || (length ?? 1) > limits.keptBytesMax) return null;
  try {
    const meta = requestMetaOf(relayed, length);
    if (meta === null || !planner.needsBody(meta)) return null;
    if (length !== null && length >= pooledBytesMin)
      setCopyBuffer(relayed.clientBody, planner.allocateBody(length));
    return meta;
  } catch {
    meter.add("plannerFaults", 1);
    return null;
  }
}

function requestMetaOf(relayed: RelayedExchange, length: number | null): RequestMeta | null {
  const description = describeRequest(relayed);
  return description === null ? null : { ...description, length, isLogin: isLogin(relayed.arrival.head) };
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

/** The refusal if a body that is not read may hold withheld content. Null if it may be sent. */
export function unreadableRefusal(relayed: RelayedExchange): Refusal | null {
  const { planner } = relayed.context;
  const meta = planner === null ? null : requestMetaOf(relayed, null);
  const error = meta === null ? null : (planner?.errorIfUnread(meta) ?? null);
  return error === null ? null : { status: 409, error };
}

/** Has the planner plan the whole body. If that takes too long, the client's body is sent. */
export function planBody(relayed: RelayedExchange): void {
  const { context, clientBody, meta, report } = relayed;
  report.wholeAt = performance.now();
  reportBeforePlanning(context);
  const onFailure = (): void => relayed.dispatch({ type: "plan-failed" });
  const onPlan = (planned: PlannedRequest | undefined): void =>
    planned === undefined ? onFailure() : relayed.dispatch({ type: "planned", planned });
  let plan: PlannedRequest | Promise<PlannedRequest>;
  try {
    plan = planOf(context.planner, meta, clientBody.chunks ?? []);
  } catch {
    onFailure();
    return;
  }
  if (!(plan instanceof Promise)) {
    onPlan(plan);
    return;
  }
  const timer = setTimeout(() => relayed.dispatch({ type: "plan-late" }), context.limits.planMs);
  plan.finally(() => clearTimeout(timer)).then(onPlan, onFailure);
}

function planOf(planner: Planner | null, meta: RequestMeta | null, chunks: readonly Buffer[]) {
  if (planner === null || meta === null) throw new Error("a body is planned only if the planner needs it");
  return planner.plan(meta, chunks);
}

/** Asks the planner for another plan after a refusal; null if the client gets the refusal. */
export function planRetry(relayed: RelayedExchange, planned: PlannedRequest): PlannedRequest | null {
  const { context, arrivedAnswer, heldChunks, report } = relayed;
  const { planner, meter } = context;
  const encoding = (arrivedAnswer && headerOf(arrivedAnswer.head, "content-encoding")) ?? "";
  const body = decodeBody(Buffer.concat(heldChunks), encoding);
  if (planner === null || body === null) return null;
  meter.add("plannerRefusals", 1);
  try {
    const retry = planner.planRetry(planned, body);
    if (retry === null) return null;
    report.refused = { planned, isFlushed: isRequestFlushed(relayed) };
    meter.add("plannerRetries", 1);
    return retry;
  } catch {
    meter.add("plannerFaults", 1);
    return null;
  }
}

/** Has the planner plan a round, which waits for the results of our tools. */
export function planNextRound(relayed: RelayedExchange, planned: PlannedRequest): void {
  const { planner, meter } = relayed.context;
  const onFailure = (): null => {
    meter.add("plannerFaults", 1);
    return null;
  };
  void Promise.resolve()
    .then(() => planner?.planRound(planned) ?? null)
    .catch(onFailure)
    .then((next) => relayed.dispatch({ type: "round-planned", planned: next }));
}

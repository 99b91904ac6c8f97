import { callerOf, maskTarget, requestHeaders } from "./credentials.ts";
import type { RelayedExchange, RequestDescription } from "./relayed-exchange.ts";

/** Describes the request for planner and recorder, once. Null if it is not a model request. */
export function describeRequest(exchange: RelayedExchange): RequestDescription | null {
  const { arrival, context, startedMs } = exchange;
  const { protocol, rest, upstream } = arrival.route;
  if (protocol === null || exchange.description !== null) return exchange.description;
  const caller = callerOf(arrival.head, rest, context.hasher);
  exchange.description = {
    id: arrival.id,
    protocol,
    upstream,
    method: arrival.request.method ?? "",
    target: maskTarget(arrival.upstream.prefix + rest, caller.secrets),
    headers: requestHeaders(arrival.head, caller.secrets),
    caller,
    startedMs,
  };
  return exchange.description;
}

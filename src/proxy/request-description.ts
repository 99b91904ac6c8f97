import { callerOf, maskTarget, requestHeaders } from "./credentials.ts";
import type { RelayedExchange, RequestDescription } from "./relayed-exchange.ts";

/** Describes the request for planner and recorder, once. Null if it is not a model request. */
export function describeRequest(relayed: RelayedExchange): RequestDescription | null {
  const { arrival, context, startedMs } = relayed;
  const { protocol, rest, upstream } = arrival.route;
  if (protocol === null || relayed.description !== null) return relayed.description;
  const caller = callerOf(arrival.head, rest, context.hasher);
  relayed.description = {
    id: arrival.id,
    protocol,
    upstream,
    method: arrival.request.method ?? "",
    target: maskTarget(arrival.upstream.prefix + rest, caller.secrets),
    headers: requestHeaders(arrival.head, caller.secrets),
    caller,
    startedMs,
  };
  return relayed.description;
}

import { callerOf, maskedTarget, requestHeaders } from "./credentials.ts";
import type { Described, Exchange } from "./exchange.ts";

/** Worked out once. Null where the request is none of a model, and not worth a line in the log. */
export function describeRequest(exchange: Exchange): Described | null {
  const { arrival, context, startedMs } = exchange;
  const { protocol, rest, upstream } = arrival.route;
  if (protocol === null || exchange.described !== null) return exchange.described;
  const caller = callerOf(arrival.head, rest, context.hasher);
  exchange.described = {
    id: arrival.id,
    protocol,
    upstream,
    method: arrival.request.method ?? "",
    target: maskedTarget(arrival.upstream.prefix + rest, caller.secrets),
    headers: requestHeaders(arrival.head, caller.secrets),
    caller,
    startedMs,
  };
  return exchange.described;
}

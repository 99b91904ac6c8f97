import type { ModelPrices } from "../../policy/index.ts";
import { protocolOf, type WireRequest } from "../../protocols/index.ts";
import type { LiveStream } from "./live-stream.ts";
import type { Request } from "./read-request.ts";

const shortestLifetimeMs = 5 * 60_000;

/** The provider's cache of a stream has expired if its last turn was this long ago. */
export function isCacheCold(wire: WireRequest, idleMs: number, { rule, cache }: ModelPrices): boolean {
  const unmarkedMs = rule.kind === "marks" ? shortestLifetimeMs : cache.lifetimeMs;
  return idleMs > Math.max(unmarkedMs, wire.cacheLifetimeMs);
}

/**
 * The provider may be asked to clear tool results in place of a rewrite of ours. The only advantage is that
 * reasoning bound to its prefix stays valid. Nothing is added to requests of a login, nor to a client's own
 * context management.
 */
export function mayClearAtProvider(
  { takesProviderEdits }: LiveStream,
  { wire, meta }: Request,
  { hasContextEdits }: ModelPrices,
): boolean {
  const isOffered = meta.upstream === "anthropic" && hasContextEdits;
  const isUseful = protocolOf(wire).traits.model(wire.model).isBound;
  return takesProviderEdits && isOffered && isUseful && !meta.isLogin && !wire.hasOwnEdits;
}

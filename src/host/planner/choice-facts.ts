import type { Clock } from "../../base/index.ts";
import type { ChoiceFacts } from "../../ledger/index.ts";
import { type ModelPrices, withLongCache } from "../../policy/index.ts";
import { protocolOf, type WireRequest } from "../../protocols/index.ts";
import { assumedWindow } from "../../tokens/index.ts";
import { usedTokens } from "./awareness.ts";
import type { LiveStream } from "./live-stream.ts";
import type { ReceivedRequest } from "./read-request.ts";

const shortestLifetimeMs = 5 * 60_000;

export type PriceDeps = {
  readonly pricesOf: (model: string | null) => ModelPrices;
};

/** The provider's cache of the stream has expired. */
export function isCacheCold(
  { lastMs }: LiveStream,
  request: WireRequest,
  { clock, pricesOf }: PriceDeps & { readonly clock: Clock },
): boolean {
  const idleMs = clock.now() - lastMs;
  const { rule, cache } = pricesOf(request.model);
  const unmarkedMs = rule.kind === "marks" ? shortestLifetimeMs : cache.lifetimeMs;
  return lastMs > 0 && idleMs > Math.max(unmarkedMs, request.cacheLifetimeMs);
}

export type ChoiceDeps = PriceDeps & {
  readonly isCold: boolean;
  /** Tokens in a model's window; null if unknown. */
  readonly windowOf: (model: string | null) => number | null;
};

/** The facts that decide whether a request is sent as a rewrite. */
export function choiceFactsFor(
  stream: LiveStream,
  { request, previous, meta }: ReceivedRequest,
  { isCold, pricesOf, windowOf }: ChoiceDeps,
): ChoiceFacts {
  const { model } = request;
  const window = windowOf(model) ?? assumedWindow;
  const isSwitched = previous !== null && previous.model !== model;
  return {
    wishes: stream.levelWishes,
    heldBlocks: stream.held,
    hasNewWishes: stream.hasNewWishes,
    isUrgent: stream.isUrgent,
    prices: request.cacheLifetimeMs > shortestLifetimeMs ? withLongCache(pricesOf(model)) : pricesOf(model),
    coldReason: isCold ? "cold" : isSwitched ? "model" : null,
    losesReasoning: protocolOf(request).traits.model(model).isBound,
    mayEdit: mayClearAtProvider(stream, { request, meta }, pricesOf),
    usedTokens: usedTokens(stream),
    promptCount: stream.countedPrompt,
    // The answer needs part of the window, but never more than half of it is set aside.
    tokensMax: window - Math.min(request.answerTokensMax, window / 2),
  };
}

/**
 * The provider may be asked to clear tool results in place of a rewrite of ours. The only advantage is that
 * reasoning bound to its prefix stays valid. Nothing is added to requests of a login, nor to a client's own
 * context management.
 */
export function mayClearAtProvider(
  { takesProviderEdits }: LiveStream,
  { request, meta }: Pick<ReceivedRequest, "request" | "meta">,
  pricesOf: PriceDeps["pricesOf"],
): boolean {
  const isOffered = meta.upstream === "anthropic" && pricesOf(request.model).hasContextEdits;
  const isUseful = protocolOf(request).traits.model(request.model).isBound;
  return takesProviderEdits && isOffered && isUseful && !meta.isLogin && !request.hasOwnEdits;
}

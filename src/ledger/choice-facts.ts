import { withLongCache } from "../policy/index.ts";
import { assumedWindow } from "../tokens/index.ts";
import type { AllWishes } from "./all-wishes.ts";
import type { ChoiceFacts } from "./choose-rewrite.ts";
import type { LedgerStream } from "./ledger-stream.ts";
import type { LedgerRequest } from "./plan-request.ts";
import { usedTokens } from "./unlogged-blocks.ts";

/** The lifetime of a cache entry whose mark names none. */
const shortestLifetimeMs = 5 * 60_000;

/** The facts that decide whether a request is sent as a rewrite. */
export function choiceFactsFor(
  { protocol, unlogged, promptCount, notes }: LedgerStream,
  { wire, context }: LedgerRequest,
  { latest, levels, held, levelsVersion, urgentVersion }: AllWishes,
): ChoiceFacts {
  const { prices, coldReason, mayEdit } = context;
  const window = context.window ?? assumedWindow;
  return {
    wishes: levels,
    heldBlocks: held,
    hasNewWishes: levelsVersion > notes.consideredVersion,
    isUrgent: urgentVersion > notes.appliedVersion,
    prices: wire.cacheLifetimeMs > shortestLifetimeMs ? withLongCache(prices) : prices,
    coldReason,
    losesReasoning: protocol.traits.model(wire.model).isBound,
    mayEdit,
    usedTokens: usedTokens(unlogged, latest),
    promptCount,
    // The answer needs part of the window, but never more than half of it is set aside.
    tokensMax: window - Math.min(wire.answerTokensMax, window / 2),
  };
}

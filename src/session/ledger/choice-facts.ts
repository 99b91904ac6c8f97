import type { Clock } from "../../base/index.ts";
import { answerMax, modelTraits, takesEdit, type WireRequest } from "../../protocols/index.ts";
import { type ModelPrices, withLongCache } from "../../render/index.ts";
import { assumedWindow } from "../assumed-window.ts";
import { lifetimeMs } from "./admission.ts";
import { usedBefore } from "./awareness.ts";
import type { ChoiceFacts } from "./choosing.ts";
import type { Line } from "./line.ts";
import type { Read } from "./read-request.ts";

const shortestLifetimeMs = 5 * 60_000;

export type PricePlace = {
  /** What a model charges. */
  readonly pricesOf: (model: string | null) => ModelPrices;
};

/** Whether nothing of a stream is cached any more. */
export function isColdFor(
  { lastMs }: Line,
  request: WireRequest,
  { clock, pricesOf }: PricePlace & { readonly clock: Clock },
): boolean {
  const idleMs = clock.now() - lastMs;
  const { rule, cache } = pricesOf(request.model);
  const unmarkedMs = rule.kind === "marks" ? shortestLifetimeMs : cache.lifetimeMs;
  return lastMs > 0 && idleMs > Math.max(unmarkedMs, lifetimeMs(request));
}

export type ChoicePlace = PricePlace & {
  readonly isCold: boolean;
  /** Tokens a model's window holds. */
  readonly windowOf: (model: string | null) => number | null;
};

/** What it depends on whether a request is a rewrite. */
export function choiceFacts(
  line: Line,
  { request, previous, asking }: Read,
  { isCold, pricesOf, windowOf }: ChoicePlace,
): ChoiceFacts {
  const { model } = request;
  const window = windowOf(model) ?? assumedWindow;
  const isSwitched = previous !== null && previous.model !== model;
  return {
    wanted: line.wanted,
    held: line.held,
    hasNews: line.hasNews,
    isUrged: line.isUrged,
    prices: lifetimeMs(request) > shortestLifetimeMs ? withLongCache(pricesOf(model)) : pricesOf(model),
    cold: isCold ? "cold" : isSwitched ? "model" : null,
    losesReasoning: modelTraits(model).isBound,
    mayEdit: mayEdit(line, { request, asking }, pricesOf),
    used: usedBefore(line),
    counted: line.counted,
    // What is kept for the answer is not there for the prompt, unless that would leave next to nothing.
    limit: window - Math.min(answerMax(request), window / 2),
  };
}

/**
 * Whether the provider may be asked to leave results out. It keeps reasoning that is bound, and has no other
 * advantage. Nothing is added to what a login sends, nor to what a client asks for itself.
 */
export function mayEdit(
  { takesEdits }: Line,
  { request, asking }: Pick<Read, "request" | "asking">,
  pricesOf: PricePlace["pricesOf"],
): boolean {
  const isOffered = asking.upstream === "anthropic" && pricesOf(request.model).hasContextEdits;
  const isUseful = modelTraits(request.model).isBound;
  return takesEdits && isOffered && isUseful && !asking.isLogin && takesEdit(request);
}

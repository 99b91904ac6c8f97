import type { Clock } from "../../base/index.ts";
import type { RequestMeta } from "../../exchange/index.ts";
import type { ArrivalPolicy, Awareness, LedgerRequest, PlanContext } from "../../ledger/index.ts";
import type { ModelPrices } from "../../policy/index.ts";
import { protocolOf, type WireRequest } from "../../protocols/index.ts";
import type { LiveStream } from "./live-stream.ts";
import type { Request } from "./read-request.ts";

/** The settings and the clock of the planner. Each is asked once for every request. */
export type ContextDeps = {
  readonly clock: Clock;
  readonly awareness: () => Awareness;
  readonly arrivalPolicy: () => ArrivalPolicy;
  readonly pricesOf: (model: string | null) => ModelPrices;
  /** Tokens in a model's window; null if unknown. */
  readonly windowOf: (model: string | null) => number | null;
};

export type ContextOptions = Pick<PlanContext, "style" | "answerTokensMax"> & {
  /** The provider's cache of the stream has expired. */
  readonly isCold: boolean;
};

/** A request as the ledger plans it. */
export type ShellRequest = Request &
  LedgerRequest & {
    /** The log is missing some of the units sent before. */
    readonly isLost: boolean;
  };

type ContextInput = ContextDeps & ContextOptions & Pick<PlanContext, "isFullReport">;

/** Collects the time, the settings and the limits of the provider, which the ledger plans with. */
export function contextFor(live: LiveStream, request: Request, input: ContextInput): PlanContext {
  const { style, isCold, isFullReport, answerTokensMax } = input;
  const { clock, awareness, arrivalPolicy, windowOf, pricesOf } = input;
  const { meta, wire, previous } = request;
  const prices = pricesOf(wire.model);
  const isSwitched = previous !== null && previous.model !== wire.model;
  return {
    style,
    timeMs: clock.now(),
    awareness: awareness(),
    arrival: arrivalPolicy().arrival,
    prices,
    window: windowOf(wire.model),
    coldReason: isCold ? "cold" : isSwitched ? "model" : null,
    mayClear: hasClearAt(meta, wire) || (!meta.isLogin && meta.upstream === "anthropic"),
    mayEdit: mayClearAtProvider(live, request, prices),
    isFullReport,
    results: live.commandResults,
    ...(answerTokensMax === undefined ? {} : { answerTokensMax }),
  };
}

/** The client itself asked for messages that clear themselves. */
function hasClearAt(meta: RequestMeta, wire: WireRequest): boolean {
  return hasBeta(meta, protocolOf(wire).traits.betaFor("self-clearing"));
}

export function hasBeta({ headers }: RequestMeta, beta: string): boolean {
  return headers["anthropic-beta"]?.includes(beta) === true;
}

/**
 * The provider may be asked to clear tool results in place of a rewrite of ours. The only advantage is that
 * reasoning bound to its prefix stays valid. Nothing is added to requests of a login, nor to a client's own
 * context management.
 */
function mayClearAtProvider(
  { takesProviderEdits }: LiveStream,
  { wire, meta }: Request,
  { hasContextEdits }: ModelPrices,
): boolean {
  const isOffered = meta.upstream === "anthropic" && hasContextEdits;
  const isUseful = protocolOf(wire).traits.model(wire.model).isBound;
  return takesProviderEdits && isOffered && isUseful && !meta.isLogin && !wire.hasOwnEdits;
}

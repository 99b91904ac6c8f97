import { must } from "../../src/base/index.ts";
import { pricesOf } from "../../src/config/index.ts";
import {
  defaultAwareness,
  type LedgerRequest,
  type LedgerStream,
  openStream,
  type PlanContext,
  sessionNumbers,
} from "../../src/ledger/index.ts";
import { protocolOf, type WireRequest } from "../../src/protocols/index.ts";

const anthropic = protocolOf({ protocol: "anthropic" });

/** A stream of the Messages API that begins now, or one that an earlier process has sent requests for. */
export function newStream(isNew = true): LedgerStream {
  return openStream({
    protocol: anthropic,
    nonce: "k7f3",
    isNew,
    session: sessionNumbers(),
    isComplete: isNew,
  });
}

export function readBody(body: object | Buffer, previous: WireRequest | null = null): WireRequest {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  return must(anthropic.read.request(bytes, previous), "the body can be read");
}

/** A managed turn with the usual settings. */
export function turnOf(wire: WireRequest, over: Partial<PlanContext> = {}): LedgerRequest {
  const context: PlanContext = {
    style: "managed",
    timeMs: 1_000,
    awareness: defaultAwareness,
    arrival: "lossless",
    prices: pricesOf(wire.model),
    window: 200_000,
    coldReason: null,
    mayClear: true,
    mayEdit: false,
    isFullReport: false,
    results: new Map(),
    ...over,
  };
  return { wire, purpose: "turn", context };
}

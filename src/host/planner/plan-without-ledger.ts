import {
  noOverlap,
  type Pieces,
  type PlannedRequest,
  type RequestMeta,
  type SentRequest,
} from "../../exchange/index.ts";
import { plainBody, type WithheldContent } from "../../ledger/index.ts";
import { protocolOf } from "../../protocols/index.ts";
import type { LiveStream } from "./live-stream.ts";
import { keyOfRequest } from "./live-streams.ts";
import { type Request, readingOf } from "./read-request.ts";
import type { WithheldRegistry } from "./withheld-registry.ts";

/** Sends the client's body as it came. */
export function planRaw({ id }: RequestMeta, body: Buffer, mayRetry: boolean): PlannedRequest {
  return {
    requestId: id,
    rendering: "raw",
    pieces: [body],
    length: body.length,
    betas: [],
    mayRetry,
    needsAnswer: false,
    sent: null,
    clientBody: body,
    overlap: noOverlap,
    refusal: null,
    ownLineFilter: null,
    isOwnTool: null,
    commandNonce: null,
  };
}

/**
 * Sends the client's body without reasoning and withheld content; that needs no knowledge of earlier
 * requests.
 */
export function planPlain(
  { key, generatedName }: Pick<LiveStream, "key" | "generatedName">,
  request: Request,
  withheld: WithheldContent,
): PlannedRequest {
  const { meta, body, wire } = request;
  const pieces = plainBody(wire, withheld);
  const common = { rendering: "plain", length: lengthOf(pieces) } as const;
  const sent: SentRequest = {
    ...common,
    streamKey: key,
    generatedName,
    wishesSeq: 0,
    leaf: "",
    fresh: [],
    aliases: [],
    isTurn: false,
    body: pieces,
    epoch: null,
  };
  return { ...planRaw(meta, body, false), ...common, pieces, received: readingOf(request), sent };
}

/** Sends the client's body, without the parts that the provider would refuse or the user withholds. */
export function planClientBody(live: LiveStream, request: Request): PlannedRequest {
  const { wire, meta, body } = request;
  const { withheld } = live.wishes;
  const { isBound } = protocolOf(wire).traits.model(wire.model);
  if (isBound || withheld.size > 0) return planPlain(live, request, withheld);
  return planRaw(meta, body, false);
}

function lengthOf(pieces: Pieces): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/**
 * Tells the client to send the whole conversation, which it does from then on. Its provider would store calls
 * of our tools without their results, and the client would send only new messages: the ledger cannot render
 * such a request.
 */
export function planThreadRefusal({ meta, body }: Request): PlannedRequest {
  return { ...planRaw(meta, body, false), isProviderThread: true };
}

/**
 * Sends a side question of a session that has no live stream, without the content withheld in the session.
 */
export function planSideQuestion(registry: WithheldRegistry, request: Request): PlannedRequest {
  const { meta, body, identity } = request;
  const withheld = registry.forRequest(meta, identity);
  if (withheld.size === 0) return planRaw(meta, body, false);
  return planPlain({ key: keyOfRequest(meta, identity), generatedName: null }, request, withheld);
}

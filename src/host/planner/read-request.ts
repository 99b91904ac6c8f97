import type { BodyOverlap, RequestIdentity, RequestMeta, StreamLookup } from "../../exchange/index.ts";
import type { RenderPurpose } from "../../ledger/index.ts";
import type { WireRequest } from "../../protocols/index.ts";
import { isSideQuestion, isSummaryRequest } from "./admission.ts";
import type { LiveStream } from "./live-stream.ts";

/** A client request with its parsed body and its identity. */
export type ReceivedRequest = {
  readonly meta: RequestMeta;
  readonly body: Buffer;
  readonly request: WireRequest;
  /** The request before it in the stream, whose parsed parts it shares; null if there was none. */
  readonly previous: WireRequest | null;
  readonly identity: RequestIdentity;
};

export function lookupOf({ meta, identity, request }: ReceivedRequest): StreamLookup {
  const { owner, credential } = meta.caller;
  const { client, sessionKey, agent } = identity;
  const whose = { owner, upstream: meta.upstream, client, sessionKey, credential, agent };
  return { type: "ledger", ...whose, messageKeys: request.messageKeys };
}

const offValues: readonly string[] = ["", "0", "false", "no", "off"];
const managingModes: readonly string[] = ["ask", "auto"];

/**
 * The headers ask for the request to pass unchanged. An unknown value counts as that: it never asks for more.
 */
export function isPassThroughWanted(headers: RequestMeta["headers"]): boolean {
  const lowerCased = (name: string): string | undefined => headers[name]?.trim().toLowerCase();
  const [bypass, mode] = [lowerCased("x-aperture-bypass"), lowerCased("x-aperture-mode")];
  return (
    (bypass !== undefined && !offValues.includes(bypass)) ||
    (mode !== undefined && !managingModes.includes(mode))
  );
}

/** The planner reads the bodies of these requests only. */
export function isMessagesRequest({ protocol, method, target }: RequestMeta): boolean {
  const isMessages = /\/v1\/messages(?:\/count_tokens)?(?:\?|$)/.test(target);
  return protocol === "anthropic" && method === "POST" && isMessages;
}

export function purposeOf({ meta, request, identity: { client } }: ReceivedRequest): RenderPurpose {
  if (meta.target.includes("/count_tokens")) return "count";
  return isSummaryRequest(client, request) || isSideQuestion(client, request) ? "aside" : "turn";
}

/**
 * Clients also count a single tool or text under the id of the session; that is no part of the conversation.
 */
export function isLoneCount(purpose: RenderPurpose, { messages }: WireRequest): boolean {
  return purpose === "count" && !messages.some(({ role }) => role === "assistant");
}

/** The bytes that this body shares with the last request of its stream. */
export function overlapOf(
  { key, lastRequest: last }: LiveStream,
  { request, previous }: ReceivedRequest,
): BodyOverlap {
  const isNext = last !== null && last.request === previous;
  return {
    streamKey: key,
    baseRequest: isNext ? last.id : null,
    sharedBytes: isNext ? request.sharedBytes : 0,
  };
}

/** The provider refused reasoning that was changed, or that follows another prefix than it was made for. */
export function isReasoningRefusal(body: Uint8Array): boolean {
  const text = Buffer.from(body).toString("utf8");
  return /bound to a different conversation|invalid `?signature`? in `?thinking|blocks[^"]* cannot be modified/i.test(
    text,
  );
}

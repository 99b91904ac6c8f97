import type {
  BodyOverlap,
  Purpose,
  RequestIdentity,
  RequestMeta,
  StreamLookup,
} from "../../exchange/index.ts";
import type { RenderPurpose } from "../../ledger/index.ts";
import { findProtocol, type RequestKind, type WireRequest } from "../../protocols/index.ts";
import type { LiveStream } from "./live-stream.ts";

/** A client request with its parsed body and its identity. */
export type ReceivedRequest = {
  readonly meta: RequestMeta;
  readonly body: Buffer;
  readonly request: WireRequest;
  /** The request before it in the stream, whose parsed parts it shares; null if there was none. */
  readonly previous: WireRequest | null;
  readonly identity: RequestIdentity;
  readonly purpose: Purpose;
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
export function isModelRequest(meta: RequestMeta): boolean {
  return kindOf(meta) !== null;
}

export function kindOf({ protocol, method, target }: RequestMeta): RequestKind | null {
  return findProtocol(protocol)?.read.kindOf(method, target) ?? null;
}

/**
 * The answer tokens left after `spentTokens`; null if none are left. A request with a reasoning budget needs
 * more than that budget, and a smaller budget would make the prompt cache useless.
 */
export function answerTokensLeft({ request }: ReceivedRequest, spentTokens: number): number | null {
  const left = request.answerTokensMax - spentTokens;
  return left > 0 ? Math.max(left, request.reasoningTokens + 1) : null;
}

/** The ledger renders a turn, a count like the next turn, and anything else without notes of ours. */
export function renderPurposeOf({ purpose }: ReceivedRequest): RenderPurpose {
  return purpose === "turn" || purpose === "count" ? purpose : "aside";
}

/** Agents ask side questions under the id of the session, without its tools. */
export function isSideQuestion({ purpose }: ReceivedRequest): boolean {
  return purpose === "side" || purpose === "probe";
}

/**
 * Clients also count a single tool or text under the id of the session; that is no part of the conversation.
 */
export function isLoneCount({ purpose, request: { messages } }: ReceivedRequest): boolean {
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
    sharedEndBytes: isNext ? request.sharedEndBytes : 0,
  };
}

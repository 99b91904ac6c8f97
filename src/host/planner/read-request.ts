import {
  type BodyOverlap,
  type Purpose,
  purposeOf,
  type ReadRequest,
  type RequestIdentity,
  type RequestMeta,
  type StreamLookup,
  withSessionHint,
} from "../../exchange/index.ts";
import { findProtocol, type RequestKind, type WireRequest } from "../../protocols/index.ts";
import type { LiveStream } from "./live-stream.ts";

/** A client request: its body is read once, and everything that follows from it alone is decided here. */
export type Request = {
  readonly meta: RequestMeta;
  readonly body: Buffer;
  readonly wire: WireRequest;
  /** The request before it in the stream, whose parsed parts it shares; null if there was none. */
  readonly previous: WireRequest | null;
  readonly identity: RequestIdentity;
  readonly purpose: Purpose;
  /** The model has not answered in this conversation yet. */
  readonly isFirst: boolean;
};

export type ReceivedBody = {
  readonly meta: RequestMeta;
  readonly body: Buffer;
  readonly previous: WireRequest | null;
  /** Its identity by its headers. */
  readonly named: RequestIdentity;
};

/** Null if the body cannot be read. */
export function readRequest({ meta, body, previous, named }: ReceivedBody): Request | null {
  const wire = findProtocol(meta.protocol)?.read.request(body, previous) ?? null;
  if (wire === null) return null;
  const identity = withSessionHint(named, wire);
  return {
    meta,
    body,
    wire,
    previous,
    identity,
    purpose: purposeOf({ kind: kindOf(meta) ?? "ask", identity, request: wire }),
    isFirst: !wire.messages.some(({ role }) => role === "assistant"),
  };
}

/** Agents ask side questions under the id of the session, without its tools. */
export function isSideQuestion({ purpose }: Request): boolean {
  return purpose === "side" || purpose === "probe";
}

/** The recorder gets these three and decides none of them again. */
export function readingOf({ wire, identity, purpose }: Request): ReadRequest {
  return { request: wire, identity, purpose };
}

/** Copies the body: its memory is reused once the answer is over. */
export function withBodyCopy(request: Request): Request {
  const body = Buffer.from(request.body);
  return { ...request, body, wire: { ...request.wire, bytes: body } };
}

export function lookupOf({ meta, identity, wire }: Request): StreamLookup {
  const { owner, credential } = meta.caller;
  const { client, sessionKey, agent } = identity;
  const whose = { owner, upstream: meta.upstream, client, sessionKey, credential, agent };
  return { type: "ledger", ...whose, messageKeys: wire.messageKeys };
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
export function answerTokensLeft({ wire }: Request, spentTokens: number): number | null {
  const left = wire.answerTokensMax - spentTokens;
  return left > 0 ? Math.max(left, wire.reasoningTokens + 1) : null;
}

/**
 * A side question, or a count of a single tool or text, under the id of a session whose conversation begins
 * otherwise: it is no part of that conversation.
 */
export function isSeparate(request: Request, last: WireRequest | null): boolean {
  const { wire, purpose, isFirst } = request;
  const isLone = isSideQuestion(request) || (purpose === "count" && isFirst);
  return isLone && (last === null || wire.messageKeys[0] !== last.messageKeys[0]);
}

/** The bytes that this body shares with the last request of its stream. */
export function overlapOf({ key, lastRequest: last }: LiveStream, { wire, previous }: Request): BodyOverlap {
  const isNext = last !== null && last.wire === previous;
  return {
    streamKey: key,
    baseRequest: isNext ? last.id : null,
    sharedBytes: isNext ? wire.sharedBytes : 0,
    sharedEndBytes: isNext ? wire.sharedEndBytes : 0,
  };
}

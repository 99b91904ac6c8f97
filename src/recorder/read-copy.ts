import {
  decodeBody,
  identify,
  type RequestCopy,
  type ResponseCopy,
  type StreamLookup,
  type TurnRecord,
} from "../exchange/index.ts";
import { findProtocol, protocolOf, type WireAnswer, type WireRequest } from "../protocols/index.ts";
import type { IdentifiedRequest } from "./recorded-stream.ts";

/**
 * Reads the body of a request; unchanged parts are reused from the previous one. Null if it cannot be read.
 */
export function readRequestCopy(
  { protocol, body }: RequestCopy,
  previous: WireRequest | null,
): WireRequest | null {
  return body === null ? null : (findProtocol(protocol)?.read.request(body, previous) ?? null);
}

/** The answer in a response: as it was read when it passed, or else read from the body. */
export function answerOf(name: RequestCopy["protocol"], copy: ResponseCopy): WireAnswer | null {
  if (copy.answer !== null) return copy.answer;
  const protocol = findProtocol(name);
  if (protocol === null || copy.body === null) return null;
  const { "content-type": type = "", "content-encoding": encoding = "" } = copy.headers;
  const plain = decodeBody(copy.body, encoding);
  if (plain !== null) return protocol.answer.read(plain, type);
  const none = {
    units: [],
    usage: null,
    model: null,
    stop: null,
    cleared: null,
    isWhole: copy.outcome === "complete",
  };
  return { ...none, problem: `its encoding (${encoding.slice(0, 40)}) cannot be read` };
}

/** The end of an exchange whose request was refused and sent again in another form. */
export const refusedResponse: Omit<ResponseCopy, "id"> = {
  status: 400,
  headers: {},
  body: null,
  length: 0,
  answer: null,
  outcome: "complete",
  blockNumbers: null,
  problem: "it was refused, and sent again in another form",
  firstByteMs: null,
  totalMs: 0,
};

/** The texts of an answer, without calls and reasoning. */
export function answerText(answer: WireAnswer | null): string {
  const texts = (answer?.units ?? []).flatMap(({ unit, bytes }) =>
    unit.part === "text" ? (protocolOf(unit).read.text(bytes) ?? []) : [],
  );
  return texts.join("\n");
}

/** Drops the bodies that are not needed while a request waits for its answer. */
export function dropSpentBodies(identified: IdentifiedRequest): IdentifiedRequest {
  const { copy, request } = identified;
  // The planner may resend a request to a model that binds its reasoning, also one that was sent unchanged.
  const mayResend = request !== null && protocolOf(request).traits.model(request.model).isBound;
  if (copy.sent === null)
    return mayResend ? identified : { ...identified, copy: { ...copy, body: null }, request: null };
  return { ...identified, copy: { ...copy, sent: { ...copy.sent, fresh: [], body: [] } } };
}

/** Most common encodings first. Headers are not stored, but a wrong guess cannot be decoded. */
const encodings = ["identity", "gzip", "br", "zstd", "deflate"] as const;

/** A decompressed answer with its content type; null if it cannot be detected. */
export function plainAnswer(bytes: Uint8Array): TurnRecord["answer"] {
  for (const encoding of encodings) {
    const body = decodeBody(bytes, encoding);
    const contentType = body === null ? null : contentTypeOf(body);
    if (body !== null && contentType !== null) return { body, contentType };
  }
  return null;
}

const sniffedBytes = 64;

function contentTypeOf(body: Uint8Array): string | null {
  const start = Buffer.from(body.subarray(0, sniffedBytes)).toString("latin1").trimStart();
  if (start.startsWith("{")) return "application/json";
  return /^(?:event|data|id|retry)?:/.test(start) ? "text/event-stream" : null;
}

/** Facts about a copy that are known before its body is read. */
export type CopyLabel = {
  readonly owner: string;
  readonly upstream: string;
  readonly credential: string;
  /** The session it names, if that is known before its body is read. */
  readonly sessionKey: string | null;
};

export function copyLabel(copy: RequestCopy): CopyLabel {
  const { owner, credential } = copy.caller;
  return {
    owner,
    upstream: copy.upstream,
    credential,
    sessionKey: (copy.identity ?? identify(copy)).sessionKey,
  };
}

/** True if the copy may belong to the session that is looked up. */
export function mayConcern(label: CopyLabel, lookup: StreamLookup): boolean {
  if (label.owner !== lookup.owner || label.upstream !== lookup.upstream) return false;
  if (label.sessionKey !== null) return label.sessionKey === lookup.sessionKey;
  return label.credential === lookup.credential;
}

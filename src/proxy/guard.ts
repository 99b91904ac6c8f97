import { createHash, timingSafeEqual } from "node:crypto";
import { apertureError, type ErrorCode, type ErrorDetails } from "../base/index.ts";
import type { Refusal } from "./failures.ts";
import { connectionNames, framingOf, type Head, headerOf, headersOf, isFraming } from "./headers.ts";
import type { ServerNames } from "./hosts.ts";

export type GuardInput = {
  readonly method: string;
  readonly httpVersion: string;
  readonly head: Head;
};

/**
 * The checks for every route, ours and the models'. They run before any routing, so that no route can forget
 * them. Null lets the request in.
 */
export function generalRefusal(input: GuardInput, names: ServerNames): Refusal | null {
  return (
    hostRefusal(input.head, names.hosts) ??
    originRefusal(input.head, names.origins) ??
    methodRefusal(input.method) ??
    framingRefusal(input)
  );
}

function hostRefusal(head: Head, hosts: ReadonlySet<string>): Refusal | null {
  const given = headersOf(head, "host");
  const [host] = given;
  if (given.length === 1 && host !== undefined && hosts.has(host.toLowerCase())) return null;
  return refusalWith(421, "AP_HOST_UNKNOWN", { known: [...hosts].slice(0, 3).join(", ") });
}

/**
 * A browser sends the origin of the page that makes a request; a model client sends none. Pages of the same
 * site on another port are refused too, and so is the origin "null".
 */
function originRefusal(head: Head, origins: ReadonlySet<string>): Refusal | null {
  const given = headersOf(head, "origin");
  if (given.length > 1 || (given[0] !== undefined && !origins.has(given[0].toLowerCase()))) {
    return refusalWith(403, "AP_PAGE_REFUSED", { header: "Origin" });
  }
  const sites = headersOf(head, "sec-fetch-site");
  if (sites.every((site) => site === "same-origin" || site === "none")) return null;
  return refusalWith(403, "AP_PAGE_REFUSED", { header: "Sec-Fetch-Site" });
}

function methodRefusal(method: string): Refusal | null {
  const isRefused = method === "OPTIONS" || method === "TRACE" || method === "CONNECT";
  return isRefused ? refusalWith(405, "AP_METHOD_REFUSED", { method }) : null;
}

/** Node's parser refuses most malformed framing; this checks the rest, and the most dangerous cases again. */
function framingRefusal({ httpVersion, head }: GuardInput): Refusal | null {
  const problem = framingProblem(httpVersion, head);
  return problem === null ? null : refusalWith(400, "AP_REQUEST_MALFORMED", { problem });
}

function framingProblem(httpVersion: string, head: Head): string | null {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return "the HTTP version is not 1.0 or 1.1";
  const codings = headersOf(head, "transfer-encoding");
  const lengths = headersOf(head, "content-length");
  if (codings.length + lengths.length > 1) return "it gives the length of its body more than once";
  const [coding] = codings;
  if (coding !== undefined && coding.toLowerCase() !== "chunked") {
    return "the only transfer coding understood is chunked";
  }
  if (coding !== undefined && httpVersion === "1.0") return "HTTP 1.0 has no transfer codings";
  const [length] = lengths;
  if (length !== undefined && !/^\d{1,15}$/.test(length)) return "its content length is not a number";
  if (connectionNames(head).some(isFraming)) return "its Connection header names a framing header";
  return null;
}

export type ModelGuardInput = {
  readonly head: Head;
  readonly isRecorded: boolean;
  readonly relayToken: string | null;
};

/** The checks for the routes that lead to a model. */
export function modelRefusal(input: ModelGuardInput): Refusal | null {
  return tokenRefusal(input) ?? upgradeRefusal(input.head) ?? typeRefusal(input);
}

function tokenRefusal({ head, relayToken }: ModelGuardInput): Refusal | null {
  if (relayToken === null) return null;
  const given = headersOf(head, "x-aperture-token");
  const [token = ""] = given;
  const isValid = given.length === 1 && timingSafeEqual(digest(token), digest(relayToken));
  return isValid ? null : refusalWith(401, "AP_TOKEN_REFUSED", {});
}

/** All digests have the same length, so that the comparison takes equally long for every guess. */
function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}

/**
 * A client that offers HTTP 2 continues without it if the offer is ignored; a WebSocket client must be
 * refused.
 */
function upgradeRefusal(head: Head): Refusal | null {
  const upgrade = headerOf(head, "upgrade");
  if (upgrade === undefined || upgrade.toLowerCase() === "h2c") return null;
  return refusalWith(426, "AP_UPGRADE_REFUSED", {});
}

/**
 * A page of any origin may send plain text, forms or a body without a type, without a preflight request, and
 * older browsers send no origin with it. A form passes if a model client uploads a file: then it has a
 * credential header, which such a page cannot set.
 */
function typeRefusal({ head, isRecorded }: ModelGuardInput): Refusal | null {
  if (!hasBody(head)) return null;
  const types = headersOf(head, "content-type");
  const [type = ""] = types;
  const essence = type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const isUpload = essence === "multipart/form-data" && !isRecorded && hasCredentialHeader(head);
  const isSimple = essence === "" || simpleTypes.has(essence);
  return types.length <= 1 && (!isSimple || isUpload) ? null : refusalWith(415, "AP_TYPE_REFUSED", {});
}

const simpleTypes: ReadonlySet<string> = new Set([
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
]);

function hasBody(head: Head): boolean {
  const framing = framingOf(head);
  return framing === "chunked" || (framing === "length" && Number(headerOf(head, "content-length")) > 0);
}

function hasCredentialHeader(head: Head): boolean {
  return ["authorization", "x-api-key", "api-key", "x-goog-api-key"].some((name) =>
    head.names.includes(name),
  );
}

function refusalWith(status: number, code: ErrorCode, details: ErrorDetails): Refusal {
  return { status, error: apertureError(code, details) };
}

/** Keys whose prefix shows who issued them. */
const keyIssuers = [
  { prefix: "sk-ant-", owner: "Anthropic", host: "api.anthropic.com" },
  { prefix: "sk-proj-", owner: "OpenAI", host: "api.openai.com" },
  { prefix: "AIza", owner: "Google", host: "generativelanguage.googleapis.com" },
] as const;

const officialHosts: ReadonlySet<string> = new Set(keyIssuers.map(({ host }) => host));

/**
 * Refuses a key of one provider on its way to the official host of another: the client's base URL is wrong,
 * and the key would leak to the wrong company. Any other host may be a gateway that takes every key.
 */
export function misplacedKey(head: Head, upstreamHost: string): Refusal | null {
  if (!officialHosts.has(upstreamHost)) return null;
  for (let at = 0; at < head.names.length; at += 1) {
    if (!isKeyHeader(head.names[at] ?? "")) continue;
    const key = (head.raw[at * 2 + 1] ?? "").replace(/^bearer\s+/i, "");
    const issuer = keyIssuers.find(({ prefix, host }) => host !== upstreamHost && key.startsWith(prefix));
    if (issuer === undefined) continue;
    return refusalWith(400, "AP_KEY_MISPLACED", { owner: issuer.owner, host: upstreamHost });
  }
  return null;
}

function isKeyHeader(name: string): boolean {
  return name === "authorization" || name === "x-api-key" || name === "x-goog-api-key" || name === "api-key";
}

import { createHash, timingSafeEqual } from "node:crypto";
import { apertureError, type Details, type ErrorCode } from "../base/index.ts";
import type { Refusal } from "./failures.ts";
import { connectionNames, framingOf, type Head, headerOf, headersOf, isFraming } from "./headers.ts";
import type { Names } from "./hosts.ts";

export type Knock = {
  readonly method: string;
  readonly httpVersion: string;
  readonly head: Head;
};

/**
 * What holds for every route, ours and the models' alike, decided before any routing so that no route can
 * forget it. Null lets the request in.
 */
export function refusalOf(knock: Knock, names: Names): Refusal | null {
  return (
    hostRefusal(knock.head, names.hosts) ??
    originRefusal(knock.head, names.origins) ??
    methodRefusal(knock.method) ??
    framingRefusal(knock)
  );
}

function hostRefusal(head: Head, hosts: ReadonlySet<string>): Refusal | null {
  const given = headersOf(head, "host");
  const [host] = given;
  if (given.length === 1 && host !== undefined && hosts.has(host.toLowerCase())) return null;
  return refuse(421, "AP_HOST_UNKNOWN", { known: [...hosts].slice(0, 3).join(", ") });
}

/**
 * A browser says on whose behalf it asks; a model client says nothing. Pages of the same site under another
 * port are strangers too, and so is what a browser calls a null origin.
 */
function originRefusal(head: Head, origins: ReadonlySet<string>): Refusal | null {
  const given = headersOf(head, "origin");
  if (given.length > 1 || (given[0] !== undefined && !origins.has(given[0].toLowerCase()))) {
    return refuse(403, "AP_PAGE_REFUSED", { header: "Origin" });
  }
  const sites = headersOf(head, "sec-fetch-site");
  if (sites.every((site) => site === "same-origin" || site === "none")) return null;
  return refuse(403, "AP_PAGE_REFUSED", { header: "Sec-Fetch-Site" });
}

function methodRefusal(method: string): Refusal | null {
  const refused = method === "OPTIONS" || method === "TRACE" || method === "CONNECT";
  return refused ? refuse(405, "AP_METHOD_REFUSED", { method }) : null;
}

/** Node's parser refuses most of this by itself; these are the rest, and a second look at the worst. */
function framingRefusal({ httpVersion, head }: Knock): Refusal | null {
  const problem = framingProblem(httpVersion, head);
  return problem === null ? null : refuse(400, "AP_REQUEST_MALFORMED", { problem });
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

export type ModelKnock = {
  readonly head: Head;
  readonly recorded: boolean;
  readonly relayToken: string | null;
};

/** What holds for the routes that lead to a model. */
export function modelRefusal(knock: ModelKnock): Refusal | null {
  return tokenRefusal(knock) ?? upgradeRefusal(knock.head) ?? typeRefusal(knock);
}

function tokenRefusal({ head, relayToken }: ModelKnock): Refusal | null {
  if (relayToken === null) return null;
  const given = headersOf(head, "x-aperture-token");
  const [token = ""] = given;
  const fits = given.length === 1 && timingSafeEqual(digest(token), digest(relayToken));
  return fits ? null : refuse(401, "AP_TOKEN_REFUSED", {});
}

/** Equal lengths whatever was given, so that the comparison takes as long for every guess. */
function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}

/** A client that offers HTTP 2 goes on without when the offer is not taken up; a WebSocket must be told. */
function upgradeRefusal(head: Head): Refusal | null {
  const wanted = headerOf(head, "upgrade");
  if (wanted === undefined || wanted.toLowerCase() === "h2c") return null;
  return refuse(426, "AP_UPGRADE_REFUSED", {});
}

/**
 * A page of any origin may send plain text and forms, or a body without a type, without asking first. Older
 * browsers do not say on whose behalf. A form may pass where a model client uploads a file: then it carries
 * a credential in a header, which such a page cannot do.
 */
function typeRefusal({ head, recorded }: ModelKnock): Refusal | null {
  if (!hasBody(head)) return null;
  const types = headersOf(head, "content-type");
  const [type = ""] = types;
  const essence = type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const upload = essence === "multipart/form-data" && !recorded && hasCredentialHeader(head);
  const simple = essence === "" || simpleTypes.has(essence);
  return types.length <= 1 && (!simple || upload) ? null : refuse(415, "AP_TYPE_REFUSED", {});
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

function refuse(status: number, code: ErrorCode, details: Details): Refusal {
  return { status, error: apertureError(code, details) };
}

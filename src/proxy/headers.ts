/** A header block as it came: `raw` has names and values in turn, `names` the names in lower case. */
export type Head = { readonly raw: readonly string[]; readonly names: readonly string[] };

export function readHead(raw: readonly string[]): Head {
  const names: string[] = [];
  for (let at = 0; at < raw.length; at += 2) names.push((raw[at] ?? "").toLowerCase());
  return { raw, names };
}

/** The first value of a header. Contract: the name is in lower case. */
export function headerOf(head: Head, name: string): string | undefined {
  const at = head.names.indexOf(name);
  return at === -1 ? undefined : head.raw[at * 2 + 1];
}

/** All values of a header. Most headers occur once at most, so it searches on only after a first match. */
export function headersOf(head: Head, name: string): readonly string[] {
  let at = head.names.indexOf(name);
  if (at === -1) return none;
  const values: string[] = [];
  for (; at !== -1; at = head.names.indexOf(name, at + 1)) values.push(head.raw[at * 2 + 1] ?? "");
  return values;
}

const none: readonly string[] = [];

/** How a body is delimited on one connection. */
export type Framing = "none" | "length" | "chunked";

/** Contract: the head passed the guard, so it has at most one length and no coding but `chunked`. */
export function framingOf(head: Head): Framing {
  if (head.names.includes("transfer-encoding")) return "chunked";
  return head.names.includes("content-length") ? "length" : "none";
}

/** Headers about a single connection. All that begin with `proxy-` are too. */
const hopByHop: ReadonlySet<string> = new Set(["keep-alive", "te", "upgrade", "http2-settings"]);

/** Header names that the Connection header declares to be about this connection only. */
export function connectionNames(head: Head): readonly string[] {
  const values = headersOf(head, "connection");
  if (values.length === 0 || (values.length === 1 && values[0] === "keep-alive")) return none;
  return values.flatMap((value) =>
    value
      .toLowerCase()
      .split(",")
      .map((name) => name.trim()),
  );
}

/**
 * The headers for the upstream, in the client's order and spelling: with the upstream's host, without headers
 * about the client's connection, and without our own. Nothing is added, so the upstream cannot see that there
 * is a proxy.
 */
export function upstreamHeaders(head: Head, host: string): string[] {
  const connectionOnly = connectionNames(head);
  const isChunked = framingOf(head) === "chunked";
  const headers: string[] = [];
  for (let at = 0; at < head.names.length; at += 1) {
    const name = head.names[at] ?? "";
    const value = head.raw[at * 2 + 1] ?? "";
    const sent = name === "trailer" && !isChunked ? null : upstreamValue(name, value, host);
    if (sent !== null && !isConnectionHeader(connectionOnly, name))
      headers.push(head.raw[at * 2] ?? "", sent);
  }
  return headers;
}

export type BodyReplacement = {
  /** The body is not the client's, so the client's framing does not apply. */
  readonly isReplaced: boolean;
  readonly length: number;
  readonly betas: readonly string[];
  /** The answer will be read, so it must not be compressed. */
  readonly mustBePlain: boolean;
};

/** Changes the headers for another body: its length replaces the client's in the same position. */
export function reframeHeaders(headers: readonly string[], replacement: BodyReplacement): string[] {
  const { isReplaced, length, betas, mustBePlain } = replacement;
  const result: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const [name = "", value = ""] = [headers[at], headers[at + 1]];
    switch (name.toLowerCase()) {
      case "content-length":
        result.push(name, String(length));
        break;
      case "transfer-encoding":
        if (isReplaced) result.push("Content-Length", String(length));
        else result.push(name, value);
        break;
      case "trailer":
        if (!isReplaced) result.push(name, value);
        break;
      case "accept-encoding":
        result.push(name, mustBePlain ? "identity" : value);
        break;
      default:
        result.push(name, value);
    }
  }
  return betas.length === 0 ? result : withBetas(result, betas);
}

/** Adds missing betas to the last `anthropic-beta` header; an upstream reads all of them as one list. */
function withBetas(headers: string[], betas: readonly string[]): string[] {
  const head = readHead(headers);
  const known = headersOf(head, "anthropic-beta").flatMap((value) =>
    value.split(",").map((beta) => beta.trim()),
  );
  const missing = betas.filter((beta) => !known.includes(beta)).join(",");
  if (missing === "") return headers;
  const last = head.names.lastIndexOf("anthropic-beta");
  if (last === -1) return [...headers, "anthropic-beta", missing];
  const value = headers[last * 2 + 1] ?? "";
  return headers.with(last * 2 + 1, /(?:^|,)\s*$/.test(value) ? value + missing : `${value},${missing}`);
}

function upstreamValue(name: string, value: string, host: string): string | null {
  switch (name) {
    case "host":
      return host;
    case "connection":
      // This is about our own connection: the options of the client's connection are dropped.
      return "keep-alive";
    case "expect":
      // We have answered it: the body is already on its way.
      return null;
    case "cookie":
      return value.includes("perture") ? foreignCookies(value) : value;
    default:
      return isHopByHop(name) || name.startsWith("x-aperture-") ? null : value;
  }
}

/** A browser that shows the panel attaches the panel's cookie to every path of this server. */
function foreignCookies(value: string): string | null {
  const pairs = value.split(/; */).filter((pair) => !/^(?:__\w+-)?aperture/i.test(pair.trim()));
  return pairs.length === 0 ? null : pairs.join("; ");
}

function isHopByHop(name: string): boolean {
  return hopByHop.has(name) || name.startsWith("proxy-");
}

/** Framing headers are never dropped this way: the guard refuses a Connection header that names one. */
function isConnectionHeader(connectionOnly: readonly string[], name: string): boolean {
  return (
    connectionOnly.length > 0 && name !== "connection" && connectionOnly.includes(name) && !isFraming(name)
  );
}

export function isFraming(name: string): boolean {
  return name === "content-length" || name === "transfer-encoding" || name === "host";
}

type ClientHeaderOptions = {
  readonly id: string;
  /** The client may get a chunked body: it speaks HTTP 1.1, and there is a body. */
  readonly isChunked: boolean;
  /** The client gets exactly as many bytes as the upstream announced. */
  readonly hasLength: boolean;
};

/**
 * The headers for the client: the upstream's, without those about its connection. CORS permissions are
 * removed: an upstream grants them for itself, but here they would let any page read what the user's client
 * may read.
 */
export function clientHeaders(head: Head, options: ClientHeaderOptions): string[] {
  const connectionOnly = connectionNames(head);
  const headers: string[] = [];
  for (let at = 0; at < head.names.length; at += 1) {
    const name = head.names[at] ?? "";
    if (!isPassedOn(name, options) || isConnectionHeader(connectionOnly, name)) continue;
    headers.push(head.raw[at * 2] ?? "", head.raw[at * 2 + 1] ?? "");
  }
  headers.push("x-aperture-request-id", options.id);
  return headers;
}

function isPassedOn(name: string, { isChunked, hasLength }: ClientHeaderOptions): boolean {
  if (name === "transfer-encoding" || name === "trailer") return isChunked;
  if (name === "content-length") return hasLength;
  if (name === "connection" || isHopByHop(name)) return false;
  return !name.startsWith("access-control-") && !name.startsWith("x-aperture-");
}

/** Trailers as pairs for Node. Framing headers are dropped: after the body they could only contradict it. */
export function trailerPairs(rawTrailers: readonly string[]): [string, string][] {
  const head = readHead(rawTrailers);
  return head.names.flatMap((name, at): [string, string][] => {
    const isDropped = isFraming(name) || isHopByHop(name) || name.startsWith("x-aperture-");
    return isDropped ? [] : [[head.raw[at * 2] ?? "", head.raw[at * 2 + 1] ?? ""]];
  });
}

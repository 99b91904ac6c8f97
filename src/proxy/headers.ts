/** A header block as it came: names and values in turn, and the names once more in lower case. */
export type Head = { readonly raw: readonly string[]; readonly names: readonly string[] };

export function readHead(raw: readonly string[]): Head {
  const names: string[] = [];
  for (let at = 0; at < raw.length; at += 2) names.push((raw[at] ?? "").toLowerCase());
  return { raw, names };
}

/** The first value under this name, which must be given in lower case. */
export function headerOf(head: Head, name: string): string | undefined {
  const at = head.names.indexOf(name);
  return at === -1 ? undefined : head.raw[at * 2 + 1];
}

/** All values under this name. Mostly there is none or one, so it looks for the next only after a first. */
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

/** Expects a head that passed the checks: at most one length, and `chunked` as the only coding. */
export function framingOf(head: Head): Framing {
  if (head.names.includes("transfer-encoding")) return "chunked";
  return head.names.includes("content-length") ? "length" : "none";
}

/** About one connection only. What `proxy-` begins with is among them too. */
const hopByHop: ReadonlySet<string> = new Set(["keep-alive", "te", "upgrade", "http2-settings"]);

/** Header names that a Connection header declares to be about that connection. */
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
 * What goes upstream, in the client's order and spelling. The host is the upstream's; what concerns the
 * client's connection alone is left out; our own headers are for us. Nothing is added: an upstream cannot
 * tell from the headers that somebody stands in between.
 */
export function upstreamHeaders(head: Head, host: string): string[] {
  const named = connectionNames(head);
  const chunked = framingOf(head) === "chunked";
  const headers: string[] = [];
  for (let at = 0; at < head.names.length; at += 1) {
    const name = head.names[at] ?? "";
    const value = head.raw[at * 2 + 1] ?? "";
    const sent = name === "trailer" && !chunked ? null : upstreamValue(name, value, host);
    if (sent !== null && !isNamed(named, name)) headers.push(head.raw[at * 2] ?? "", sent);
  }
  return headers;
}

export type Reframing = {
  /** The body is another one than the client's, so how the client delimited it says nothing. */
  readonly isReplaced: boolean;
  readonly length: number;
  readonly betas: readonly string[];
  /** Whether the answer has to be looked into, and so must not be compressed. */
  readonly isRead: boolean;
};

/** Headers for upstream with the length of another body, in the place where the client gave its own. */
export function reframed(headers: readonly string[], reframing: Reframing): string[] {
  const { isReplaced, length, betas, isRead } = reframing;
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
        result.push(name, isRead ? "identity" : value);
        break;
      default:
        result.push(name, value);
    }
  }
  return betas.length === 0 ? result : withBetas(result, betas);
}

/** Adds what is missing to the last header of that name; an upstream reads them all as one list. */
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
      // In the client's place, but about our connection: an option it named is gone with its header.
      return "keep-alive";
    case "expect":
      // Answered by us: the body is already on its way when the upstream could.
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

/** The framing headers are never dropped by name: the guard refuses a request that tries. */
function isNamed(named: readonly string[], name: string): boolean {
  return named.length > 0 && name !== "connection" && named.includes(name) && !isFraming(name);
}

export function isFraming(name: string): boolean {
  return name === "content-length" || name === "transfer-encoding" || name === "host";
}

type Passing = {
  readonly id: string;
  /** Whether the client may be sent a chunked body: not in HTTP 1.0, and not where there is no body. */
  readonly chunked: boolean;
  /** Whether the client gets as many bytes as the upstream has said. */
  readonly hasLength: boolean;
};

/**
 * What goes back to the client: the upstream's headers as they are, without those about its connection.
 * Permissions for other origins are taken out as well: an upstream that serves web pages allows them for
 * itself, but here they would let any page read what the user's own client may read.
 */
export function clientHeaders(head: Head, passing: Passing): string[] {
  const named = connectionNames(head);
  const headers: string[] = [];
  for (let at = 0; at < head.names.length; at += 1) {
    const name = head.names[at] ?? "";
    if (!isPassedOn(name, passing) || isNamed(named, name)) continue;
    headers.push(head.raw[at * 2] ?? "", head.raw[at * 2 + 1] ?? "");
  }
  headers.push("x-aperture-request-id", passing.id);
  return headers;
}

function isPassedOn(name: string, { chunked, hasLength }: Passing): boolean {
  if (name === "transfer-encoding" || name === "trailer") return chunked;
  if (name === "content-length") return hasLength;
  if (name === "connection" || isHopByHop(name)) return false;
  return !name.startsWith("access-control-") && !name.startsWith("x-aperture-");
}

/** Trailers in the form that node takes. Framing that arrives after the body would be a lie about it. */
export function trailerPairs(rawTrailers: readonly string[]): [string, string][] {
  const head = readHead(rawTrailers);
  return head.names.flatMap((name, at): [string, string][] => {
    const dropped = isFraming(name) || isHopByHop(name) || name.startsWith("x-aperture-");
    return dropped ? [] : [[head.raw[at * 2] ?? "", head.raw[at * 2 + 1] ?? ""]];
  });
}

import { loopbackHosts } from "../config/index.ts";

/**
 * The names under which this server answers, in lower case, and the origins of pages that may send requests.
 */
export type ServerNames = { readonly hosts: ReadonlySet<string>; readonly origins: ReadonlySet<string> };

/** Writes an address as in a URL or Host header: IPv6 in brackets. */
export function authorityOf(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

type ListenAddress = {
  readonly host: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
};

/**
 * Names are compared exactly. A web page that points its own name at 127.0.0.1 (DNS rebinding) reaches this
 * socket, but its browser sends that name in the Host header, and the page is refused.
 */
export function serverNamesOf({ host, port, allowedHosts }: ListenAddress): ServerNames {
  const addresses = isWildcard(host) ? loopbackHosts : [...new Set([...loopbackHosts, host.toLowerCase()])];
  const own = addresses.flatMap((address) => spellings(address, port));
  const allowed = allowedHosts.map((name) => name.toLowerCase());
  const origins = [
    ...own.map((authority) => `http://${authority}`),
    // A user who allows a name may have put a TLS server in front of us.
    ...allowed.flatMap((authority) => [`http://${authority}`, `https://${authority}`]),
  ];
  return { hosts: new Set([...own, ...allowed]), origins: new Set(origins) };
}

/** Clients leave out the default port of the scheme. */
function spellings(address: string, port: number): readonly string[] {
  const authority = authorityOf(address, port);
  return port === 80 ? [authority, authority.slice(0, -":80".length)] : [authority];
}

/** A wildcard address is not a name that clients may use. */
function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

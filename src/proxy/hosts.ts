import { loopbackHosts } from "../config/index.ts";

/** Under which names this server answers, in lower case, and from which pages it takes requests. */
export type Names = { readonly hosts: ReadonlySet<string>; readonly origins: ReadonlySet<string> };

/** How an address is written in a URL and in a Host header: IPv6 in brackets. */
export function authorityOf(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

type Listening = {
  readonly host: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
};

/**
 * Exact names only. A web page that points its own name at 127.0.0.1 (DNS rebinding) reaches this socket, but
 * its browser sends that name in the Host header; comparing exactly is what keeps such pages out.
 */
export function namesOf({ host, port, allowedHosts }: Listening): Names {
  const addresses = isWildcard(host) ? loopbackHosts : [...new Set([...loopbackHosts, host.toLowerCase()])];
  const own = addresses.flatMap((address) => spellings(address, port));
  const allowed = allowedHosts.map((name) => name.toLowerCase());
  const origins = [
    ...own.map((authority) => `http://${authority}`),
    // Who allows a name may have put a TLS server in front of it.
    ...allowed.flatMap((authority) => [`http://${authority}`, `https://${authority}`]),
  ];
  return { hosts: new Set([...own, ...allowed]), origins: new Set(origins) };
}

/** Clients leave the port out when it is the one of the scheme. */
function spellings(address: string, port: number): readonly string[] {
  const authority = authorityOf(address, port);
  return port === 80 ? [authority, authority.slice(0, -":80".length)] : [authority];
}

/** Listening everywhere is not a name: nobody may call us 0.0.0.0. */
function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

import { loopbackHosts } from "../config/index.ts";

/** How an address is written in a URL and in a Host header: IPv6 in brackets. */
export function authorityOf(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * Exact names only. A web page that points its own name at 127.0.0.1 (DNS rebinding) reaches this socket, but
 * its browser sends that name in the Host header; comparing exactly is what keeps such pages out.
 */
export function isKnownHost(header: string, port: number): boolean {
  return loopbackHosts.some((host) => header.toLowerCase() === authorityOf(host, port));
}

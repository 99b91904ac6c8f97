import { type LookupAddress, type LookupOptions, lookup } from "node:dns";
import { Agent, type ClientRequest, request as httpRequest } from "node:http";
import { request as httpsRequest, Agent as TlsAgent } from "node:https";
import type { Socket } from "node:net";
import { assert, must } from "../base/index.ts";
import { isLinkLocal } from "../config/index.ts";
import type { RelayLimits, Upstreams } from "./options.ts";

/** A model API to relay to, with its open connections. */
export type Upstream = {
  readonly name: string;
  /** For messages and the Host header; includes the port unless it is the default. */
  readonly host: string;
  readonly isSecure: boolean;
  /** The path of its address, which is put in front of every target; without a trailing slash. */
  readonly prefix: string;
  readonly connectMs: number;
  readonly open: (call: UpstreamCall) => ClientRequest;
  /** Drops idle connections, because one of them turned out to be stale. */
  readonly forgetIdle: () => void;
  readonly close: () => void;
};

export type UpstreamCall = {
  readonly method: string;
  readonly rest: string;
  readonly headers: readonly string[];
};

export function openUpstreams(upstreams: Upstreams, limits: RelayLimits): ReadonlyMap<string, Upstream> {
  const { anthropic, openai, gemini, bedrock, named } = upstreams;
  const urls = new Map<string, URL>([...named, ...Object.entries({ anthropic, openai, gemini, bedrock })]);
  return new Map([...urls].map(([name, url]) => [name, openUpstream({ name, url, limits })]));
}

type UpstreamOptions = { readonly name: string; readonly url: URL; readonly limits: RelayLimits };

export function openUpstream({ name, url, limits }: UpstreamOptions): Upstream {
  assert(!isLinkLocal(url.hostname), "an upstream is never a link-local address");
  const isSecure = url.protocol === "https:";
  const agent = isSecure ? new TlsAgent(agentOptions) : new Agent(agentOptions);
  checkLookups(agent);
  const watch = watchIdle(agent);
  const open = isSecure ? httpsRequest : httpRequest;
  const prefix = url.pathname.replace(/\/+$/, "");
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port);
  const maxHeaderSize = limits.headerBytes;
  return {
    name,
    host: url.host,
    isSecure,
    prefix,
    connectMs: limits.connectMs,
    open: ({ method, rest, headers }) =>
      open({ host, port, agent, method, path: prefix + rest, headers, maxHeaderSize }),
    forgetIdle: () => forgetIdle(agent),
    close: () => {
      clearInterval(watch);
      agent.destroy();
    },
  };
}

/**
 * Node's other defaults are right: no limit, the most recently used connection first, no delay. There are few
 * options, because Node copies them for each request, and no timeout, because Node would reset it for each.
 */
const agentOptions = { keepAlive: true } as const;

/** Node allows 250 ms per address of a name, and a distant upstream may need all of that to connect. */
const connectOptions = { lookup: checkedLookup, autoSelectFamilyAttemptTimeout: 2_000 } as const;

function checkLookups(agent: Agent): void {
  const create = agent.createConnection.bind(agent);
  agent.createConnection = (options, onConnect) => create({ ...options, ...connectOptions }, onConnect);
}

function forgetIdle(agent: Agent): void {
  for (const socket of idleSockets(agent)) socket.destroy();
}

function idleSockets(agent: Agent): readonly Socket[] {
  return Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []);
}

/** Idle connections are closed before the upstream or a router drops them. */
const idleCheckMs = 30_000;

/** Closes connections that were idle at the last check and have written nothing since. */
function watchIdle(agent: Agent): NodeJS.Timeout {
  let before = new Map<Socket, number>();
  const check = (): void => {
    const idle = idleSockets(agent);
    for (const socket of idle) if (before.get(socket) === socket.bytesWritten) socket.destroy();
    before = new Map(idle.map((socket) => [socket, socket.bytesWritten]));
  };
  return setInterval(check, idleCheckMs).unref();
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/**
 * Resolves a name without its link-local addresses. A name from the settings may later resolve to the address
 * where a cloud machine serves its credentials; that is never an upstream.
 */
export function checkedLookup(name: string, options: LookupOptions, onResult: LookupCallback): void {
  lookup(name, { ...options, all: true }, (error, addresses) => {
    if (error !== null) {
      onResult(error, []);
      return;
    }
    const usable = addresses.filter(({ address }) => !isLinkLocal(address));
    if (usable.length === 0) {
      onResult(Object.assign(new Error("no usable address"), { code: "ELINKLOCAL" }), []);
      return;
    }
    if (options.all === true) onResult(null, usable);
    else {
      const first = must(usable[0], "there is a usable address");
      onResult(null, first.address, first.family);
    }
  });
}

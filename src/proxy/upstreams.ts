import { type LookupAddress, type LookupOptions, lookup } from "node:dns";
import { Agent, type ClientRequest, request as httpRequest } from "node:http";
import { request as httpsRequest, Agent as TlsAgent } from "node:https";
import type { Socket } from "node:net";
import { assert, must } from "../base/index.ts";
import { isLinkLocal } from "../config/index.ts";
import type { RelayLimits, Upstreams } from "./options.ts";

/** One place to relay to, with the connections kept open to it. */
export type Upstream = {
  readonly name: string;
  /** For messages and for the Host header: the port only where it is not the usual one. */
  readonly host: string;
  readonly secure: boolean;
  /** The path of its address, which goes in front of every target; without a slash at its end. */
  readonly prefix: string;
  readonly connectMs: number;
  readonly open: (call: Call) => ClientRequest;
  /** Drops connections nobody uses, because one of them turned out to be dead. */
  readonly forgetIdle: () => void;
  readonly close: () => void;
};

export type Call = { readonly method: string; readonly rest: string; readonly headers: readonly string[] };

export function openUpstreams(upstreams: Upstreams, limits: RelayLimits): ReadonlyMap<string, Upstream> {
  const { anthropic, openai, gemini, bedrock, named } = upstreams;
  const urls = new Map<string, URL>([...named, ...Object.entries({ anthropic, openai, gemini, bedrock })]);
  return new Map([...urls].map(([name, url]) => [name, openUpstream({ name, url, limits })]));
}

type Opening = { readonly name: string; readonly url: URL; readonly limits: RelayLimits };

export function openUpstream({ name, url, limits }: Opening): Upstream {
  assert(!isLinkLocal(url.hostname), "an upstream is never a link-local address");
  const secure = url.protocol === "https:";
  const agent = secure ? new TlsAgent(keeping) : new Agent(keeping);
  carefully(agent);
  const watch = watchIdle(agent);
  const open = secure ? httpsRequest : httpRequest;
  const prefix = url.pathname.replace(/\/+$/, "");
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port);
  const maxHeaderSize = limits.headerBytes;
  return {
    name,
    host: url.host,
    secure,
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
 * Node's other defaults are what we want: no limit, the connection used last first, no delay. Few options,
 * because node copies them for each request, and no time-out, because it would be set and reset for each.
 */
const keeping = { keepAlive: true } as const;

/** Node gives each address of a name a quarter of a second, which a distant upstream needs for itself. */
const connecting = { lookup: checkedLookup, autoSelectFamilyAttemptTimeout: 2_000 } as const;

function carefully(agent: Agent): void {
  const create = agent.createConnection.bind(agent);
  agent.createConnection = (options, made) => create({ ...options, ...connecting }, made);
}

function forgetIdle(agent: Agent): void {
  for (const socket of idleSockets(agent)) socket.destroy();
}

function idleSockets(agent: Agent): readonly Socket[] {
  return Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []);
}

/** Unused connections are given up before the upstream, or a router in between, forgets them. */
const idleCheckMs = 30_000;

/** Closes what was unused at the last look and did nothing since: it has been idle for one look to two. */
function watchIdle(agent: Agent): NodeJS.Timeout {
  let before = new Map<Socket, number>();
  const look = (): void => {
    const idle = idleSockets(agent);
    for (const socket of idle) if (before.get(socket) === socket.bytesWritten) socket.destroy();
    before = new Map(idle.map((socket) => [socket, socket.bytesWritten]));
  };
  return setInterval(look, idleCheckMs).unref();
}

type Found = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/**
 * A name that was accepted in the settings may later resolve to the address where a cloud machine hands out
 * its credentials. Such addresses are never an upstream, whoever says so.
 */
export function checkedLookup(name: string, options: LookupOptions, found: Found): void {
  lookup(name, { ...options, all: true }, (error, addresses) => {
    if (error !== null) {
      found(error, []);
      return;
    }
    const usable = addresses.filter(({ address }) => !isLinkLocal(address));
    if (usable.length === 0) {
      found(Object.assign(new Error("no usable address"), { code: "ELINKLOCAL" }), []);
      return;
    }
    if (options.all === true) found(null, usable);
    else {
      const first = must(usable[0], "there is a usable address");
      found(null, first.address, first.family);
    }
  });
}

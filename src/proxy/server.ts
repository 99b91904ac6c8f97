import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { apertureError, must } from "../base/index.ts";
import { answerBrokenRequest } from "./broken-request.ts";
import { credentialHasher } from "./credentials.ts";
import { isDemoPath, openDemo, toDemo } from "./demo.ts";
import { drain, trackSockets } from "./drain.ts";
import type { RelayContext } from "./exchange.ts";
import { ownHeaders, type Refusal, sendRefusal, shapeOf } from "./failures.ts";
import { modelRefusal, refusalOf } from "./guard.ts";
import { type Head, readHead } from "./headers.ts";
import { authorityOf, type Names, namesOf } from "./hosts.ts";
import { misplacedKey } from "./key-owners.ts";
import { createMeter } from "./metrics.ts";
import { type ProxyOptions, type RelayLimits, type RunningProxy, relayLimits } from "./options.ts";
import { relay, sweep, sweepsPerIdle } from "./relay.ts";
import { settle } from "./report.ts";
import { createRouter, pathOf, type Route, type Router } from "./routes.ts";
import { openUpstreams, type Upstream } from "./upstreams.ts";

type Running = {
  readonly options: ProxyOptions;
  readonly context: RelayContext;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly route: Router;
  readonly names: Names;
  /** Answers of ours that are not complete yet. */
  readonly answering: Set<ServerResponse>;
  /** Connections that sent what nobody should: whatever else is on its way there is not looked at. */
  readonly ended: WeakSet<Socket>;
};

/** Rejects with the error of `listen`, for instance EADDRINUSE. */
export async function startProxy(options: ProxyOptions): Promise<RunningProxy> {
  const limits: RelayLimits = { ...relayLimits, ...options.limits };
  const server = createServer(serverOptions(limits));
  await listen(server, options);
  const { port } = server.address() as AddressInfo; // a server that listens on a port has one
  const demo = await openDemo(limits);
  const running = run(options, { limits, port, demo: demo.upstream });
  attach(server, running);
  const timer = setInterval(() => sweep(running.context), Math.max(5, limits.idleMs / sweepsPerIdle));
  timer.unref();
  const sockets = trackSockets(server);
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    running.context.draining = true;
    await drain({ server, sockets, drainMs: limits.drainMs });
    clearInterval(timer);
    settle(running.context);
    for (const upstream of running.upstreams.values()) upstream.close();
    await demo.close();
  };
  return {
    url: `http://${authorityOf(options.host, port)}`,
    port,
    metrics: running.context.meter.read,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** Longer than clients keep a connection themselves, so that it is never us who closes one in use. */
const keepAliveMs = 305_000;

function serverOptions(limits: RelayLimits) {
  return {
    insecureHTTPParser: false,
    maxHeaderSize: limits.headerBytes,
    noDelay: true,
    keepAliveTimeout: keepAliveMs,
    headersTimeout: limits.headersMs,
    // A request lasts as long as its client and its upstream want; only silence ends it.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.min(10_000, Math.max(50, limits.headersMs / 4)),
  } as const;
}

type Opened = { readonly limits: RelayLimits; readonly port: number; readonly demo: Upstream };

function run(options: ProxyOptions, { limits, port, demo }: Opened): Running {
  const { recorder, desk, credentialKey, host, allowedHosts } = options;
  const meter = createMeter();
  const hasher = credentialHasher(credentialKey);
  return {
    options,
    context: {
      recorder,
      desk,
      demo,
      hasher,
      limits,
      meter,
      active: new Set(),
      concluded: [],
      draining: false,
    },
    upstreams: openUpstreams(options.upstreams, limits),
    route: createRouter(new Set(options.upstreams.named.keys())),
    names: namesOf({ host, port, allowedHosts }),
    answering: new Set(),
    ended: new WeakSet(),
  };
}

type Visit = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly head: Head;
  readonly id: string;
  /** The client waits for a word before it sends its body. */
  readonly waits: boolean;
};

function attach(server: Server, running: Running): void {
  const visit = (waits: boolean) => (request: IncomingMessage, response: ServerResponse) => {
    if (running.ended.has(request.socket)) return;
    const id = randomUUID();
    const visited = { request, response, head: readHead(request.rawHeaders), id, waits };
    try {
      handle(running, visited);
    } catch {
      breakOff(visited);
    }
  };
  server.on("request", visit(false));
  server.on("checkContinue", visit(true));
  server.on("clientError", (error, socket) => {
    answerBrokenRequest({ error, socket, busy: isBusy(running, socket) });
  });
}

function isBusy({ context, answering, ended }: Running, socket: Duplex): boolean {
  for (const { arrival } of context.active) if (arrival.request.socket === socket) return true;
  for (const response of answering) if (response.req.socket === socket) return true;
  return socket instanceof Socket && ended.has(socket);
}

/** A mistake of ours ends one request, never the process. */
function breakOff({ request, response, id }: Visit): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const refusal = { status: 500, error: apertureError("AP_CONTROL_FAULT") };
  sendRefusal({ request, response, refusal, id, shape: "openai" });
}

function handle(running: Running, visit: Visit): void {
  const { request, response, head } = visit;
  const method = request.method ?? "GET";
  const target = request.url ?? "";
  const refusal = refusalOf({ method, httpVersion: request.httpVersion, head }, running.names);
  if (refusal !== null) {
    running.ended.add(request.socket);
    refuse(running, visit, { refusal, route: null, ends: true });
    return;
  }
  if (running.options.ownPaths(pathOf(target))) {
    serveOwn(running, visit);
    return;
  }
  const found = running.route({ method, target, head });
  if (!found.ok) {
    const status = found.error.code === "AP_TARGET_INVALID" ? 400 : 404;
    refuse(running, visit, { refusal: { status, error: found.error }, route: null, ends: status === 400 });
    return;
  }
  const { route, upstream } = placeOf(running, found.value);
  const unfit = modelRefusal({
    head,
    recorded: route.protocol !== null,
    relayToken: running.options.relayToken,
  });
  const refused = unfit ?? misplacedKey(head, upstream.host);
  if (refused !== null) {
    refuse(running, visit, { refusal: refused, route, ends: refused.status === 426 });
    return;
  }
  if (visit.waits) response.writeContinue();
  relay(running.context, { id: visit.id, route, upstream, head, request, response });
}

type Place = { readonly route: Route; readonly upstream: Upstream };

function placeOf({ upstreams, context }: Running, route: Route): Place {
  if (isDemoPath(route)) return { route: toDemo(route), upstream: context.demo };
  return { route, upstream: must(upstreams.get(route.upstream), "a route names an upstream that exists") };
}

type Refused = { readonly refusal: Refusal; readonly route: Route | null; readonly ends: boolean };

function refuse({ context }: Running, { request, response, id }: Visit, refused: Refused): void {
  const { refusal, route, ends } = refused;
  context.meter.add("refused", 1);
  if (context.draining) response.shouldKeepAlive = false;
  const shape = route === null ? "openai" : shapeOf(route);
  sendRefusal({ request, response, refusal, id, shape, ends });
}

function serveOwn({ options, context, answering }: Running, { request, response, waits }: Visit): void {
  if (context.draining) response.shouldKeepAlive = false;
  for (const [name, value] of Object.entries(ownHeaders)) response.setHeader(name, value);
  answering.add(response);
  response.once("close", () => answering.delete(response));
  if (waits) response.writeContinue();
  options.own(request, response);
}

function listen(server: Server, { host, port }: ProxyOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

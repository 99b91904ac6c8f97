import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { must } from "../base/index.ts";
import { credentialHasher } from "./credentials.ts";
import { demoRoute, isDemoPath, openDemo } from "./demo.ts";
import { drain, trackSockets } from "./drain.ts";
import {
  answerBrokenRequest,
  errorShapeOf,
  faultRefusal,
  ownHeaders,
  type Refusal,
  sendRefusal,
} from "./failures.ts";
import { generalRefusal, misplacedKey, modelRefusal } from "./guard.ts";
import { type Head, readHead } from "./headers.ts";
import { authorityOf, type ServerNames, serverNamesOf } from "./hosts.ts";
import { createMeter } from "./metrics.ts";
import { type ProxyOptions, type RelayLimits, type RunningProxy, relayLimits } from "./options.ts";
import { relay, sweepIdle, sweepsPerIdle } from "./relay.ts";
import type { RelayContext } from "./relayed-exchange.ts";
import { reportConcluded } from "./report-exchange.ts";
import { createRouter, type Route, type Router, requestPath } from "./routes.ts";
import { openUpstreams, type Upstream } from "./upstreams.ts";

type ServerState = {
  readonly options: ProxyOptions;
  readonly context: RelayContext;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly route: Router;
  readonly names: ServerNames;
  /** Answers of ours that are not complete yet. */
  readonly openAnswers: Set<ServerResponse>;
  /** Connections whose request was refused by the guard: further requests on them are ignored. */
  readonly refusedSockets: WeakSet<Socket>;
};

/** Rejects with the error of `listen`, for instance EADDRINUSE. */
export async function startProxy(options: ProxyOptions): Promise<RunningProxy> {
  const limits: RelayLimits = { ...relayLimits, ...options.limits };
  const server = createServer(serverOptions(limits));
  await listen(server, options);
  const { port } = server.address() as AddressInfo; // a server that listens on a port has one
  const demo = await openDemo(limits);
  const state = createState(options, { limits, port, demo: demo.upstream });
  attach(server, state);
  const timer = setInterval(() => sweepIdle(state.context), Math.max(5, limits.idleMs / sweepsPerIdle));
  timer.unref();
  const sockets = trackSockets(server);
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    state.context.isDraining = true;
    await drain({ server, sockets, drainMs: limits.drainMs });
    clearInterval(timer);
    reportConcluded(state.context);
    for (const upstream of state.upstreams.values()) upstream.close();
    await demo.close();
  };
  return {
    url: `http://${authorityOf(options.host, port)}`,
    port,
    metrics: state.context.meter.read,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** Longer than clients keep a connection alive, so that we never close one that is about to be used. */
const keepAliveMs = 305_000;

function serverOptions(limits: RelayLimits) {
  return {
    insecureHTTPParser: false,
    maxHeaderSize: limits.headerBytes,
    noDelay: true,
    keepAliveTimeout: keepAliveMs,
    headersTimeout: limits.headersMs,
    // A request may last as long as its client and upstream want; only silence ends it.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.min(10_000, Math.max(50, limits.headersMs / 4)),
  } as const;
}

type ServerParts = { readonly limits: RelayLimits; readonly port: number; readonly demo: Upstream };

function createState(options: ProxyOptions, { limits, port, demo }: ServerParts): ServerState {
  const { recorder, planner, credentialKey, host, allowedHosts } = options;
  const meter = createMeter();
  const hasher = credentialHasher(credentialKey);
  return {
    options,
    context: {
      recorder,
      planner,
      demo,
      hasher,
      limits,
      meter,
      activeExchanges: new Set(),
      unreported: [],
      isDraining: false,
    },
    upstreams: openUpstreams(options.upstreams, limits),
    route: createRouter(new Set(options.upstreams.named.keys())),
    names: serverNamesOf({ host, port, allowedHosts }),
    openAnswers: new Set(),
    refusedSockets: new WeakSet(),
  };
}

type ServerRequest = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly head: Head;
  readonly id: string;
  /** The client waits for `100 Continue` before it sends its body. */
  readonly expectsContinue: boolean;
};

function attach(server: Server, state: ServerState): void {
  const handler = (expectsContinue: boolean) => (request: IncomingMessage, response: ServerResponse) => {
    if (state.refusedSockets.has(request.socket)) return;
    const id = randomUUID();
    const serverRequest = { request, response, head: readHead(request.rawHeaders), id, expectsContinue };
    try {
      handle(state, serverRequest);
    } catch {
      answerWithFault(serverRequest);
    }
  };
  server.on("request", handler(false));
  server.on("checkContinue", handler(true));
  server.on("clientError", (error, socket) => {
    answerBrokenRequest({ error, socket, isBusy: isBusy(state, socket) });
  });
}

function isBusy({ context, openAnswers, refusedSockets }: ServerState, socket: Duplex): boolean {
  for (const { arrival } of context.activeExchanges) if (arrival.request.socket === socket) return true;
  for (const response of openAnswers) if (response.req.socket === socket) return true;
  return socket instanceof Socket && refusedSockets.has(socket);
}

/** A bug of ours ends one request, never the process. */
function answerWithFault({ request, response, id }: ServerRequest): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  sendRefusal({ request, response, refusal: faultRefusal, id, shape: "openai", isDraining: false });
}

function handle(state: ServerState, serverRequest: ServerRequest): void {
  const { request, response, head } = serverRequest;
  const method = request.method ?? "GET";
  const target = request.url ?? "";
  const refusal = generalRefusal({ method, httpVersion: request.httpVersion, head }, state.names);
  if (refusal !== null) {
    state.refusedSockets.add(request.socket);
    refuse(state, serverRequest, { refusal, route: null, endsConnection: true });
    return;
  }
  if (state.options.isOwnPath(requestPath(target))) {
    serveOwn(state, serverRequest);
    return;
  }
  const routed = state.route({ method, target, head });
  if (!routed.ok) {
    const status = routed.error.code === "AP_TARGET_INVALID" ? 400 : 404;
    refuse(state, serverRequest, {
      refusal: { status, error: routed.error },
      route: null,
      endsConnection: status === 400,
    });
    return;
  }
  const { route, upstream } = upstreamFor(state, routed.value);
  const guardRefusal = modelRefusal({
    head,
    isRecorded: route.protocol !== null,
    relayToken: state.options.relayToken,
  });
  const refused = guardRefusal ?? misplacedKey(head, upstream.host);
  if (refused !== null) {
    refuse(state, serverRequest, { refusal: refused, route, endsConnection: refused.status === 426 });
    return;
  }
  if (serverRequest.expectsContinue) response.writeContinue();
  relay(state.context, { id: serverRequest.id, route, upstream, head, request, response });
}

type RoutedUpstream = { readonly route: Route; readonly upstream: Upstream };

function upstreamFor({ upstreams, context }: ServerState, route: Route): RoutedUpstream {
  if (isDemoPath(route)) return { route: demoRoute(route), upstream: context.demo };
  return { route, upstream: must(upstreams.get(route.upstream), "a route names an upstream that exists") };
}

type RefusalOfRequest = {
  readonly refusal: Refusal;
  readonly route: Route | null;
  readonly endsConnection: boolean;
};

function refuse(
  { context }: ServerState,
  { request, response, id }: ServerRequest,
  refused: RefusalOfRequest,
): void {
  const { refusal, route, endsConnection } = refused;
  context.meter.add("refused", 1);
  const shape = route === null ? "openai" : errorShapeOf(route);
  const { isDraining } = context;
  sendRefusal({ request, response, refusal, id, shape, endsConnection, isDraining });
}

function serveOwn(
  { options, context, openAnswers }: ServerState,
  { request, response, expectsContinue }: ServerRequest,
): void {
  if (context.isDraining) response.shouldKeepAlive = false;
  for (const [name, value] of Object.entries(ownHeaders)) response.setHeader(name, value);
  openAnswers.add(response);
  response.once("close", () => openAnswers.delete(response));
  if (expectsContinue) response.writeContinue();
  options.handleOwn(request, response);
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

import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { PlannedRequest } from "../exchange/index.ts";
import { RefusalError, slowConnectRefusal } from "./failures.ts";
import { framingOf, reframeHeaders, trailerPairs, upstreamHeaders } from "./headers.ts";
import type { OpenRequest, RelayedExchange } from "./relayed-exchange.ts";

/** Receives the events of a request to the upstream. */
export type UpstreamListener = {
  readonly onAnswer: (incoming: IncomingMessage) => void;
  /** The upstream answered with another protocol, which no client of ours can have asked for. */
  readonly onUpgrade: () => void;
  readonly onError: (error: Error) => void;
};

/**
 * Opens a request to the upstream and writes the planned body, or the client's as far as it came. Throws on
 * invalid HTTP.
 */
export function openRequest(
  relayed: RelayedExchange,
  planned: PlannedRequest | null,
  listener: UpstreamListener,
): void {
  const { request, route, upstream } = relayed.arrival;
  const outgoing = upstream.open({
    method: request.method ?? "GET",
    rest: route.rest,
    headers: headersFor(relayed, planned),
  });
  const sent: OpenRequest = { outgoing, bytesRead: 0, sentAt: 0 };
  relayed.sent = sent;
  // A request that was replaced by another has nothing to say any more.
  const ifCurrent =
    <Args extends readonly unknown[]>(on: (...args: Args) => void) =>
    (...args: Args): void => {
      if (relayed.sent === sent) on(...args);
    };
  outgoing.once("socket", (socket) => watchConnect(relayed, sent, socket));
  outgoing.on("drain", () => request.resume());
  outgoing.once("response", ifCurrent(listener.onAnswer));
  outgoing.once(
    "upgrade",
    ifCurrent((_incoming, socket) => {
      socket.destroy();
      listener.onUpgrade();
    }),
  );
  outgoing.on("error", ifCurrent(listener.onError));
  for (const piece of planned?.pieces ?? relayed.clientBody.chunks ?? []) outgoing.write(piece);
}

/** Ends the request, with the trailers of the client's. */
export function endRequest({ sent, arrival: { request } }: RelayedExchange): void {
  if (request.rawTrailers.length > 0) sent?.outgoing.addTrailers(trailerPairs(request.rawTrailers));
  sent?.outgoing.end();
}

function headersFor({ arrival }: RelayedExchange, planned: PlannedRequest | null): string[] {
  const { head, request, upstream } = arrival;
  const headers = upstreamHeaders(head, upstream.host);
  if (framingOf(head) === "none") return withEmptyBody(headers, request.method);
  if (planned === null) return headers;
  const { rendering, length, betas, isOwnTool, commandNonce } = planned;
  return reframeHeaders(headers, {
    isReplaced: rendering !== "raw",
    length,
    betas,
    mustBePlain: isOwnTool !== null || commandNonce !== null,
  });
}

/**
 * A request without a length has no body. Node would send it chunked if its method usually has one, so the
 * length 0 is given explicitly.
 */
function withEmptyBody(headers: string[], method: string | undefined): string[] {
  const usuallyHasBody = method === "POST" || method === "PUT" || method === "PATCH";
  return usuallyHasBody ? [...headers, "Content-Length", "0"] : headers;
}

/** Notes the facts by which a stale connection is recognised, and limits the time to connect. */
function watchConnect({ arrival }: RelayedExchange, sent: OpenRequest, socket: Socket): void {
  const { outgoing } = sent;
  sent.bytesRead = socket.bytesRead;
  sent.sentAt = performance.now();
  if (outgoing.reusedSocket) return;
  const { upstream } = arrival;
  const timer = setTimeout(
    () => outgoing.destroy(new RefusalError(slowConnectRefusal(upstream))),
    upstream.connectMs,
  );
  const done = (): void => clearTimeout(timer);
  socket.once(upstream.isSecure ? "secureConnect" : "connect", done);
  socket.once("close", done);
}

/** A stale connection fails at once; an upstream that hangs up later may have started to work. */
const staleMaxMs = 1_000;

/**
 * An upstream may close an idle connection in the very moment it is reused. It has not read the request then,
 * and the client does not know of our connections, so we send the request again.
 */
export function isStaleConnection({ sent, report, clientBody }: RelayedExchange, error: Error): boolean {
  if (sent === null || !sent.outgoing.reusedSocket) return false;
  const code = "code" in error ? error.code : null;
  const { socket } = sent.outgoing;
  const isUntouched = socket === null || socket.bytesRead === sent.bytesRead;
  const hasBody = (report.planned?.pieces ?? clientBody.chunks) !== null;
  const isReset = code === "ECONNRESET" || code === "EPIPE";
  return isReset && isUntouched && hasBody && performance.now() - sent.sentAt <= staleMaxMs;
}

/** Ends a request that cannot be written. None of its bytes has left: it first waits for a connection. */
export function discardRequest(relayed: RelayedExchange): void {
  const outgoing: ClientRequest | undefined = relayed.sent?.outgoing;
  relayed.sent = null;
  outgoing?.on("error", () => undefined);
  outgoing?.destroy();
}

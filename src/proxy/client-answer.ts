import type { IncomingMessage } from "node:http";
import type { OwnLineFilter, PlannedRequest } from "../exchange/index.ts";
import { findProtocol, type Interceptor } from "../protocols/index.ts";
import { appendToCopy } from "./body-copy.ts";
import { mayHide, type UpstreamAttempt, type UpstreamHead } from "./exchange-phases.ts";
import { clientHeaders, framingOf, headerOf, headersOf, readHead, trailerPairs } from "./headers.ts";
import type { RelayContext, RelayedExchange, UpstreamAnswer } from "./relayed-exchange.ts";

export function upstreamHeadOf({ statusCode = 502, rawHeaders }: IncomingMessage): UpstreamHead {
  const head = readHead(rawHeaders);
  const contentType = headerOf(head, "content-type") ?? "";
  const isEncoded = headersOf(head, "content-encoding").some((coding) => coding.toLowerCase() !== "identity");
  const form = contentType.includes("text/event-stream")
    ? "events"
    : contentType.includes("json")
      ? "message"
      : "other";
  return { status: statusCode, form: isEncoded ? "other" : form, isEncoded };
}

/**
 * Begins the client's answer with an answer of the upstream, or continues it with the answer to a round. The
 * head is written at once, unless the whole answer is needed before it can be delivered. Throws if the head
 * cannot be written as HTTP.
 */
export function beginAnswer(
  relayed: RelayedExchange,
  answer: UpstreamAnswer,
  { attempt, head }: { readonly attempt: UpstreamAttempt; readonly head: UpstreamHead },
): void {
  const isContinued = attempt.round !== null && head.status === 200;
  if (isContinued) relayed.interceptor?.beginRound();
  else {
    relayed.mayHide = mayHide(attempt, head);
    relayed.interceptor = head.isEncoded ? null : interceptorFor(relayed, answer, attempt.planned);
  }
  relayed.isIntercepted = true;
  const isHeld = relayed.mayHide && head.form === "message";
  if (!isContinued && !isHeld) writeHead(relayed, answer);
  relayed.answer = answer;
}

/**
 * Reads an answer if the planner needs it or something must be taken out of it. A compressed answer passes:
 * unpacking it would hold back bytes that the upstream has flushed.
 */
function interceptorFor(
  { context, arrival, mayHide: hides }: RelayedExchange,
  { head }: UpstreamAnswer,
  planned: PlannedRequest | null,
): Interceptor | null {
  const { protocol: name } = arrival.route;
  const protocol = name === null ? null : findProtocol(name);
  if (planned === null || protocol === null) return null;
  const { ownLineFilter, isOwnTool, commandNonce, needsAnswer } = planned;
  if (ownLineFilter === null && !hides && !needsAnswer) return null;
  return protocol.answer.intercept(headerOf(head, "content-type") ?? "", {
    ownLines: ownLineFilter === null ? null : guardedFilter(context, ownLineFilter),
    isOwnTool: hides ? isOwnTool : null,
    commandNonce: hides ? commandNonce : null,
    bytesMax: context.limits.keptBytesMax,
  });
}

/** A fault of the planner's filter must not cost the client its answer. */
function guardedFilter({ meter }: RelayContext, { isOwn, opens, continues }: OwnLineFilter): OwnLineFilter {
  const guarded = (isMatch: (line: string) => boolean) => (line: string) => {
    try {
      return isMatch(line);
    } catch {
      meter.add("plannerFaults", 1);
      return false;
    }
  };
  return { isOwn: guarded(isOwn), opens: guarded(opens), continues: guarded(continues) };
}

function writeHead({ arrival, context, mayHide: hides }: RelayedExchange, answer: UpstreamAnswer): void {
  const { request, response, id } = arrival;
  const { incoming, head } = answer;
  const status = incoming.statusCode ?? 502;
  const isBodyless = request.method === "HEAD" || status === 204 || status === 304;
  const mayChunk = request.httpVersion === "1.1" && !isBodyless;
  const isChunked = mayChunk && framingOf(head) === "chunked";
  // The upstream's Date header is passed on; Node would add a second one.
  response.sendDate = false;
  if (context.isDraining) response.shouldKeepAlive = false;
  const headers = clientHeaders(head, { id, isChunked, hasLength: !hides });
  response.writeHead(status, incoming.statusMessage ?? "", headers);
}

/** Passes a chunk of the answer on to the client. False if the client is too slow to take more. */
export function deliver(relayed: RelayedExchange, chunk: Buffer): boolean {
  const { interceptor, arrival } = relayed;
  const mayContinue =
    interceptor === null ? arrival.response.write(chunk) : writeToClient(relayed, interceptor.push(chunk));
  appendToCopy(relayed.answerBody, chunk);
  return mayContinue;
}

/** Delivers a line that was not decided yet: the answer of the upstream is over. */
export function endRound(relayed: RelayedExchange): void {
  writeToClient(relayed, relayed.interceptor?.endRound() ?? []);
}

/** Sends the head alone if no body has arrived yet; otherwise both were sent together. */
export function flushLoneHead({
  arrival: { response },
  answerBody,
  interceptor,
  deliveredBytes,
}: RelayedExchange) {
  const isHeld = interceptor !== null && deliveredBytes === 0;
  const isAlone = (answerBody.length === 0 || isHeld) && response.headersSent;
  if (isAlone && !response.writableEnded) response.flushHeaders();
}

/**
 * Writes the end of the client's answer. If the client was sent a Content-Length, newlines replace the bytes
 * that were taken out: they mean nothing after a JSON value or after events.
 */
export function endAnswer(relayed: RelayedExchange, answer: UpstreamAnswer | null): void {
  if (answer === null) throw new Error("an answer that ends has begun");
  const { arrival, interceptor, answerBody } = relayed;
  const { response } = arrival;
  const { incoming, head } = answer;
  if (!response.headersSent) writeHead(relayed, answer);
  writeToClient(relayed, interceptor?.end() ?? []);
  if (interceptor !== null && !relayed.mayHide && framingOf(head) === "length")
    writeToClient(relayed, [Buffer.alloc(answerBody.length - relayed.deliveredBytes, "\n")]);
  if (incoming.rawTrailers.length > 0) response.addTrailers(trailerPairs(incoming.rawTrailers));
  response.end();
}

/**
 * The upstream's answer broke off. The client gets the bytes that arrived, then the connection is cut: a
 * regular end would look like a complete answer.
 */
export function cutAnswer(relayed: RelayedExchange): void {
  const { request, response } = relayed.arrival;
  deliverUnread(relayed);
  writeToClient(relayed, relayed.interceptor?.end() ?? []);
  const { socket } = response;
  if (socket === null) response.destroy();
  else if (request.httpVersion === "1.1" || isDelimited(relayed)) socket.destroySoon();
  // If only the end of the connection delimits the body, a regular close would look complete, so it is reset.
  else socket.write("", () => socket.resetAndDestroy());
}

/** Delivers bytes that arrived while the client was too slow to read them. */
function deliverUnread(relayed: RelayedExchange): void {
  const incoming = relayed.answer?.incoming;
  if (incoming === undefined) return;
  for (let chunk = incoming.read(); chunk instanceof Buffer; chunk = incoming.read()) deliver(relayed, chunk);
}

/** The client was sent a Content-Length. */
function isDelimited({ answer, mayHide: hides }: RelayedExchange): boolean {
  return !hides && answer !== null && framingOf(answer.head) === "length";
}

function writeToClient(relayed: RelayedExchange, pieces: readonly Uint8Array[]): boolean {
  let mayContinue = true;
  for (const piece of pieces) {
    if (piece.length === 0) continue;
    relayed.deliveredBytes += piece.length;
    mayContinue = relayed.arrival.response.write(piece);
  }
  return mayContinue;
}

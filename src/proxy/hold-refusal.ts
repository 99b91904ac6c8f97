import type { IncomingMessage } from "node:http";
import { decodeBody, type PlannedRequest, type ResponseSummary } from "../exchange/index.ts";
import { headerOf, readHead } from "./headers.ts";
import type { RelayedExchange } from "./relayed-exchange.ts";

/** A larger refusal is passed on to the client as it comes. */
const heldBytesMax = 64 * 1024;

export type HeldRefusal = {
  /** The part of the refusal that has arrived. */
  readonly chunks: readonly Buffer[];
  /** The planner's second attempt. Null if the refusal is passed on. */
  readonly retry: PlannedRequest | null;
};

/** The upstream refused a plan, and the planner may have another one. */
export function mayBeRetried(
  { planned, refusedAttempt }: RelayedExchange,
  incoming: IncomingMessage,
): boolean {
  return incoming.statusCode === 400 && planned !== null && planned.mayRetry && refusedAttempt === null;
}

/** Holds a refusal back from the client until it is whole and the planner has seen it. */
export function holdRefusal(
  exchange: RelayedExchange,
  incoming: IncomingMessage,
  onDecision: (held: HeldRefusal) => void,
): void {
  const chunks: Buffer[] = [];
  let length = 0;
  const end = (isWhole: boolean): void => {
    if (exchange.releaseRefusal !== release) return;
    exchange.releaseRefusal = null;
    clearTimeout(timer);
    incoming.off("data", keep);
    if (exchange.outcome !== null) return;
    onDecision({ chunks, retry: isWhole ? planRetryFor(exchange, incoming, chunks) : null });
  };
  const release = (): void => end(false);
  const keep = (chunk: Buffer): void => {
    exchange.quietSweeps = 0;
    chunks.push(chunk);
    length += chunk.length;
    if (length > heldBytesMax) release();
  };
  const timer = setTimeout(release, exchange.context.limits.holdMs);
  exchange.releaseRefusal = release;
  incoming.on("data", keep);
  // `close` follows the error of an answer that breaks off, and is handled below.
  incoming.on("error", () => undefined);
  // After `close` the connection is free again, and the second attempt may use it.
  incoming.once("close", () => end(incoming.complete));
}

function planRetryFor(
  exchange: RelayedExchange,
  incoming: IncomingMessage,
  chunks: readonly Buffer[],
): PlannedRequest | null {
  const { planner, meter } = exchange.context;
  const { planned } = exchange;
  const isRequestFlushed = exchange.outgoing?.writableFinished === true;
  const answer: ResponseSummary = { ...summaryOf(incoming, chunks), isRequestFlushed };
  const body = decodeBody(Buffer.concat(chunks), answer.contentEncoding);
  if (planner === null || planned === null || body === null) return null;
  meter.add("plannerRefusals", 1);
  try {
    const retry = planner.planRetry(planned, body);
    if (retry === null) return null;
    exchange.refusedAttempt = { planned, answer };
    meter.add("plannerRetries", 1);
    return retry;
  } catch {
    meter.add("plannerFaults", 1);
    return null;
  }
}

function summaryOf(
  incoming: IncomingMessage,
  body: readonly Buffer[],
): Omit<ResponseSummary, "isRequestFlushed"> {
  const head = readHead(incoming.rawHeaders);
  return {
    status: incoming.statusCode ?? null,
    contentType: headerOf(head, "content-type") ?? "",
    contentEncoding: headerOf(head, "content-encoding") ?? "",
    body,
    isComplete: true,
  };
}

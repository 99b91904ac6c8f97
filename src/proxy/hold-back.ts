import type { IncomingMessage } from "node:http";
import { type Answering, decodeBody, type Sending } from "../session/index.ts";
import type { Exchange } from "./exchange.ts";
import { headerOf, readHead } from "./headers.ts";

/** The size of an answer that is held back. A larger one goes to the client as it comes. */
const heldBytesMax = 64 * 1024;

export type Held = {
  /** What has arrived of it. */
  readonly chunks: readonly Buffer[];
  /** What the desk wants sent in place of what was refused. Null: the answer is passed on. */
  readonly another: Sending | null;
};

/** Whether the desk may know a better body than the one this answer refuses. */
export function isHeldBack({ sending, replaced }: Exchange, incoming: IncomingMessage): boolean {
  return incoming.statusCode === 400 && sending !== null && sending.mayRetry && replaced === null;
}

/** Keeps an answer from the client until it is whole and the desk has seen it, then says how it goes on. */
export function holdBack(exchange: Exchange, incoming: IncomingMessage, decided: (held: Held) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  const end = (isWhole: boolean): void => {
    if (exchange.letGo !== letGo) return;
    exchange.letGo = null;
    clearTimeout(timer);
    incoming.off("data", keep);
    if (exchange.outcome !== null) return;
    decided({ chunks, another: isWhole ? anotherFor(exchange, incoming, chunks) : null });
  };
  const letGo = (): void => end(false);
  const keep = (chunk: Buffer): void => {
    exchange.quietSweeps = 0;
    chunks.push(chunk);
    length += chunk.length;
    if (length > heldBytesMax) letGo();
  };
  const timer = setTimeout(letGo, exchange.context.limits.holdMs);
  exchange.letGo = letGo;
  incoming.on("data", keep);
  // The error of an answer that breaks off says nothing that `close` does not.
  incoming.on("error", () => undefined);
  // By then the connection is free again, and a second attempt may use it.
  incoming.once("close", () => end(incoming.complete));
}

function anotherFor(
  exchange: Exchange,
  incoming: IncomingMessage,
  chunks: readonly Buffer[],
): Sending | null {
  const { desk, meter } = exchange.context;
  const { sending } = exchange;
  const answer = { ...answeringOf(incoming, chunks), hasLeft: exchange.outgoing?.writableFinished === true };
  const body = decodeBody(Buffer.concat(chunks), answer.contentEncoding);
  if (desk === null || sending === null || body === null) return null;
  meter.add("deskRefusals", 1);
  try {
    const another = desk.refused(sending, body);
    if (another === null) return null;
    exchange.replaced = { sending, answer };
    meter.add("deskRetries", 1);
    return another;
  } catch {
    meter.add("deskFaults", 1);
    return null;
  }
}

function answeringOf(incoming: IncomingMessage, body: readonly Buffer[]): Omit<Answering, "hasLeft"> {
  const head = readHead(incoming.rawHeaders);
  return {
    status: incoming.statusCode ?? null,
    contentType: headerOf(head, "content-type") ?? "",
    contentEncoding: headerOf(head, "content-encoding") ?? "",
    body,
    isComplete: true,
  };
}

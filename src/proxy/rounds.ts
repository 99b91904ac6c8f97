import type { IncomingMessage } from "node:http";
import { wireEvent } from "../protocols/index.ts";
import type { Desk, Sending } from "../session/index.ts";
import { deliverSampled, isEncoded, isEventStream } from "./deliver.ts";
import type { Answered, Exchange } from "./exchange.ts";
import { collect, createCopy } from "./exchange-copy.ts";
import { errorBody, type Refusal } from "./failures.ts";
import { readHead } from "./headers.ts";
import { announceAgain, tellRound, tellUnused } from "./report.ts";

/** What has to be done next lies in files that know this one. */
export type RoundWays = {
  /** Sends what the exchange is to send now. */
  readonly again: (exchange: Exchange) => void;
  /** Gives the client what there is. */
  readonly finish: (exchange: Exchange, incoming: IncomingMessage) => void;
};

/**
 * An answer of the upstream has come to its end. True: it has called our tools alone, so it is not the end of
 * what the client gets; they are carried out, and what the model says to that goes on with the same answer.
 */
export function goesOn(exchange: Exchange, ways: RoundWays): boolean {
  const { interceptor, sending, incoming } = exchange;
  const { desk } = exchange.context;
  if (interceptor === null || sending === null || desk === null || incoming === null) return false;
  deliverSampled(exchange);
  if (!interceptor.waits()) return false;
  tellRound(exchange);
  void goOn(exchange, { desk, sending, incoming, ...ways });
  return true;
}

type Going = RoundWays & {
  readonly desk: Desk;
  readonly sending: Sending;
  readonly incoming: IncomingMessage;
};

async function goOn(exchange: Exchange, { desk, sending, incoming, again, finish }: Going): Promise<void> {
  const { context } = exchange;
  pingWhile(exchange, () => isWaitedFor(exchange, incoming));
  const next = await desk.goOn(sending).catch(() => {
    context.meter.add("deskFaults", 1);
    return null;
  });
  if (exchange.outcome !== null) {
    if (next !== null) tellUnused(context, next);
  } else if (next === null || next.refusal !== null) finish(exchange, incoming);
  else {
    begin(exchange, next);
    again(exchange);
  }
}

/** One voice is enough: the answer before may still have one. */
function pingWhile(exchange: Exchange, isWaited: () => boolean): void {
  if (exchange.pings !== null) clearInterval(exchange.pings);
  const pings = setInterval(() => {
    if (isWaited()) ping(exchange);
    else clearInterval(pings);
  }, exchange.context.limits.pingMs);
  exchange.pings = pings;
}

/** Until the next answer begins: an upstream may take its time before it says anything. */
function isWaitedFor({ outcome, incoming }: Exchange, before: IncomingMessage): boolean {
  return outcome === null && (incoming === null || incoming === before);
}

function begin(exchange: Exchange, next: Sending): void {
  const { incoming, incomingHead: head } = exchange;
  exchange.before = incoming === null || head === null ? null : { incoming, head };
  exchange.isGoingOn = true;
  exchange.sending = next;
  exchange.deskTold = false;
  exchange.numbered = null;
  exchange.received = createCopy(exchange.context.limits.keptBytesMax);
  exchange.incoming = null;
  exchange.retried = false;
  announceAgain(exchange, next.sent);
}

/** Whether an answer cannot be gone on with: it is a refusal, or nobody can look into it. */
export function isNoRound({ isGoingOn }: Exchange, incoming: IncomingMessage): boolean {
  return isGoingOn && (incoming.statusCode !== 200 || isEncoded(readHead(incoming.rawHeaders)));
}

/**
 * The answer that was to be gone on with, where it can stand by itself: what the client has got of it is not
 * taken back because nothing follows.
 */
export function standsAlone({ isGoingOn, before, interceptor }: Exchange): Answered | null {
  return isGoingOn && interceptor?.says() === true ? before : null;
}

/** Hears an answer to its end that the client gets nothing of. */
export function hearOut(exchange: Exchange, { incoming, held }: Refusing, then: () => void): void {
  const { received } = exchange;
  exchange.incoming = incoming;
  exchange.incomingHead = readHead(incoming.rawHeaders);
  for (const chunk of held) collect(received, chunk);
  const over = (): void => {
    if (exchange.outcome === null) then();
  };
  if (incoming.closed) {
    over();
    return;
  }
  incoming.on("data", (chunk: Buffer) => collect(received, chunk));
  incoming.on("error", () => undefined);
  incoming.once("close", over);
}

/** An answer that refuses, and what was held of it. */
export type Refusing = { readonly incoming: IncomingMessage; readonly held: readonly Buffer[] };

/** What went wrong in the middle of an answer in events is an event too. */
export function tellFailure(exchange: Exchange, refusing: Refusing): void {
  hearOut(exchange, refusing, () => {
    exchange.outcome = "complete";
    endWith(exchange, failureIn(Buffer.concat(exchange.received.chunks ?? [])));
  });
}

/** The same where there was no answer at all. False: nothing that the client has got can be gone on with. */
export function tellNoAnswer(exchange: Exchange, { status, error }: Refusal): boolean {
  const { isGoingOn, incoming, incomingHead, arrival } = exchange;
  const isStreamed = incomingHead !== null && isEventStream(incomingHead);
  if (!isGoingOn || incoming !== null || !isStreamed || !arrival.response.headersSent) return false;
  exchange.outcome = "failed";
  exchange.problem = error.message;
  const { error: told } = JSON.parse(errorBody({ status, error }, arrival.id, "anthropic")) as Told;
  endWith(exchange, told);
  return true;
}

function endWith({ arrival }: Exchange, error: unknown): void {
  arrival.response.end(wireEvent({ type: "error", error }));
}

type Told = { readonly error: unknown };

function failureIn(body: Buffer): unknown {
  try {
    const { error } = JSON.parse(body.toString("utf8")) as Partial<Told>;
    return error ?? unnamed;
  } catch {
    return unnamed;
  }
}

const unnamed = { type: "api_error", message: "The model API failed in the middle of an answer." };

/** Where the answer is one JSON value, nothing can be said before it is there. */
function ping({ arrival, incomingHead, outcome }: Exchange): void {
  const isStreamed = incomingHead !== null && isEventStream(incomingHead);
  if (isStreamed && outcome === null) arrival.response.write(wireEvent({ type: "ping" }));
}

import type { ServerResponse } from "node:http";
import { setImmediate as nextTick, setTimeout as sleep } from "node:timers/promises";
import type { Act } from "./acts.ts";
import type { ExchangeRecord } from "./exchange.ts";

export type DeliverQuestion = {
  readonly response: ServerResponse;
  readonly record: ExchangeRecord;
  /** Fires when the client has gone: nothing is left to do then. */
  readonly left: AbortSignal;
  readonly started: () => void;
};

/** Plays the acts on a socket, and writes down what really went out. */
export async function deliver(acts: readonly Act[], question: DeliverQuestion): Promise<void> {
  for (const act of acts) {
    if (question.left.aborted) return;
    await perform(act, question);
  }
}

// A reset that overtakes the bytes before it would take them along.
const settleMs = 5;

async function perform(act: Act, { response, record, left, started }: DeliverQuestion): Promise<void> {
  switch (act.type) {
    case "head":
      record.status = act.status;
      record.responseHeaders = act.headers;
      response.writeHead(act.status, act.headers);
      response.flushHeaders();
      started();
      return;
    case "hints":
      response.writeEarlyHints({ link: "</v1/messages>; rel=preload" });
      return;
    case "write":
      await send({ response, record, left }, act.bytes);
      return;
    case "raw":
      // A client hangs up on such words before we do.
      record.close("answered");
      response.socket?.write(act.bytes);
      return;
    case "wait":
      await sleep(act.ms, undefined, { signal: left }).catch(() => undefined);
      return;
    case "end":
      response.end();
      return;
    case "close":
      await sleep(settleMs);
      record.close("answered");
      response.socket?.end();
      return;
    case "reset":
      await sleep(settleMs);
      record.close("reset");
      response.socket?.resetAndDestroy();
      return;
    case "hang":
      await gone(left);
      return;
  }
}

type SendQuestion = Pick<DeliverQuestion, "response" | "record" | "left">;

async function send({ response, record, left }: SendQuestion, bytes: Buffer): Promise<void> {
  record.send(bytes);
  if (!response.write(bytes)) await Promise.race([drained(response), gone(left)]);
  // Each write leaves on its own, or splitting would be undone on the way.
  else await nextTick();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => response.once("drain", () => resolve()));
}

function gone(left: AbortSignal): Promise<void> {
  if (left.aborted) return Promise.resolve();
  return new Promise((resolve) => left.addEventListener("abort", () => resolve(), { once: true }));
}

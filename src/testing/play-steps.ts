import type { ServerResponse } from "node:http";
import { setImmediate as nextTick, setTimeout as sleep } from "node:timers/promises";
import type { DeliveryStep } from "./delivery-steps.ts";
import type { ExchangeRecord } from "./upstream-exchange.ts";

export type PlayDeps = {
  readonly response: ServerResponse;
  readonly record: ExchangeRecord;
  /** Fires when the client has left: the remaining steps are skipped. */
  readonly clientLeft: AbortSignal;
  readonly onStart: () => void;
};

/** Plays the steps on a socket, and records the bytes that really went out. */
export async function playSteps(steps: readonly DeliveryStep[], deps: PlayDeps): Promise<void> {
  for (const step of steps) {
    if (deps.clientLeft.aborted) return;
    await playStep(step, deps);
  }
}

// A reset too early would discard the bytes before it.
const settleMs = 5;

async function playStep(step: DeliveryStep, deps: PlayDeps): Promise<void> {
  const { response, record, clientLeft, onStart } = deps;
  switch (step.type) {
    case "head":
      record.status = step.status;
      record.responseHeaders = step.headers;
      response.writeHead(step.status, step.headers);
      response.flushHeaders();
      onStart();
      return;
    case "hints":
      response.writeEarlyHints({ link: "</v1/messages>; rel=preload" });
      return;
    case "write":
      await send(deps, step.bytes);
      return;
    case "raw":
      // A client hangs up on these bytes before we do, so the outcome is recorded first.
      record.close("answered");
      response.socket?.write(step.bytes);
      return;
    case "wait":
      await sleep(step.ms, undefined, { signal: clientLeft }).catch(() => undefined);
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
      await untilAborted(clientLeft);
      return;
  }
}

async function send({ response, record, clientLeft }: PlayDeps, bytes: Buffer): Promise<void> {
  record.send(bytes);
  if (!response.write(bytes)) await Promise.race([untilDrained(response), untilAborted(clientLeft)]);
  // Each write leaves on its own, or the socket would join what was split.
  else await nextTick();
}

function untilDrained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => response.once("drain", () => resolve()));
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

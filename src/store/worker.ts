import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { apertureError, must, ownBuffers } from "../base/index.ts";
import { stepBack } from "./background.ts";
import { type Driver, loadDriver } from "./driver.ts";
import { gatedDriver, passGate } from "./exit-gate.ts";
import { armFailPoint } from "./fail-points.ts";
import { StoreFault } from "./faults.ts";
import type { Closed, Order, Reply, Request, ThreadData } from "./messages.ts";
import { type Answer, type Received, StoreThread } from "./store-thread.ts";

/** The entry of the store's thread. */
const owner = must(parentPort, "this file runs as a thread of its own");
const { gate, ...options } = workerData as ThreadData;
if (options.isBackground) stepBack();
armFailPoint(options.failPoint);

const thread = new StoreThread(options, driverOrNone());
/** In the order they joined: what a handle that is no more has sent comes before what its successor asks. */
const handles = new Map<MessagePort, Answer>();

owner.on("message", (order: Order) => {
  if (order.type === "join") join(order.port);
  else void close();
});

// A thread that dies of an error must not keep the locks of the process it dies in.
process.on("exit", () => thread.release());

thread.start();

function join(port: MessagePort): void {
  const answer: Answer = (reply) => port.postMessage(reply, ownBuffers(bytesIn(reply)));
  handles.set(port, answer);
  port.on("message", (first: Request) => thread.receive(arrived({ port, first })));
  port.on("close", () => {
    handles.delete(port);
    thread.leave(answer);
  });
  thread.join(answer);
}

async function close(): Promise<void> {
  thread.receive(arrived(null));
  await thread.close();
  owner.postMessage({ type: "closed" } satisfies Closed);
  owner.close();
  for (const port of handles.keys()) port.close();
}

type Arrival = { readonly port: MessagePort; readonly first: Request };

/** Everything that has arrived by now goes into one transaction. */
function arrived(arrival: Arrival | null): readonly Received[] {
  const all: Received[] = [];
  for (const [port, answer] of handles) {
    if (arrival?.port === port) all.push({ request: arrival.first, answer });
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
      all.push({ request: next.message as Request, answer });
    }
  }
  return all;
}

/** The bytes of a content or body are handed over, not copied. */
function bytesIn(reply: Reply): readonly unknown[] {
  return reply.type === "answer" && reply.result.ok ? [reply.result.value] : [];
}

/** Without a driver every attempt to open fails with the reason, which is where it can be reported. */
function driverOrNone(): Driver {
  try {
    return gatedDriver(passGate(gate, loadDriver), gate);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const { code, details } = apertureError("AP_STORE_OLDER_NODE", { problem });
    return {
      DatabaseSync: function none(): never {
        throw new StoreFault("stop", code, details);
      } as unknown as Driver["DatabaseSync"],
    };
  }
}

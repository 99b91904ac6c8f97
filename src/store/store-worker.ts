import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { apertureError, must, transferableBuffers } from "../base/index.ts";
import { StoreFault } from "./database-faults.ts";
import { type Driver, loadDriver } from "./driver.ts";
import { gatedDriver, passGate } from "./exit-gate.ts";
import { armFailPoint } from "./fail-points.ts";
import type {
  StoreReply,
  StoreRequest,
  StoreThreadData,
  ThreadClosedMessage,
  ThreadOrder,
} from "./store-messages.ts";
import { type IncomingRequest, type ReplySender, StoreThread } from "./store-thread.ts";
import { lowerThreadPriority } from "./thread-priority.ts";

/** The entry of the store's thread. */
const owner = must(parentPort, "this file runs as a thread of its own");
const { gate, ...options } = workerData as StoreThreadData;
if (options.isBackground) lowerThreadPriority();
armFailPoint(options.failPoint);

const thread = new StoreThread(options, driverOrNone());
/** In the order they joined: requests of a closed handle come before those of its successor. */
const handles = new Map<MessagePort, ReplySender>();

owner.on("message", (order: ThreadOrder) => {
  if (order.type === "join") join(order.port);
  else void close();
});

// A thread that dies of an error must not leave its process holding the database's locks.
process.on("exit", () => thread.release());

thread.start();

function join(port: MessagePort): void {
  const send: ReplySender = (reply) => port.postMessage(reply, transferableBuffers(bytesIn(reply)));
  handles.set(port, send);
  port.on("message", (first: StoreRequest) => thread.receive(takeArrived({ port, first })));
  port.on("close", () => {
    handles.delete(port);
    thread.removeHandle(send);
  });
  thread.addHandle(send);
}

async function close(): Promise<void> {
  thread.receive(takeArrived(null));
  await thread.close();
  owner.postMessage({ type: "closed" } satisfies ThreadClosedMessage);
  owner.close();
  for (const port of handles.keys()) port.close();
}

type FirstArrival = { readonly port: MessagePort; readonly first: StoreRequest };

/** Takes all requests that have arrived by now, so that they go into one transaction. */
function takeArrived(arrival: FirstArrival | null): readonly IncomingRequest[] {
  const all: IncomingRequest[] = [];
  for (const [port, send] of handles) {
    if (arrival?.port === port) all.push({ request: arrival.first, send });
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
      all.push({ request: next.message as StoreRequest, send });
    }
  }
  return all;
}

/** The bytes of a content or body, which are transferred and not copied. */
function bytesIn(reply: StoreReply): readonly unknown[] {
  return reply.type === "answer" && reply.result.ok ? [reply.result.value] : [];
}

/** Without a driver every attempt to open fails with the reason, so that the store's status reports it. */
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

import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { apertureError, must } from "../base/index.ts";
import { type Driver, loadDriver } from "./driver.ts";
import { gatedDriver, passGate } from "./exit-gate.ts";
import { armFailPoint } from "./fail-points.ts";
import { StoreFault } from "./faults.ts";
import type { Reply, Request, ThreadData } from "./messages.ts";
import { StoreThread } from "./store-thread.ts";

/** The entry of the store's thread. */
const port = must(parentPort, "this file runs as a thread of its own");
const { gate, ...options } = workerData as ThreadData;
armFailPoint(options.failPoint);

const thread = new StoreThread(options, driverOrNone(), (reply: Reply) => {
  port.postMessage(reply, ownBuffers(reply));
  if (reply.type === "closed") port.close();
});

port.on("message", (first: Request) => {
  // Everything that has arrived by now goes into one transaction.
  const requests = [first];
  for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
    requests.push(next.message as Request);
  }
  thread.receive(requests);
});

// A thread that dies of an error must not keep the locks of the process it dies in.
process.on("exit", () => thread.release());

thread.start();

/** The bytes of a content or body are handed over, not copied, where they have a buffer to themselves. */
function ownBuffers(reply: Reply): ArrayBuffer[] {
  const bytes = reply.type === "answer" && reply.result.ok ? reply.result.value : null;
  if (!(bytes instanceof Uint8Array) || !(bytes.buffer instanceof ArrayBuffer)) return [];
  return bytes.byteLength > 0 && bytes.byteLength === bytes.buffer.byteLength ? [bytes.buffer] : [];
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

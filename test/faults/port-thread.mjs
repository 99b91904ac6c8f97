// A thread that uses the store of another thread, and hangs after everything is sent.
import { parentPort, workerData } from "node:worker_threads";
import { hashContent } from "../../dist/base/index.js";
import { joinSqliteStore } from "../../dist/store/index.js";

const store = joinSqliteStore(workerData.port);
for (const text of workerData.texts) {
  const bytes = Buffer.from(text);
  store.append({ contents: [{ hash: hashContent(bytes), bytes }] });
}
parentPort.postMessage("sent");
for (;;);

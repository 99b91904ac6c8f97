import { randomBytes } from "node:crypto";
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { must, sessionIdFrom } from "../../base/index.ts";
import { openSqliteStore } from "../../store/index.ts";
import { joinedCopy } from "../exchange.ts";
import { answerQuestion } from "../read/answer.ts";
import type { Library } from "../read/questions.ts";
import { SessionRecorder } from "../record/recorder.ts";
import type { Copied, EngineOptions, FromEngine, ToEngine } from "./messages.ts";
import { windowIn } from "./windows.ts";

/** The entry of the engine's thread. */
const port = must(parentPort, "this file runs as a thread of its own");
const { path, windows, maxPages, dieAfter } = workerData as EngineOptions;
const takenEveryMs = 10;
const lowestPriority = 19;
const tell = (message: FromEngine): void => port.postMessage(message, ownBuffers(message));

yieldToRelay();
let isWatched = false;
const store = openSqliteStore({ path, ...(maxPages === undefined ? {} : { maxPages }) });
const recorder = new SessionRecorder({
  store,
  clock: { now: () => Date.now() },
  newSession: () => sessionIdFrom(randomBytes(16)),
  tell: (event) => {
    if (isWatched) tell({ type: "event", event });
  },
});
const library: Library = {
  store,
  open: (session) => recorder.shelf.log(session),
  windowOf: (model) => windowIn(windows, model),
};
store.watch((status) => tell({ type: "storage", status }));
tell({ type: "storage", status: store.status() });

port.on("message", (message: ToEngine) => void receive(message));
void recorder.recover();

async function receive(message: ToEngine): Promise<void> {
  switch (message.type) {
    case "copies":
      for (const copied of message.copies) void record(copied);
      return;
    case "ask":
      tell({ type: "answer", id: message.id, result: await answerQuestion(library, message.question) });
      return;
    case "watch":
      isWatched = message.on;
      return;
    case "close":
      await recorder.idle();
      await store.close();
      tell({ type: "closed" });
      port.close();
  }
}

/** Bodies are put together here, not on the relay's thread: a large one takes a while. */
async function record(copied: Copied): Promise<void> {
  if (copied.type === "requested") await recorder.requested(joinedCopy(copied.copy));
  else await recorder.answered(joinedCopy(copied.copy));
  taken(copied.bytes);
  const isDue = copied.type === "requested" && recorder.counts().requests === dieAfter;
  if (isDue) throw new Error("it was told to");
}

let takenBytes = 0;

/** The relay is told now and then, not for each copy: every message takes some of its time. */
function taken(bytes: number): void {
  if (takenBytes === 0) setTimeout(tellTaken, takenEveryMs);
  takenBytes += bytes;
}

function tellTaken(): void {
  tell({ type: "taken", bytes: takenBytes, counts: recorder.counts() });
  takenBytes = 0;
}

/**
 * Recording can wait, relaying cannot: where both want a processor the relay gets it. Linux lets a thread
 * lower itself; elsewhere it would lower the whole process.
 */
function yieldToRelay(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, lowestPriority);
  } catch {
    // A system that does not allow it gives both the same share.
  }
}

/** The bytes of a body are handed over, not copied, where they have a buffer to themselves. */
function ownBuffers(message: FromEngine): ArrayBuffer[] {
  const value = message.type === "answer" && message.result.ok ? message.result.value : null;
  const bytes = (value as { readonly bytes?: unknown } | null)?.bytes;
  if (!(bytes instanceof Uint8Array) || !(bytes.buffer instanceof ArrayBuffer)) return [];
  return bytes.byteLength > 0 && bytes.byteLength === bytes.buffer.byteLength ? [bytes.buffer] : [];
}

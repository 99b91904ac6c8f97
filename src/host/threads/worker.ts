import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { must, sessionIdFrom, transferableBuffers } from "../../base/index.ts";
import { joinedCopy, type Pieces, type RequestCopy } from "../../exchange/index.ts";
import { type ActDeps, executeRecordedCalls, openPermissionFile } from "../../execute/index.ts";
import { WithheldFile, withheldFileName } from "../../log/index.ts";
import type { BodyAnswer, SentBodies } from "../../queries/answers/index.ts";
import { type BodySource, SessionRecorder } from "../../recorder/index.ts";
import { joinSqliteStore, lowerThreadPriority } from "../../store/index.ts";
import { answerQuestion } from "../answer-question.ts";
import { BodyReceiver } from "./body-patch.ts";
import { systemThreadId } from "./cpu-wait.ts";
import { heapShare, leanShare } from "./memory.ts";
import type { EngineWorkerData, FromEngineMessage, QueuedMessage, ToEngineMessage } from "./messages.ts";
import { findWindow } from "./windows.ts";

/** The entry of the engine's thread. */
const port = must(parentPort, "this file runs as a thread of its own");
const data = workerData as EngineWorkerData;
const { path, windows, storePort, aliveEveryMs, dieAfter, stickAfter, policy = "auto", mode = "auto" } = data;
const recordedEveryMs = 10;
const post = (message: FromEngineMessage): void =>
  port.postMessage(message, transferableBuffers(bytesIn(message)));

// Recording can wait, relaying cannot.
lowerThreadPriority();
post({ type: "started", thread: systemThreadId() });
let aliveMs = performance.now();
setInterval(reportAlive, aliveEveryMs);
let hasListeners = false;
const bodies = new BodyReceiver();
const store = joinSqliteStore(storePort);
const clock = { now: () => Date.now() };
// The file lies beside the database: permissions are the user's, and no project folder may grant them.
const permissions = openPermissionFile(join(dirname(path), "permissions.json"), clock);
const withheldFile = new WithheldFile(join(dirname(path), withheldFileName));
const recorder = new SessionRecorder({
  store,
  clock,
  newSession: () => sessionIdFrom(randomBytes(16)),
  onEvent: (event) => {
    if (hasListeners) post({ type: "event", event });
  },
  onWishes: (wishes) => post({ type: "wishes", wishes }),
  onWithheld: (withheld) => post({ type: "withheld", withheld: withheldFile.save(withheld) }),
  windowOf: (model) => findWindow(windows, model),
  policy,
});
const deps: ActDeps = {
  store,
  permissions,
  mode,
  openLog: (session) => recorder.cache.log(session),
  removeSession: (session) => recorder.removeSession(session),
  forgetSession: (session) => recorder.cache.forget(session),
  windowOf: (model) => findWindow(windows, model),
  streamRecord: (question) => recorder.streamRecord(question),
  executeCalls: (batch) =>
    executeRecordedCalls({ recorder, store, windowOf: deps.windowOf, permissions }, batch),
  publishWithheld: (state) => recorder.withheld.report(state),
  inSession: (session, work) => recorder.inSession(session, work),
  act: (session, stream, propose) => recorder.act(session, stream, propose),
  reverseStep: (session, verb, step) => recorder.reverseStep(session, verb, step),
};
store.watch((status) => post({ type: "storage", status }));
post({ type: "storage", status: store.status() });

port.on("message", (message: ToEngineMessage) => void receive(message));
void recorder.recover();

async function receive(message: ToEngineMessage): Promise<void> {
  switch (message.type) {
    case "copies":
      for (const copy of message.copies) void record(copy);
      return;
    case "ask":
      post({ type: "answer", id: message.id, result: await answerQuestion(deps, message.question) });
      return;
    case "watch":
      hasListeners = message.on;
      return;
    case "close":
      // The store writes everything it was sent before it is closed itself.
      await recorder.idle();
      post({ type: "closed" });
  }
}

/** Bodies are joined here and not on the relay's thread, because a large one takes a while. */
async function record(message: QueuedMessage): Promise<void> {
  if (message.type === "requested") await recorder.recordRequest(...requestIn(message));
  else if (message.type === "resent") await recorder.recordResend(message.request, message.sent);
  else await recorder.recordResponse(joinedCopy(message.copy));
  noteRecorded(message.bytes);
  // A long queue may delay the timer, but it does not mean that the thread is stuck.
  if (performance.now() - aliveMs >= aliveEveryMs) reportAlive();
  if (message.type === "requested") failForTests(recorder.counts().requests);
}

/** The body is restored only when it is recorded: until then only its patch takes memory. */
function requestIn({
  copy,
  patch,
}: Extract<QueuedMessage, { type: "requested" }>): [RequestCopy, BodySource] {
  const bodyOf = () => (patch === null ? wholeBody(copy) : bodies.restore(copy.id, patch));
  return [{ ...copy, body: null }, bodyOf];
}

function wholeBody(copy: RequestCopy<Pieces>): ReturnType<BodySource> {
  return { body: joinedCopy(copy).body, read: null };
}

/** For tests: makes the thread die or hang. */
function failForTests(requests: number): void {
  if (requests === dieAfter) throw new Error("it was told to");
  while (requests === stickAfter);
}

function reportAlive(): void {
  aliveMs = performance.now();
  const share = heapShare();
  // Everything on disk can be read again.
  if (share >= leanShare) void recorder.freeMemory();
  post({ type: "alive", heapShare: share });
}

let recordedBytes = 0;

/** The relay gets one message for many copies, because each message takes some of its time. */
function noteRecorded(bytes: number): void {
  if (recordedBytes === 0) setTimeout(reportRecorded, recordedEveryMs);
  recordedBytes += bytes;
}

function reportRecorded(): void {
  post({ type: "taken", bytes: recordedBytes, counts: recorder.counts() });
  recordedBytes = 0;
}

/** The bytes of bodies are moved, not copied. */
function bytesIn(message: FromEngineMessage): readonly unknown[] {
  const value = message.type === "answer" && message.result.ok ? message.result.value : null;
  // Only these two answers have bytes.
  const { bytes, sent, before } = (value ?? {}) as Partial<BodyAnswer & SentBodies>;
  return [bytes, sent?.bytes, before?.bytes];
}

import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { must, ownBuffers, sessionIdFrom } from "../../base/index.ts";
import { joinSqliteStore, stepBack } from "../../store/index.ts";
import { keepPermissions } from "../command/kept-permissions.ts";
import { joinedCopy, type RequestCopy } from "../exchange.ts";
import { answerQuestion } from "../read/answer.ts";
import type { Library } from "../read/questions.ts";
import type { BodyAnswer, SentBodies } from "../read/rows.ts";
import { KeptWithheld, withheldFile } from "../record/kept-withheld.ts";
import { type BodyOf, SessionRecorder } from "../record/recorder.ts";
import { BodiesHeld } from "./bodies-held.ts";
import { heapShare, leanShare } from "./memory.ts";
import type { Copied, EngineData, FromEngine, ToEngine } from "./messages.ts";
import { threadName } from "./processor.ts";
import { windowIn } from "./windows.ts";

/** The entry of the engine's thread. */
const port = must(parentPort, "this file runs as a thread of its own");
const data = workerData as EngineData;
const { path, windows, line, aliveEveryMs, dieAfter, stickAfter, policy = "auto", mode = "auto" } = data;
const takenEveryMs = 10;
const tell = (message: FromEngine): void => port.postMessage(message, ownBuffers(bytesIn(message)));

// Recording can wait, relaying cannot.
stepBack();
tell({ type: "started", thread: threadName() });
let aliveMs = performance.now();
setInterval(sayAlive, aliveEveryMs);
let isWatched = false;
const bodies = new BodiesHeld();
const store = joinSqliteStore(line);
const clock = { now: () => Date.now() };
// Beside the database: what a user has said for always is theirs, and no folder of a project can say it.
const permissions = keepPermissions(join(dirname(path), "permissions.json"), clock);
const keptWithheld = new KeptWithheld(join(dirname(path), withheldFile));
const recorder = new SessionRecorder({
  store,
  clock,
  newSession: () => sessionIdFrom(randomBytes(16)),
  tell: (event) => {
    if (isWatched) tell({ type: "event", event });
  },
  brief: (briefing) => tell({ type: "briefing", briefing }),
  withhold: (withheld) => tell({ type: "withheld", withheld: keptWithheld.keep(withheld) }),
  windowOf: (model) => windowIn(windows, model),
  policy,
  permissions,
});
const library: Library = {
  store,
  permissions,
  mode,
  open: (session) => recorder.shelf.log(session),
  remove: (session) => recorder.remove(session),
  forget: (session) => recorder.shelf.forget(session),
  windowOf: (model) => windowIn(windows, model),
  ledger: (question) => recorder.ledger(question),
  command: (asked) => recorder.command(asked),
  withhold: (state) => recorder.withheld.tell(state),
  within: (session, work) => recorder.within(session, work),
  act: (session, stream, propose) => recorder.act(session, stream, propose),
  reverse: (session, verb, step) => recorder.reverse(session, verb, step),
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
      // What the store was sent it writes before it is closed itself.
      await recorder.idle();
      tell({ type: "closed" });
  }
}

/** Bodies are put together here, not on the relay's thread: a large one takes a while. */
async function record(copied: Copied): Promise<void> {
  if (copied.type === "requested") await recorder.requested(...requestIn(copied));
  else if (copied.type === "resent") await recorder.resent(copied.request, copied.sent);
  else await recorder.answered(joinedCopy(copied.copy));
  taken(copied.bytes);
  // A long queue may keep the timer from its turn, and is no reason to be taken for stuck.
  if (performance.now() - aliveMs >= aliveEveryMs) sayAlive();
  if (copied.type === "requested") fail(recorder.counts().requests);
}

/** The copy, and its body once its turn has come: until then only what is new in it takes room. */
function requestIn({ copy, crossing }: Extract<Copied, { type: "requested" }>): [RequestCopy, BodyOf] {
  const bodyOf = () => (crossing === null ? joinedCopy(copy).body : bodies.join(copy.id, crossing));
  return [{ ...copy, body: null }, bodyOf];
}

/** For tests of what becomes of those who still rely on this thread. */
function fail(requests: number): void {
  if (requests === dieAfter) throw new Error("it was told to");
  while (requests === stickAfter);
}

function sayAlive(): void {
  aliveMs = performance.now();
  const share = heapShare();
  // What is on disk can be read again.
  if (share >= leanShare) void recorder.shed();
  tell({ type: "alive", heapShare: share });
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

/** The bytes of bodies are handed over, not copied. */
function bytesIn(message: FromEngine): readonly unknown[] {
  const value = message.type === "answer" && message.result.ok ? message.result.value : null;
  // Of all answers, two have bytes.
  const { bytes, sent, before } = (value ?? {}) as Partial<BodyAnswer & SentBodies>;
  return [bytes, sent?.bytes, before?.bytes];
}

import { Worker } from "node:worker_threads";
import { apertureError, fail, limits, type Result } from "../../base/index.ts";
import { type SqliteThread, type StoreStatus, startSqliteThread } from "../../store/index.ts";
import type { Briefing } from "../desk-port.ts";
import type { Likeness, Pieces, Recorder, RequestCopy, ResponseCopy, SentReport } from "../exchange.ts";
import type { EngineEvent } from "../read/events.ts";
import type { AnswerOf, Ask, Question } from "../read/questions.ts";
import type { RecorderCounts } from "../record/recorder-counts.ts";
import type { WithheldSession } from "../withheld-session.ts";
import { BodiesSent } from "./bodies-sent.ts";
import { COPY_BYTES, type Handed, handedBytes, lightened, ownedBy, transferable } from "./handed.ts";
import { LostLines } from "./lost-lines.ts";
import type { MemoryLevel } from "./memory.ts";
import { MemoryWatch } from "./memory-watch.ts";
import type { Copied, EngineData, EngineOptions, FromEngine, ToEngine } from "./messages.ts";
import { waitedMs } from "./processor.ts";
import { Silence } from "./silence.ts";

/** The caller's end of the engine's thread: copies go in, questions are answered, events come out. */
export type Engine = Recorder & {
  readonly ask: Ask;
  readonly watch: (listener: (event: EngineEvent) => void) => () => void;
  /** Calls back when storage stops working or works again. */
  readonly watchStorage: (listener: (status: StoreStatus) => void) => void;
  /** Calls back with what the desk needs to know of a stream, whenever it has changed. */
  readonly watchBriefings: (listener: (briefing: Briefing) => void) => void;
  /** Calls back with what must not be sent any more in a session, whenever that has changed. */
  readonly watchWithheld: (listener: (withheld: WithheldSession) => void) => void;
  /** Tells whoever listens something that only this side knows. */
  readonly tell: (event: EngineEvent) => void;
  readonly status: () => EngineStatus;
  /** Another number whenever the record may have lost something that it was told of a line. */
  readonly recordOf: (line: string) => number;
  /** Whether so much waits to be recorded that nothing should be told that can be told later. */
  readonly isBehind: () => boolean;
  /** What there is still memory for. */
  readonly memory: () => MemoryLevel;
  readonly close: () => Promise<void>;
};
export type EngineStatus = {
  readonly storage: StoreStatus;
  /** Bytes handed over and not yet dealt with. */
  readonly waitingBytes: number;
  readonly counts: RecorderCounts;
  /** Threads that died or were stuck, and had to be replaced. */
  readonly replaced: number;
};

const RESTART_MS = 500;
const STUCK_MS = 5_000;
const START_MS_MAX = 30_000;
const ALIVE_EVERY_MS = 400;
/**
 * Copies are gathered for this long, or until they are this many bytes, before they cross to the engine's
 * thread: a burst of requests is over before its record begins to take processors away from it.
 */
const HAND_OVER_MS = 100;
const HAND_OVER_BYTES = 32 * 1024 * 1024;
const CLOSE_MS_MAX = 10_000;

export function startEngine(options: EngineOptions): Engine {
  const thread = new EngineHandle(options, workerEntry());
  return {
    requested: (copy, likeness) => thread.requested(copy, likeness),
    resent: (id, sent) => thread.resent(id, sent),
    answered: (copy) => thread.answered(copy),
    ask: (question) => thread.ask(question),
    watch: (listener) => thread.watch(listener),
    watchStorage: (listener) => thread.watchStorage(listener),
    watchBriefings: (listener) => thread.watchBriefings(listener),
    watchWithheld: (listener) => thread.watchWithheld(listener),
    tell: (event) => thread.tell(event),
    status: () => thread.status(),
    recordOf: (line) => thread.recordOf(line),
    isBehind: () => thread.isBehind(),
    keepsBodies: () => thread.memory() === "ok",
    memory: () => thread.memory(),
    close: () => thread.close(),
  };
}

/** Threads run compiled code. From sources, as in tests, that is the build beside them. */
function workerEntry(): URL {
  const fromSources = import.meta.url.endsWith(".ts");
  return new URL(fromSources ? "../../../dist/session/thread/worker.js" : "./worker.js", import.meta.url);
}

/**
 * Main's end of the engine's thread, and its owner. The store's thread is owned here too and not by the
 * engine: ending a stuck engine must not end that one, which may be in the middle of a write.
 */
class EngineHandle {
  readonly #options: EngineOptions;
  readonly #entry: URL;
  readonly #storeThread: SqliteThread;
  readonly #asked = new Map<number, (result: Result<unknown>) => void>();
  readonly #listeners = new Set<(event: EngineEvent) => void>();
  readonly #storageListeners = new Set<(status: StoreStatus) => void>();
  readonly #briefed = new Set<(briefing: Briefing) => void>();
  readonly #withheld = new Set<(withheld: WithheldSession) => void>();
  #worker: Worker | null = null;
  #silence: Silence | null = null;
  /** What the system calls the thread. */
  #thread: string | null = null;
  #replaced = 0;
  #storage: StoreStatus = { storage: "ok", code: null, message: null, waitingFrames: 0, waitingBytes: 0 };
  /** As it was last told to those who listen. */
  #told: Pick<StoreStatus, "storage" | "message"> = { storage: "ok", message: null };
  readonly #memory = new MemoryWatch(() => this.#tellStorage());
  #counts: RecorderCounts = { requests: 0, answers: 0, gaps: 0, unread: 0 };
  /** Gaps of threads that are no more, and of copies that were never handed over. */
  #lostGaps = 0;
  #waitingBytes = 0;
  /** Requests this thread was given or is about to be. */
  #handed = 0;
  readonly #bodies = new BodiesSent();
  readonly #lost = new LostLines();
  #outgoing: Copied[] = [];
  #outgoingBytes = 0;
  #timer: NodeJS.Timeout | null = null;
  #lastId = 0;
  #closing: Promise<void> | null = null;
  #closed: () => void = () => undefined;

  constructor(options: EngineOptions, entry: URL) {
    this.#options = options;
    this.#entry = entry;
    const { path, maxPages } = options;
    this.#storeThread = startSqliteThread({ path, ...(maxPages === undefined ? {} : { maxPages }) });
    this.#start();
  }

  requested(copy: RequestCopy<Pieces>, likeness: Likeness | null): void {
    const isFull = this.#memory.level === "pass" || this.#waitingBytes > limits.queueBytesMax * 2;
    if (isFull) this.#miss(likeness);
    else this.#hand({ type: "requested", copy, crossing: null }, limits.queueBytesMax, likeness);
    // The next request of this stream may need to be told of it soon: nothing is gathered then.
    if (copy.sent !== null) this.#post();
  }

  resent(request: string, sent: SentReport | null): void {
    this.#hand({ type: "resent", request, sent }, limits.queueBytesMax);
    this.#post();
  }

  answered(copy: ResponseCopy<Pieces>): void {
    this.#hand({ type: "answered", copy }, limits.queueBytesMax * 2);
  }

  ask<Q extends Question>(question: Q): Promise<Result<AnswerOf<Q>>> {
    if (this.#worker === null || this.#closing !== null) {
      return Promise.resolve(fail("AP_ENGINE_DOWN", { problem: "its thread is not running" }));
    }
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise<Result<unknown>>((resolve) => this.#asked.set(id, resolve));
    // What was handed over before is dealt with before, so that a question finds it.
    this.#post();
    this.#worker.postMessage({ type: "ask", id, question } satisfies ToEngine);
    // Whoever goes on in a session that is gone has to tell all of it to the one that begins.
    if (question.type === "delete-session") void answer.then(({ ok }) => ok && this.#lost.loseAll());
    return answer as Promise<Result<AnswerOf<Q>>>;
  }

  watch(listener: (event: EngineEvent) => void): () => void {
    this.#listeners.add(listener);
    this.#sayWatched();
    return () => {
      this.#listeners.delete(listener);
      this.#sayWatched();
    };
  }

  watchStorage(listener: (status: StoreStatus) => void): void {
    this.#storageListeners.add(listener);
  }

  watchBriefings(listener: (briefing: Briefing) => void): void {
    this.#briefed.add(listener);
  }

  watchWithheld(listener: (withheld: WithheldSession) => void): void {
    this.#withheld.add(listener);
  }

  status(): EngineStatus {
    const counts = { ...this.#counts, gaps: this.#counts.gaps + this.#lostGaps };
    const replaced = this.#replaced;
    return { storage: this.#shownStorage(), waitingBytes: this.#waitingBytes, counts, replaced };
  }

  memory(): MemoryLevel {
    return this.#memory.level;
  }

  recordOf(line: string): number {
    return this.#lost.numberOf(line);
  }

  isBehind(): boolean {
    return this.#waitingBytes > limits.queueBytesMax / 4;
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  /** A body that does not fit any more is left out; the rest of the copy costs little. */
  #hand(message: Handed, bytesMax: number, likeness: Likeness | null = null): void {
    if (this.#worker === null || this.#closing !== null) {
      if (message.type === "requested") this.#miss(likeness);
      if (message.type === "resent") this.#lost.loseAll();
      return;
    }
    const size = handedBytes(message) - (likeness === null ? 0 : this.#bodies.shared(likeness));
    const fits = this.#memory.level === "ok" && this.#waitingBytes + size <= bytesMax;
    const bytes = fits ? size : COPY_BYTES;
    this.#waitingBytes += bytes;
    if (message.type === "requested") this.#handed += 1;
    // What the ledger sent hangs together: with a part of it missing, it has to be told again as a whole.
    if (!fits && message.type === "requested" && message.copy.sent !== null) this.#miss(likeness);
    if (!fits && message.type === "resent") this.#lost.loseAll();
    this.#outgoing.push({ ...(fits ? this.#owned(message, likeness) : lightened(message)), bytes });
    this.#outgoingBytes += size;
    if (this.#outgoingBytes >= HAND_OVER_BYTES) this.#post();
    else this.#timer ??= setTimeout(() => this.#post(), HAND_OVER_MS);
  }

  /** Something was not recorded, and nobody here knows what: it may have been a body that others follow. */
  #doubt(): void {
    this.#lost.loseAll();
    this.#bodies.clear();
  }

  #miss(likeness: Likeness | null): void {
    this.#lostGaps += 1;
    const line = likeness?.line ?? null;
    if (line === null) this.#lost.loseAll();
    else this.#lost.lose(line);
  }

  #owned(message: Handed, likeness: Likeness | null): Handed {
    const [body] = message.type === "requested" && likeness !== null ? (message.copy.body ?? []) : [];
    if (message.type !== "requested" || likeness === null || body === undefined) return ownedBy(message);
    const { copy } = message;
    const crossing = this.#bodies.cross(copy.id, body, likeness);
    return ownedBy({ ...message, copy: { ...copy, body: null }, crossing });
  }

  /** Many copies in one message: each message takes some of the relay's time, and wakes a thread. */
  #post(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#outgoingBytes = 0;
    const copies = this.#outgoing.splice(0);
    if (copies.length === 0) return;
    const buffers = new Set(copies.flatMap(transferable));
    this.#worker?.postMessage({ type: "copies", copies } satisfies ToEngine, [...buffers]);
  }

  #start(): void {
    const { stuckMs = STUCK_MS } = this.#options;
    const line = this.#storeThread.line();
    const aliveEveryMs = Math.min(ALIVE_EVERY_MS, stuckMs / 4);
    const data: EngineData = { ...this.#options, line, aliveEveryMs };
    const worker = new Worker(this.#entry, { workerData: data, transferList: [line.port, line.news] });
    let problem = "it stopped";
    worker.on("message", (message: FromEngine) => {
      if (this.#worker === worker) this.#receive(message);
    });
    worker.on("error", (error) => {
      problem = error instanceof Error ? error.message : String(error);
    });
    worker.on("exit", () => this.#lose(worker, problem));
    this.#thread = null;
    const watched = { ms: stuckMs, startMs: START_MS_MAX, waitedMs: () => waitedMs(this.#thread) };
    this.#silence = new Silence(watched, () => {
      this.#lose(worker, `it was stuck for ${stuckMs / 1000} s`);
      void worker.terminate();
    });
    this.#worker = worker;
    this.#sayWatched();
  }

  /** A relay without a record still relays: the thread is started again, and what it held is a gap. */
  #lose(worker: Worker, problem: string): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    this.#silence?.end();
    this.#memory.engineShare = 0;
    this.#waitingBytes = 0;
    const error = apertureError("AP_ENGINE_DOWN", { problem });
    for (const answer of this.#asked.values()) answer({ ok: false, error });
    this.#asked.clear();
    const held = Math.max(0, this.#handed - this.#counts.answers - this.#counts.gaps);
    this.#lostGaps += this.#counts.gaps + held;
    this.#lost.loseAll();
    this.#handed = 0;
    this.#outgoing = [];
    this.#bodies.clear();
    this.#counts = { requests: 0, answers: 0, gaps: 0, unread: 0 };
    this.#closed();
    if (this.#closing !== null) return;
    this.#replaced += 1;
    const { code, message } = error;
    this.#storageChanged({ ...this.#storage, storage: "degraded", code, message });
    const missing = `${message} What it had not written down yet is missing: ${held} of the last requests.`;
    this.tell({ type: "notice", session: null, code, message: missing });
    setTimeout(() => {
      if (this.#closing === null) this.#start();
    }, RESTART_MS).unref();
  }

  #receive(message: FromEngine): void {
    this.#silence?.heard();
    switch (message.type) {
      case "started":
        this.#thread = message.thread;
        return;
      case "alive":
        this.#memory.engineShare = message.heapShare;
        return;
      case "taken":
        this.#waitingBytes = Math.max(0, this.#waitingBytes - message.bytes);
        if (message.counts.gaps > this.#counts.gaps) this.#doubt();
        this.#counts = message.counts;
        return;
      case "answer":
        this.#asked.get(message.id)?.(message.result);
        this.#asked.delete(message.id);
        return;
      case "event":
        this.tell(message.event);
        return;
      case "briefing":
        for (const listener of this.#briefed) listener(message.briefing);
        return;
      case "withheld":
        for (const listener of this.#withheld) listener(message.withheld);
        return;
      case "storage":
        this.#storageChanged(message.status);
        return;
      case "closed":
        this.#closed();
    }
  }

  #sayWatched(): void {
    this.#worker?.postMessage({ type: "watch", on: this.#listeners.size > 0 } satisfies ToEngine);
  }

  #storageChanged(status: StoreStatus): void {
    this.#storage = status;
    this.#tellStorage();
  }

  /** Without memory nothing is recorded, whatever the disk could take. */
  #shownStorage(): StoreStatus {
    const { problem } = this.#memory;
    if (problem === null || this.#storage.storage === "degraded") return this.#storage;
    return { ...this.#storage, storage: "degraded", code: problem.code, message: problem.message };
  }

  #tellStorage(): void {
    const status = this.#shownStorage();
    const { storage, message } = this.#told;
    this.#told = status;
    if (status.storage === storage && status.message === message) return;
    for (const listener of [...this.#storageListeners]) listener(status);
    this.tell({ type: "degraded", storage: status.storage, message: status.message });
  }

  tell(event: EngineEvent): void {
    for (const listener of [...this.#listeners]) listener(event);
  }

  async #shutDown(): Promise<void> {
    const worker = this.#worker;
    if (worker !== null) await this.#finish(worker);
    await this.#storeThread.close();
    this.#memory.end();
    this.#silence?.end();
    await worker?.terminate();
  }

  /** Resolves when the thread has dealt with everything it was given, or will not any more. */
  async #finish(worker: Worker): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const done = new Promise<void>((resolve) => {
      this.#closed = resolve;
      timer = setTimeout(resolve, CLOSE_MS_MAX);
    });
    this.#post();
    worker.postMessage({ type: "close" } satisfies ToEngine);
    await done;
    clearTimeout(timer);
  }
}

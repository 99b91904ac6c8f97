import { Worker } from "node:worker_threads";
import { apertureError, fail, limits, type Result } from "../../base/index.ts";
import type {
  BodyOverlap,
  Pieces,
  RecorderPort,
  RequestCopy,
  ResponseCopy,
  SentRequest,
  Wishes,
  WithheldSession,
} from "../../exchange/index.ts";
import type { EngineEvent } from "../../log/index.ts";
import type { RecorderCounts } from "../../recorder/index.ts";
import { type SqliteThread, type StoreStatus, startSqliteThread } from "../../store/index.ts";
import type { AnswerOf, Asker, Question } from "../questions.ts";
import { BodySender } from "./body-patch.ts";
import { cpuWaitMs } from "./cpu-wait.ts";
import type { MemoryLevel } from "./memory.ts";
import { MemoryWatch } from "./memory.ts";
import type {
  EngineOptions,
  EngineWorkerData,
  FromEngineMessage,
  QueuedMessage,
  ToEngineMessage,
} from "./messages.ts";
import { RecordVersions } from "./record-versions.ts";
import {
  COPY_BYTES,
  messageBytes,
  type RecorderMessage,
  transferList,
  withOwnMemory,
  withoutBodies,
} from "./recorder-message.ts";
import { Watchdog } from "./watchdog.ts";

/**
 * The main thread's side of the engine's thread: it records copies, answers questions and publishes events.
 */
export type Engine = RecorderPort & {
  readonly ask: Asker;
  readonly watch: (listener: (event: EngineEvent) => void) => () => void;
  /** Calls back when storage stops working or works again. */
  readonly watchStorage: (listener: (status: StoreStatus) => void) => void;
  /** Calls back with the wishes for a stream whenever they have changed. */
  readonly watchWishes: (listener: (wishes: Wishes) => void) => void;
  /** Calls back with the withheld content of a session whenever it has changed. */
  readonly watchWithheld: (listener: (withheld: WithheldSession) => void) => void;
  /** Sends an event of the main thread to the listeners. */
  readonly publish: (event: EngineEvent) => void;
  readonly status: () => EngineStatus;
  /** Changes whenever the log may have lost something of a stream. */
  readonly recordVersionOf: (streamKey: string) => number;
  /** So much waits to be recorded that everything that can be reported later should be. */
  readonly isBehind: () => boolean;
  readonly memory: () => MemoryLevel;
  readonly close: () => Promise<void>;
};
export type EngineStatus = {
  readonly storage: StoreStatus;
  /** Bytes that wait to be recorded. */
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
 * Messages are gathered for this long, or until they are this many bytes, before they are sent to the
 * engine's thread: a burst of requests is over before recording it takes CPUs away from the relay.
 */
const BATCH_MS = 100;
const BATCH_BYTES = 32 * 1024 * 1024;
const CLOSE_MS_MAX = 10_000;

export function startEngine(options: EngineOptions): Engine {
  const thread = new EngineHandle(options, workerEntry());
  return {
    recordRequest: (copy, overlap) => thread.recordRequest(copy, overlap),
    recordResend: (id, sent) => thread.recordResend(id, sent),
    recordResponse: (copy) => thread.recordResponse(copy),
    ask: (question) => thread.ask(question),
    watch: (listener) => thread.watch(listener),
    watchStorage: (listener) => thread.watchStorage(listener),
    watchWishes: (listener) => thread.watchWishes(listener),
    watchWithheld: (listener) => thread.watchWithheld(listener),
    publish: (event) => thread.publish(event),
    status: () => thread.status(),
    recordVersionOf: (streamKey) => thread.recordVersionOf(streamKey),
    isBehind: () => thread.isBehind(),
    hasRoomForBodies: () => thread.memory() === "ok",
    memory: () => thread.memory(),
    close: () => thread.close(),
  };
}

/** Threads run compiled code. When this file runs from source, as in tests, that is the build in `dist`. */
function workerEntry(): URL {
  const fromSources = import.meta.url.endsWith(".ts");
  return new URL(fromSources ? "../../../dist/host/threads/worker.js" : "./worker.js", import.meta.url);
}

/**
 * Owns the engine's thread. It owns the store's thread too: ending a stuck engine must not end the store,
 * which may be in the middle of a write.
 */
class EngineHandle {
  readonly #options: EngineOptions;
  readonly #entry: URL;
  readonly #storeThread: SqliteThread;
  readonly #pending = new Map<number, (result: Result<unknown>) => void>();
  readonly #listeners = new Set<(event: EngineEvent) => void>();
  readonly #storageListeners = new Set<(status: StoreStatus) => void>();
  readonly #wishesListeners = new Set<(wishes: Wishes) => void>();
  readonly #withheldListeners = new Set<(withheld: WithheldSession) => void>();
  #worker: Worker | null = null;
  #watchdog: Watchdog | null = null;
  /** The system's id of the thread; null until it has started. */
  #threadId: string | null = null;
  #replaced = 0;
  #storage: StoreStatus = { storage: "ok", code: null, message: null, waitingFrames: 0, waitingBytes: 0 };
  /** The storage status that was last published. */
  #publishedStorage: Pick<StoreStatus, "storage" | "message"> = { storage: "ok", message: null };
  readonly #memory = new MemoryWatch(() => this.#publishStorage());
  #counts: RecorderCounts = { requests: 0, answers: 0, gaps: 0, unread: 0 };
  /** Gaps of threads that were replaced, and of copies that were never sent. */
  #lostGaps = 0;
  #waitingBytes = 0;
  /** Requests that the present thread got or is about to get. */
  #requestsSent = 0;
  readonly #bodies = new BodySender();
  readonly #versions = new RecordVersions();
  #outgoing: QueuedMessage[] = [];
  #outgoingBytes = 0;
  #timer: NodeJS.Timeout | null = null;
  #lastId = 0;
  #closing: Promise<void> | null = null;
  #onClosed: () => void = () => undefined;

  constructor(options: EngineOptions, entry: URL) {
    this.#options = options;
    this.#entry = entry;
    const { path, maxPages } = options;
    this.#storeThread = startSqliteThread({ path, ...(maxPages === undefined ? {} : { maxPages }) });
    this.#start();
  }

  recordRequest(copy: RequestCopy<Pieces>, overlap: BodyOverlap | null): void {
    const isFull = this.#memory.level === "pass" || this.#waitingBytes > limits.queueBytesMax * 2;
    if (isFull) this.#noteGap(overlap);
    else this.#enqueue({ type: "requested", copy, patch: null }, limits.queueBytesMax, overlap);
    // The next request of this stream may soon ask the log about it, so the copy does not wait for a batch.
    if (copy.sent !== null) this.#flush();
  }

  recordResend(request: string, sent: SentRequest | null): void {
    this.#enqueue({ type: "resent", request, sent }, limits.queueBytesMax);
    this.#flush();
  }

  recordResponse(copy: ResponseCopy<Pieces>): void {
    this.#enqueue({ type: "answered", copy }, limits.queueBytesMax * 2);
  }

  ask<Q extends Question>(question: Q): Promise<Result<AnswerOf<Q>>> {
    if (this.#worker === null || this.#closing !== null) {
      return Promise.resolve(fail("AP_ENGINE_DOWN", { problem: "its thread is not running" }));
    }
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise<Result<unknown>>((resolve) => this.#pending.set(id, resolve));
    // Copies are sent before the question, so that the answer includes them.
    this.#flush();
    this.#worker.postMessage({ type: "ask", id, question } satisfies ToEngineMessage);
    // A stream that continues after its session was deleted must be reported as a whole to the new session.
    if (question.type === "delete-session") void answer.then(({ ok }) => ok && this.#versions.bumpAll());
    return answer as Promise<Result<AnswerOf<Q>>>;
  }

  watch(listener: (event: EngineEvent) => void): () => void {
    this.#listeners.add(listener);
    this.#reportListeners();
    return () => {
      this.#listeners.delete(listener);
      this.#reportListeners();
    };
  }

  watchStorage(listener: (status: StoreStatus) => void): void {
    this.#storageListeners.add(listener);
  }

  watchWishes(listener: (wishes: Wishes) => void): void {
    this.#wishesListeners.add(listener);
  }

  watchWithheld(listener: (withheld: WithheldSession) => void): void {
    this.#withheldListeners.add(listener);
  }

  status(): EngineStatus {
    const counts = { ...this.#counts, gaps: this.#counts.gaps + this.#lostGaps };
    const replaced = this.#replaced;
    return { storage: this.#shownStorage(), waitingBytes: this.#waitingBytes, counts, replaced };
  }

  memory(): MemoryLevel {
    return this.#memory.level;
  }

  recordVersionOf(streamKey: string): number {
    return this.#versions.versionOf(streamKey);
  }

  isBehind(): boolean {
    return this.#waitingBytes > limits.queueBytesMax / 4;
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  /** If the queue is full, the body is left out; the rest of the message costs little. */
  #enqueue(message: RecorderMessage, bytesMax: number, overlap: BodyOverlap | null = null): void {
    if (this.#worker === null || this.#closing !== null) {
      if (message.type === "requested") this.#noteGap(overlap);
      if (message.type === "resent") this.#versions.bumpAll();
      return;
    }
    const size = messageBytes(message) - (overlap === null ? 0 : this.#bodies.heldBytes(overlap));
    const fits = this.#memory.level === "ok" && this.#waitingBytes + size <= bytesMax;
    const bytes = fits ? size : COPY_BYTES;
    this.#waitingBytes += bytes;
    if (message.type === "requested") this.#requestsSent += 1;
    // Units refer to units sent before: if one report is missing, the whole stream has to be reported again.
    if (!fits && message.type === "requested" && message.copy.sent !== null) this.#noteGap(overlap);
    if (!fits && message.type === "resent") this.#versions.bumpAll();
    this.#outgoing.push({ ...(fits ? this.#forThread(message, overlap) : withoutBodies(message)), bytes });
    this.#outgoingBytes += size;
    if (this.#outgoingBytes >= BATCH_BYTES) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), BATCH_MS);
  }

  /** A copy of an unknown stream was not recorded; its body may have been the base of later patches. */
  #noteUnknownGap(): void {
    this.#versions.bumpAll();
    this.#bodies.clear();
  }

  #noteGap(overlap: BodyOverlap | null): void {
    this.#lostGaps += 1;
    const streamKey = overlap?.streamKey ?? null;
    if (streamKey === null) this.#versions.bumpAll();
    else this.#versions.bump(streamKey);
  }

  /** Sends the body as a patch if the thread holds the body before. */
  #forThread(message: RecorderMessage, overlap: BodyOverlap | null): RecorderMessage {
    const [body] = message.type === "requested" && overlap !== null ? (message.copy.body ?? []) : [];
    if (message.type !== "requested" || overlap === null || body === undefined) return withOwnMemory(message);
    const { read = null, ...copy } = message.copy;
    const patch = this.#bodies.patchFor({ request: copy.id, body, read }, overlap);
    return withOwnMemory({ ...message, copy: { ...copy, body: null }, patch });
  }

  /**
   * Sends many copies in one message, because each message takes some of the relay's time and wakes a thread.
   */
  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#outgoingBytes = 0;
    const copies = this.#outgoing.splice(0);
    if (copies.length === 0) return;
    const buffers = new Set(copies.flatMap(transferList));
    this.#worker?.postMessage({ type: "copies", copies } satisfies ToEngineMessage, [...buffers]);
  }

  #start(): void {
    const { stuckMs = STUCK_MS } = this.#options;
    const storePort = this.#storeThread.openPort();
    const aliveEveryMs = Math.min(ALIVE_EVERY_MS, stuckMs / 4);
    const data: EngineWorkerData = { ...this.#options, storePort, aliveEveryMs };
    const transferred = [storePort.port, storePort.news];
    const worker = new Worker(this.#entry, { workerData: data, transferList: transferred });
    let problem = "it stopped";
    worker.on("message", (message: FromEngineMessage) => {
      if (this.#worker === worker) this.#receive(message);
    });
    worker.on("error", (error) => {
      problem = error instanceof Error ? error.message : String(error);
    });
    worker.on("exit", () => this.#replaceWorker(worker, problem));
    this.#threadId = null;
    const options = { ms: stuckMs, startMs: START_MS_MAX, cpuWaitMs: () => cpuWaitMs(this.#threadId) };
    this.#watchdog = new Watchdog(options, () => {
      this.#replaceWorker(worker, `it was stuck for ${stuckMs / 1000} s`);
      void worker.terminate();
    });
    this.#worker = worker;
    this.#reportListeners();
  }

  /**
   * The relay goes on without a record until a new thread has started; requests the old one held are gaps.
   */
  #replaceWorker(worker: Worker, problem: string): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    this.#watchdog?.stop();
    this.#memory.engineShare = 0;
    this.#waitingBytes = 0;
    const error = apertureError("AP_ENGINE_DOWN", { problem });
    for (const answer of this.#pending.values()) answer({ ok: false, error });
    this.#pending.clear();
    const unrecorded = Math.max(0, this.#requestsSent - this.#counts.answers - this.#counts.gaps);
    this.#lostGaps += this.#counts.gaps + unrecorded;
    this.#versions.bumpAll();
    this.#requestsSent = 0;
    this.#outgoing = [];
    this.#bodies.clear();
    this.#counts = { requests: 0, answers: 0, gaps: 0, unread: 0 };
    this.#onClosed();
    if (this.#closing !== null) return;
    this.#replaced += 1;
    const { code, message } = error;
    this.#setStorage({ ...this.#storage, storage: "degraded", code, message });
    const missing = `${message} What it had not written down yet is missing: ${unrecorded} of the last requests.`;
    this.publish({ type: "notice", session: null, code, message: missing });
    setTimeout(() => {
      if (this.#closing === null) this.#start();
    }, RESTART_MS).unref();
  }

  #receive(message: FromEngineMessage): void {
    this.#watchdog?.noteActivity();
    switch (message.type) {
      case "started":
        this.#threadId = message.thread;
        return;
      case "alive":
        this.#memory.engineShare = message.heapShare;
        return;
      case "taken":
        this.#waitingBytes = Math.max(0, this.#waitingBytes - message.bytes);
        if (message.counts.gaps > this.#counts.gaps) this.#noteUnknownGap();
        this.#counts = message.counts;
        return;
      case "answer":
        this.#pending.get(message.id)?.(message.result);
        this.#pending.delete(message.id);
        return;
      case "event":
        this.publish(message.event);
        return;
      case "wishes":
        for (const listener of this.#wishesListeners) listener(message.wishes);
        return;
      case "withheld":
        for (const listener of this.#withheldListeners) listener(message.withheld);
        return;
      case "storage":
        this.#setStorage(message.status);
        return;
      case "closed":
        this.#onClosed();
    }
  }

  #reportListeners(): void {
    this.#worker?.postMessage({ type: "watch", on: this.#listeners.size > 0 } satisfies ToEngineMessage);
  }

  #setStorage(status: StoreStatus): void {
    this.#storage = status;
    this.#publishStorage();
  }

  /** Low memory shows as degraded storage, because nothing is recorded then. */
  #shownStorage(): StoreStatus {
    const { problem } = this.#memory;
    if (problem === null || this.#storage.storage === "degraded") return this.#storage;
    return { ...this.#storage, storage: "degraded", code: problem.code, message: problem.message };
  }

  #publishStorage(): void {
    const status = this.#shownStorage();
    const { storage, message } = this.#publishedStorage;
    this.#publishedStorage = status;
    if (status.storage === storage && status.message === message) return;
    for (const listener of [...this.#storageListeners]) listener(status);
    this.publish({ type: "degraded", storage: status.storage, message: status.message });
  }

  publish(event: EngineEvent): void {
    for (const listener of [...this.#listeners]) listener(event);
  }

  async #shutDown(): Promise<void> {
    const worker = this.#worker;
    if (worker !== null) await this.#drainWorker(worker);
    await this.#storeThread.close();
    this.#memory.end();
    this.#watchdog?.stop();
    await worker?.terminate();
  }

  /** Resolves when the thread has recorded everything it got, has died, or takes too long. */
  async #drainWorker(worker: Worker): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const done = new Promise<void>((resolve) => {
      this.#onClosed = resolve;
      timer = setTimeout(resolve, CLOSE_MS_MAX);
    });
    this.#flush();
    worker.postMessage({ type: "close" } satisfies ToEngineMessage);
    await done;
    clearTimeout(timer);
  }
}

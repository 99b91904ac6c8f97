import { Worker } from "node:worker_threads";
import { apertureError, fail, limits, type Result } from "../../base/index.ts";
import type { StoreStatus } from "../../store/index.ts";
import type { Pieces, Recorder, RequestCopy, ResponseCopy } from "../exchange.ts";
import type { EngineEvent } from "../read/events.ts";
import type { AnswerOf, Ask, Question } from "../read/questions.ts";
import type { RecorderCounts } from "../record/recorder.ts";
import type { Copied, EngineOptions, FromEngine, ToEngine } from "./messages.ts";

/** The caller's end of the engine's thread: copies go in, questions are answered, events come out. */
export type Engine = Recorder & {
  readonly ask: Ask;
  readonly watch: (listener: (event: EngineEvent) => void) => () => void;
  /** Calls back when storage stops working or works again. */
  readonly watchStorage: (listener: (status: StoreStatus) => void) => void;
  readonly status: () => EngineStatus;
  readonly close: () => Promise<void>;
};
export type EngineStatus = {
  readonly storage: StoreStatus;
  /** Bytes handed over and not yet dealt with. */
  readonly waitingBytes: number;
  readonly counts: RecorderCounts;
};

const RESTART_MS = 500;
/**
 * Copies are gathered for this long, or until they are this many bytes, before they cross to the engine's
 * thread: a burst of requests is over before its record begins to take processors away from it.
 */
const HAND_OVER_MS = 100;
const HAND_OVER_BYTES = 32 * 1024 * 1024;
const CLOSE_MS_MAX = 10_000;
/** What a copy costs besides its bytes. */
const COPY_BYTES = 2_048;

export function startEngine(options: EngineOptions): Engine {
  const thread = new EngineHandle(options, workerEntry());
  return {
    requested: (copy) => thread.requested(copy),
    answered: (copy) => thread.answered(copy),
    ask: (question) => thread.ask(question),
    watch: (listener) => thread.watch(listener),
    watchStorage: (listener) => thread.watchStorage(listener),
    status: () => thread.status(),
    close: () => thread.close(),
  };
}

/** Threads run compiled code. From sources, as in tests, that is the build beside them. */
function workerEntry(): URL {
  const fromSources = import.meta.url.endsWith(".ts");
  return new URL(fromSources ? "../../../dist/session/thread/worker.js" : "./worker.js", import.meta.url);
}

class EngineHandle {
  readonly #options: EngineOptions;
  readonly #entry: URL;
  readonly #asked = new Map<number, (result: Result<unknown>) => void>();
  readonly #listeners = new Set<(event: EngineEvent) => void>();
  readonly #storageListeners = new Set<(status: StoreStatus) => void>();
  #worker: Worker | null = null;
  #storage: StoreStatus = { storage: "ok", code: null, message: null, waitingFrames: 0, waitingBytes: 0 };
  #counts: RecorderCounts = { requests: 0, answers: 0, gaps: 0, unread: 0 };
  /** Gaps of threads that are no more, and of copies that were never handed over. */
  #lostGaps = 0;
  #waitingBytes = 0;
  /** Requests this thread was given or is about to be. */
  #handed = 0;
  #outgoing: Copied[] = [];
  #outgoingBytes = 0;
  #timer: NodeJS.Timeout | null = null;
  #lastId = 0;
  #closing: Promise<void> | null = null;
  #closed: () => void = () => undefined;

  constructor(options: EngineOptions, entry: URL) {
    this.#options = options;
    this.#entry = entry;
    this.#start();
  }

  requested(copy: RequestCopy<Pieces>): void {
    if (this.#waitingBytes > limits.queueBytesMax * 2) this.#lostGaps += 1;
    else this.#hand({ type: "requested", copy }, limits.queueBytesMax);
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

  status(): EngineStatus {
    const counts = { ...this.#counts, gaps: this.#counts.gaps + this.#lostGaps };
    return { storage: this.#storage, waitingBytes: this.#waitingBytes, counts };
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  /** A body that does not fit any more is left out; the rest of the copy costs little. */
  #hand(message: Handed, bytesMax: number): void {
    if (this.#worker === null || this.#closing !== null) {
      if (message.type === "requested") this.#lostGaps += 1;
      return;
    }
    const size = sizeOf(message.copy.body);
    const fits = this.#waitingBytes + size <= bytesMax;
    const body = fits ? ownPieces(message.copy.body) : null;
    this.#waitingBytes += fits ? size : COPY_BYTES;
    if (message.type === "requested") this.#handed += 1;
    const copy = { ...message.copy, body };
    this.#outgoing.push({ ...message, copy, bytes: fits ? size : COPY_BYTES } as Copied);
    this.#outgoingBytes += size;
    if (this.#outgoingBytes >= HAND_OVER_BYTES) this.#post();
    else this.#timer ??= setTimeout(() => this.#post(), HAND_OVER_MS);
  }

  /** Many copies in one message: each message takes some of the relay's time, and wakes a thread. */
  #post(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#outgoingBytes = 0;
    const copies = this.#outgoing.splice(0);
    if (copies.length === 0) return;
    const buffers = new Set(copies.flatMap(({ copy }) => transferable(copy.body ?? [])));
    this.#worker?.postMessage({ type: "copies", copies } satisfies ToEngine, [...buffers]);
  }

  #start(): void {
    const worker = new Worker(this.#entry, { workerData: this.#options });
    let problem = "it stopped";
    worker.on("message", (message: FromEngine) => this.#receive(message));
    worker.on("error", (error) => {
      problem = error instanceof Error ? error.message : String(error);
    });
    worker.on("exit", () => this.#died(problem));
    this.#worker = worker;
    this.#sayWatched();
  }

  /** A relay without a record still relays: the thread is started again, and what it held is a gap. */
  #died(problem: string): void {
    this.#worker = null;
    this.#waitingBytes = 0;
    const error = apertureError("AP_ENGINE_DOWN", { problem });
    for (const answer of this.#asked.values()) answer({ ok: false, error });
    this.#asked.clear();
    this.#lostGaps +=
      this.#counts.gaps + Math.max(0, this.#handed - this.#counts.answers - this.#counts.gaps);
    this.#handed = 0;
    this.#outgoing = [];
    this.#counts = { requests: 0, answers: 0, gaps: 0, unread: 0 };
    this.#closed();
    if (this.#closing !== null) return;
    const { code, message } = error;
    this.#storageChanged({ ...this.#storage, storage: "degraded", code, message });
    setTimeout(() => {
      if (this.#closing === null) this.#start();
    }, RESTART_MS).unref();
  }

  #receive(message: FromEngine): void {
    switch (message.type) {
      case "taken":
        this.#waitingBytes = Math.max(0, this.#waitingBytes - message.bytes);
        this.#counts = message.counts;
        return;
      case "answer":
        this.#asked.get(message.id)?.(message.result);
        this.#asked.delete(message.id);
        return;
      case "event":
        this.#tell(message.event);
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
    const { storage, message } = this.#storage;
    this.#storage = status;
    if (status.storage === storage && status.message === message) return;
    for (const listener of [...this.#storageListeners]) listener(status);
    this.#tell({ type: "degraded", storage: status.storage, message: status.message });
  }

  #tell(event: EngineEvent): void {
    for (const listener of [...this.#listeners]) listener(event);
  }

  async #shutDown(): Promise<void> {
    const worker = this.#worker;
    if (worker === null) return;
    let timer: NodeJS.Timeout | undefined;
    const done = new Promise<void>((resolve) => {
      this.#closed = resolve;
      timer = setTimeout(resolve, CLOSE_MS_MAX);
    });
    this.#post();
    worker.postMessage({ type: "close" } satisfies ToEngine);
    await done;
    clearTimeout(timer);
    await worker.terminate();
  }
}

/** Pieces with memory of their own: another thread would be sent the whole of what they share. */
function ownPieces(body: Pieces | null): Pieces | null {
  return body?.map((piece) => (piece.byteLength === piece.buffer.byteLength ? piece : piece.slice())) ?? null;
}

/** Smaller pieces cost less to copy than to move. */
const TRANSFER_BYTES_MIN = 16_384;

/** Whoever gave them has no use for them any more. */
function transferable(pieces: Pieces): readonly ArrayBuffer[] {
  return pieces.flatMap(({ buffer }) =>
    buffer instanceof ArrayBuffer && buffer.byteLength >= TRANSFER_BYTES_MIN ? [buffer] : [],
  );
}

type Handed =
  | { readonly type: "requested"; readonly copy: RequestCopy<Pieces> }
  | { readonly type: "answered"; readonly copy: ResponseCopy<Pieces> };

function sizeOf(body: Pieces | null): number {
  return (body ?? []).reduce((sum, { byteLength }) => sum + byteLength, COPY_BYTES);
}

import { Worker } from "node:worker_threads";
import { type ApertureError, apertureError, fail, limits, ok, type Result } from "../base/index.ts";
import { copyBatch } from "./batch-copy.ts";
import { admitBatch } from "./batch-shape.ts";
import { type BatchSize, batchSize } from "./batch-size.ts";
import { openGate, shutAtExit, shutGate } from "./exit-gate.ts";
import type {
  Answers,
  Call,
  Health,
  Outcome,
  Question,
  Reply,
  ThreadData,
  ThreadOptions,
} from "./messages.ts";
import type { Appended, Batch, StoreStatus } from "./store.ts";

type Waiting = {
  readonly batch: Batch;
  readonly size: BatchSize;
  readonly settle: (result: Result<void>) => void;
  readonly durable: Promise<Result<void>>;
  /** Threads that died while this was the first batch in line. */
  deaths: number;
};

const RESTART_MS_MIN = 20;
const RESTART_MS_MAX = 500;
/** A batch that thread after thread dies of is refused, for the sake of those behind it. */
const DEATHS_MAX = 3;
/** A little longer than the thread takes to give up by itself. */
const CLOSE_MS_MAX = 6_000;

/**
 * The caller's end of the store's thread. Accepted batches stay here until they are known to be durable, so
 * that a thread that dies is replaced and told again; writing a batch twice is harmless.
 */
export class ThreadHandle {
  readonly #options: ThreadOptions;
  readonly #entry: URL;
  readonly #waiting = new Map<number, Waiting>();
  readonly #asked = new Map<number, (result: Result<unknown>) => void>();
  readonly #listeners = new Set<(status: StoreStatus) => void>();
  #worker: Worker | null = null;
  #gate = openGate();
  #health: Health = { storage: "ok", code: null, message: null, refusing: null };
  #waitingFrames = 0;
  #waitingBytes = 0;
  #lastId = 0;
  #restartMs = RESTART_MS_MIN;
  #closing: Promise<void> | null = null;
  #closed: () => void = () => undefined;

  constructor(options: ThreadOptions, entry: URL) {
    this.#options = options;
    this.#entry = entry;
    this.#start(options);
  }

  append(batch: Batch): Appended {
    const admitted = admitBatch(batch);
    if (!admitted.ok) return { accepted: false, refused: admitted };
    const size = batchSize(batch);
    const refusal = this.#refusal(size);
    if (refusal !== null) return { accepted: false, refused: { ok: false, error: refusal } };
    const id = this.#nextId();
    let settle: Waiting["settle"] = () => undefined;
    const durable = new Promise<Result<void>>((resolve) => {
      settle = resolve;
    });
    this.#waiting.set(id, { batch, size, settle, durable, deaths: 0 });
    this.#waitingFrames += size.frames;
    this.#waitingBytes += size.bytes;
    this.#send(id, batch);
    return { accepted: true, durable };
  }

  ask<Q extends Question>(question: Q): Promise<Result<Answers[Q["type"]]>> {
    if (this.#closing !== null) return Promise.resolve(fail("AP_STORE_CLOSED"));
    if (this.#worker === null)
      return Promise.resolve(fail("AP_STORE_IO", { problem: "its thread is being restarted" }));
    const id = this.#nextId();
    const answer = new Promise<Result<unknown>>((resolve) => this.#asked.set(id, resolve));
    try {
      this.#post(id, question);
    } catch (error) {
      // A question that cannot be handed to another thread is none.
      this.#receive({ type: "answer", id, result: fail("AP_STORE_IO", { problem: problemOf(error) }) });
    }
    return answer as Promise<Result<Answers[Q["type"]]>>;
  }

  status(): StoreStatus {
    const { storage, code, message } = this.#health;
    return { storage, code, message, waitingFrames: this.#waitingFrames, waitingBytes: this.#waitingBytes };
  }

  watch(listener: (status: StoreStatus) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  async flush(): Promise<void> {
    await Promise.all([...this.#waiting.values()].map(({ durable }) => durable));
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const done = new Promise<void>((resolve) => {
      this.#closed = resolve;
      timer = setTimeout(resolve, CLOSE_MS_MAX);
    });
    if (this.#worker === null) this.#closed();
    else this.#post(this.#nextId(), { type: "close" });
    await done;
    clearTimeout(timer);
    if (this.#worker !== null) shutGate(this.#gate);
    await this.#worker?.terminate();
    this.#settleAll(apertureError("AP_STORE_CLOSED"));
  }

  /** An oversized batch is taken when nothing else waits: it would never fit otherwise. */
  #refusal(size: BatchSize): ApertureError | null {
    if (this.#closing !== null) return apertureError("AP_STORE_CLOSED");
    if (this.#health.refusing !== null) return this.#health.refusing;
    const frames = this.#waitingFrames + size.frames;
    const bytes = this.#waitingBytes + size.bytes;
    const fits = frames <= limits.queueFramesMax && bytes <= limits.queueBytesMax;
    if (fits || this.#waiting.size === 0) return null;
    return apertureError("AP_STORE_QUEUE_FULL", { frames: this.#waitingFrames, bytes: this.#waitingBytes });
  }

  #start(options: ThreadOptions): void {
    const gate = openGate();
    const data: ThreadData = { ...options, gate };
    const worker = new Worker(this.#entry, { workerData: data });
    const forget = shutAtExit(gate);
    let problem = "it stopped";
    worker.on("message", (reply: Reply) => this.#receive(reply));
    worker.on("error", (error) => {
      problem = problemOf(error);
    });
    worker.on("exit", () => {
      forget();
      this.#died(problem);
    });
    this.#worker = worker;
    this.#gate = gate;
    for (const [id, { batch }] of this.#waiting) this.#send(id, batch);
  }

  /** Questions are answered with the reason; batches are told to the next thread, in the same order. */
  #died(problem: string): void {
    this.#worker = null;
    const error = apertureError("AP_STORE_IO", { problem: `its thread died: ${problem}` });
    for (const answer of this.#asked.values()) answer({ ok: false, error });
    this.#asked.clear();
    if (this.#closing !== null) {
      this.#closed();
      return;
    }
    this.#setHealth({ storage: "degraded", code: error.code, message: error.message, refusing: null });
    this.#blameFirst(error);
    setTimeout(() => this.#restart(), this.#restartMs);
    this.#restartMs = Math.min(this.#restartMs * 2, RESTART_MS_MAX);
  }

  #restart(): void {
    // A fail point fires once: it stands for one death.
    if (this.#closing === null) this.#start({ ...this.#options, failPoint: null });
  }

  #blameFirst(error: ApertureError): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    const [id, waiting] = first;
    waiting.deaths += 1;
    if (waiting.deaths >= DEATHS_MAX) this.#settle({ id, refusal: error });
  }

  #receive(reply: Reply): void {
    switch (reply.type) {
      case "appended":
        this.#restartMs = RESTART_MS_MIN;
        for (const outcome of reply.outcomes) this.#settle(outcome);
        return;
      case "answer":
        this.#asked.get(reply.id)?.(reply.result);
        this.#asked.delete(reply.id);
        return;
      case "health":
        this.#setHealth(reply.health);
        return;
      case "closed":
        this.#closed();
    }
  }

  #settle({ id, refusal }: Outcome): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    this.#waitingFrames -= waiting.size.frames;
    this.#waitingBytes -= waiting.size.bytes;
    waiting.settle(refusal === null ? ok(undefined) : { ok: false, error: refusal });
  }

  #settleAll(error: ApertureError): void {
    for (const id of [...this.#waiting.keys()]) this.#settle({ id, refusal: error });
    for (const answer of this.#asked.values()) answer({ ok: false, error });
    this.#asked.clear();
  }

  #setHealth(health: Health): void {
    const { storage, code, message } = this.#health;
    this.#health = health;
    if (storage === health.storage && code === health.code && message === health.message) return;
    for (const listener of [...this.#listeners]) tellQuietly(listener, this.status());
  }

  /**
   * What cannot be handed to another thread is no batch: it is refused, and nothing is thrown at the caller.
   */
  #send(id: number, batch: Batch): void {
    try {
      const { batch: copy, buffers } = copyBatch(batch);
      this.#worker?.postMessage({ id, call: { type: "append", batch: copy } }, [...buffers]);
    } catch (error) {
      this.#settle({ id, refusal: apertureError("AP_BATCH_INVALID", { problem: problemOf(error) }) });
    }
  }

  #post(id: number, call: Call): void {
    this.#worker?.postMessage({ id, call });
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }
}

/** Whoever listens is told; what goes wrong while they listen is theirs, and not that of the next one. */
function tellQuietly(listener: (status: StoreStatus) => void, status: StoreStatus): void {
  try {
    listener(status);
  } catch {
    // There is nobody here to tell: the status they were told of is what matters.
  }
}

function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

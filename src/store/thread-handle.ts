import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { type ApertureError, apertureError, fail, limits, ok, type Result } from "../base/index.ts";
import { copyBatch } from "./batch-copy.ts";
import { admitBatch } from "./batch-shape.ts";
import { type BatchSize, batchSize } from "./batch-size.ts";
import type { Answers, Health, LineNews, Outcome, Question, Reply, Request, StoreLine } from "./messages.ts";
import { postBatch } from "./posted-batch.ts";
import type { Appended, Batch, StoreStatus } from "./store.ts";

type Waiting = {
  readonly batch: Batch;
  readonly size: BatchSize;
  readonly settle: (result: Result<void>) => void;
  readonly durable: Promise<Result<void>>;
  /** Threads that died while this was the first batch in line. */
  deaths: number;
};

/** A batch that thread after thread dies of is refused, for the sake of those behind it. */
const DEATHS_MAX = 3;

/**
 * The caller's end of a line to the store's thread. Accepted batches stay here until they are known to be
 * durable, so that the thread that follows one that died is told again; writing a batch twice is harmless.
 */
export class ThreadHandle {
  readonly #news: MessagePort;
  readonly #waiting = new Map<number, Waiting>();
  readonly #asked = new Map<number, (result: Result<unknown>) => void>();
  readonly #listeners = new Set<(status: StoreStatus) => void>();
  #port: MessagePort;
  #health: Health = { storage: "ok", code: null, message: null, refusing: null };
  #waitingFrames = 0;
  #waitingBytes = 0;
  #lastId = 0;
  #closing: Promise<void> | null = null;

  constructor({ port, news }: StoreLine) {
    this.#port = port;
    this.#news = news;
    this.#listen(port);
    news.on("message", (told: LineNews) => this.#hear(told));
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
    const id = this.#nextId();
    const answer = new Promise<Result<unknown>>((resolve) => this.#asked.set(id, resolve));
    try {
      this.#port.postMessage({ id, call: question } satisfies Request);
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

  /** Nothing is taken any more. Resolves after `ending`, when everything accepted is durable or refused. */
  close(ending: () => Promise<void>): Promise<void> {
    this.#closing ??= ending().then(() => this.#letGo());
    return this.#closing;
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

  #listen(port: MessagePort): void {
    port.on("message", (reply: Reply) => this.#receive(reply));
  }

  #hear(told: LineNews): void {
    if (told.type === "replaced") this.#replaced(told.problem, told.port);
    else {
      this.#closing ??= Promise.resolve();
      this.#letGo();
    }
  }

  /** Questions are answered with the reason; batches are told to the next thread, in the same order. */
  #replaced(problem: string, port: MessagePort): void {
    this.#drain();
    this.#port.close();
    const error = apertureError("AP_STORE_IO", { problem: `its thread died: ${problem}` });
    for (const answer of this.#asked.values()) answer({ ok: false, error });
    this.#asked.clear();
    this.#setHealth({ storage: "degraded", code: error.code, message: error.message, refusing: null });
    this.#blameFirst(error);
    this.#port = port;
    this.#listen(port);
    for (const [id, { batch }] of this.#waiting) this.#send(id, batch);
  }

  /** What the thread said before it ended may still be on its way. */
  #drain(): void {
    for (let next = receiveMessageOnPort(this.#port); next; next = receiveMessageOnPort(this.#port)) {
      this.#receive(next.message as Reply);
    }
  }

  #letGo(): void {
    this.#drain();
    this.#settleAll(apertureError("AP_STORE_CLOSED"));
    this.#port.close();
    this.#news.close();
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
        for (const outcome of reply.outcomes) this.#settle(outcome);
        return;
      case "answer":
        this.#asked.get(reply.id)?.(reply.result);
        this.#asked.delete(reply.id);
        return;
      case "health":
        this.#setHealth(reply.health);
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
      const request: Request = { id, call: { type: "append", batch: postBatch(copy) } };
      this.#port.postMessage(request, [...buffers]);
    } catch (error) {
      this.#settle({ id, refusal: apertureError("AP_BATCH_INVALID", { problem: problemOf(error) }) });
    }
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

import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { type ApertureError, apertureError, fail, limits, ok, type Result } from "../base/index.ts";
import { copyBatch } from "./batch-copy.ts";
import { checkBatchShape } from "./batch-shape.ts";
import { type BatchSize, batchSize } from "./batch-size.ts";
import { postBatch } from "./posted-batch.ts";
import type { AppendResult, Batch, StoreStatus } from "./store.ts";
import type {
  AppendOutcome,
  PortNews,
  StoreAnswers,
  StoreHealth,
  StorePort,
  StoreQuery,
  StoreReply,
  StoreRequest,
} from "./store-messages.ts";

type UnconfirmedBatch = {
  readonly batch: Batch;
  readonly size: BatchSize;
  readonly settle: (result: Result<void>) => void;
  readonly durable: Promise<Result<void>>;
  /** How many threads died while this was the first batch waiting. */
  deaths: number;
};

/** A batch that killed this many threads is refused, so that the batches behind it can be written. */
const DEATHS_MAX = 3;

/**
 * The caller's end of a port to the store's thread. Accepted batches stay here until they are known to be
 * durable, so that they can be sent again to the thread that replaces a dead one; writing a batch twice is
 * harmless.
 */
export class ThreadHandle {
  readonly #news: MessagePort;
  readonly #waiting = new Map<number, UnconfirmedBatch>();
  readonly #queries = new Map<number, (result: Result<unknown>) => void>();
  readonly #listeners = new Set<(status: StoreStatus) => void>();
  #port: MessagePort;
  #health: StoreHealth = { storage: "ok", code: null, message: null, refusing: null };
  #waitingFrames = 0;
  #waitingBytes = 0;
  #lastId = 0;
  #closing: Promise<void> | null = null;

  constructor({ port, news }: StorePort) {
    this.#port = port;
    this.#news = news;
    this.#listen(port);
    news.on("message", (message: PortNews) => this.#readNews(message));
  }

  append(batch: Batch): AppendResult {
    const admitted = checkBatchShape(batch);
    if (!admitted.ok) return { accepted: false, refused: admitted };
    const size = batchSize(batch);
    const refusal = this.#refusal(size);
    if (refusal !== null) return { accepted: false, refused: { ok: false, error: refusal } };
    const id = this.#nextId();
    let settle: UnconfirmedBatch["settle"] = () => undefined;
    const durable = new Promise<Result<void>>((resolve) => {
      settle = resolve;
    });
    this.#waiting.set(id, { batch, size, settle, durable, deaths: 0 });
    this.#waitingFrames += size.frames;
    this.#waitingBytes += size.bytes;
    this.#send(id, batch);
    return { accepted: true, durable };
  }

  query<Q extends StoreQuery>(query: Q): Promise<Result<StoreAnswers[Q["type"]]>> {
    if (this.#closing !== null) return Promise.resolve(fail("AP_STORE_CLOSED"));
    const id = this.#nextId();
    const answer = new Promise<Result<unknown>>((resolve) => this.#queries.set(id, resolve));
    try {
      this.#port.postMessage({ id, call: query } satisfies StoreRequest);
    } catch (error) {
      // The query holds something that cannot be sent to another thread.
      this.#receive({ type: "answer", id, result: fail("AP_STORE_IO", { problem: problemOf(error) }) });
    }
    return answer as Promise<Result<StoreAnswers[Q["type"]]>>;
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

  /**
   * Refuses new batches at once. Resolves after `ending`, when every accepted batch is durable or refused.
   */
  close(ending: () => Promise<void>): Promise<void> {
    this.#closing ??= ending().then(() => this.#release());
    return this.#closing;
  }

  /** An oversized batch is accepted when nothing else waits: it would never fit otherwise. */
  #refusal(size: BatchSize): ApertureError | null {
    if (this.#closing !== null) return apertureError("AP_STORE_CLOSED");
    if (this.#health.refusing !== null) return this.#health.refusing;
    const frames = this.#waitingFrames + size.frames;
    const bytes = this.#waitingBytes + size.bytes;
    const isWithinLimits = frames <= limits.queueFramesMax && bytes <= limits.queueBytesMax;
    if (isWithinLimits || this.#waiting.size === 0) return null;
    return apertureError("AP_STORE_QUEUE_FULL", { frames: this.#waitingFrames, bytes: this.#waitingBytes });
  }

  #listen(port: MessagePort): void {
    port.on("message", (reply: StoreReply) => this.#receive(reply));
  }

  #readNews(news: PortNews): void {
    if (news.type === "replaced") this.#switchThread(news.problem, news.port);
    else {
      this.#closing ??= Promise.resolve();
      this.#release();
    }
  }

  /** Fails open queries with the reason and sends waiting batches to the next thread, in the same order. */
  #switchThread(problem: string, port: MessagePort): void {
    this.#drain();
    this.#port.close();
    const error = apertureError("AP_STORE_IO", { problem: `its thread died: ${problem}` });
    for (const answer of this.#queries.values()) answer({ ok: false, error });
    this.#queries.clear();
    this.#setHealth({ storage: "degraded", code: error.code, message: error.message, refusing: null });
    this.#blameFirst(error);
    this.#port = port;
    this.#listen(port);
    for (const [id, { batch }] of this.#waiting) this.#send(id, batch);
  }

  /** Reads replies the thread sent before it ended: they may still be in the port. */
  #drain(): void {
    for (let next = receiveMessageOnPort(this.#port); next; next = receiveMessageOnPort(this.#port)) {
      this.#receive(next.message as StoreReply);
    }
  }

  #release(): void {
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

  #receive(reply: StoreReply): void {
    switch (reply.type) {
      case "appended":
        for (const outcome of reply.outcomes) this.#settle(outcome);
        return;
      case "answer":
        this.#queries.get(reply.id)?.(reply.result);
        this.#queries.delete(reply.id);
        return;
      case "health":
        this.#setHealth(reply.health);
    }
  }

  #settle({ id, refusal }: AppendOutcome): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    this.#waitingFrames -= waiting.size.frames;
    this.#waitingBytes -= waiting.size.bytes;
    waiting.settle(refusal === null ? ok(undefined) : { ok: false, error: refusal });
  }

  #settleAll(error: ApertureError): void {
    for (const id of [...this.#waiting.keys()]) this.#settle({ id, refusal: error });
    for (const answer of this.#queries.values()) answer({ ok: false, error });
    this.#queries.clear();
  }

  #setHealth(health: StoreHealth): void {
    const { storage, code, message } = this.#health;
    this.#health = health;
    if (storage === health.storage && code === health.code && message === health.message) return;
    for (const listener of [...this.#listeners]) notifyListener(listener, this.status());
  }

  /** A batch that cannot be sent to another thread is refused; nothing is thrown at the caller. */
  #send(id: number, batch: Batch): void {
    try {
      const { batch: copy, buffers } = copyBatch(batch);
      const request: StoreRequest = { id, call: { type: "append", batch: postBatch(copy) } };
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

/** An error in one listener must not keep the next one from being called. */
function notifyListener(listener: (status: StoreStatus) => void, status: StoreStatus): void {
  try {
    listener(status);
  } catch {
    // The error is the listener's own, and there is no caller to report it to.
  }
}

function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { openGate, shutAtExit, shutGate } from "./exit-gate.ts";
import type { Closed, LineNews, Order, StoreLine, ThreadData, ThreadOptions } from "./messages.ts";

const RESTART_MS_MIN = 20;
const RESTART_MS_MAX = 500;
/** A thread that lived this long did not die of its start. */
const LIVED_MS_MIN = 1_000;
/** A little longer than the thread takes to give up by itself. */
const CLOSE_MS_MAX = 6_000;

/**
 * Owns the store's thread and replaces it when it dies. Others use it over lines, from whatever thread they
 * are on: one that ends takes its line with it and nothing else.
 */
export class ThreadOwner {
  readonly #options: ThreadOptions;
  readonly #entry: URL;
  /** The owner's ends of the lines, to tell them what became of the thread. */
  readonly #lines = new Set<MessagePort>();
  /** Ports the next thread will read from. What is sent over them meanwhile waits in them. */
  readonly #joining: MessagePort[] = [];
  #worker: Worker | null = null;
  #gate = openGate();
  #restartMs = RESTART_MS_MIN;
  #startedMs = 0;
  #closing: Promise<void> | null = null;
  #closed: () => void = () => undefined;

  constructor(options: ThreadOptions, entry: URL) {
    this.#options = options;
    this.#entry = entry;
    this.#start(options);
  }

  line(): StoreLine {
    const { port1: ours, port2: news } = new MessageChannel();
    this.#lines.add(ours);
    ours.on("close", () => this.#lines.delete(ours));
    const port = this.#join();
    if (this.#closing !== null) this.#end(ours);
    return { port, news };
  }

  /** The thread writes what it was sent, as far as it can, and ends. */
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
    else this.#worker.postMessage({ type: "close" } satisfies Order);
    await done;
    clearTimeout(timer);
    if (this.#worker !== null) shutGate(this.#gate);
    await this.#worker?.terminate();
    for (const line of [...this.#lines]) this.#end(line);
    for (const port of this.#joining.splice(0)) port.close();
  }

  #end(line: MessagePort): void {
    line.postMessage({ type: "ended" } satisfies LineNews);
    line.close();
  }

  #join(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    if (this.#worker === null) this.#joining.push(port1);
    else this.#hand(this.#worker, port1);
    return port2;
  }

  #hand(worker: Worker, port: MessagePort): void {
    worker.postMessage({ type: "join", port } satisfies Order, [port]);
  }

  #start(options: ThreadOptions): void {
    const gate = openGate();
    const data: ThreadData = { ...options, gate };
    const worker = new Worker(this.#entry, { workerData: data });
    const forget = shutAtExit(gate);
    let problem = "it stopped";
    worker.on("message", (_word: Closed) => this.#closed());
    worker.on("error", (error) => {
      problem = error instanceof Error ? error.message : String(error);
    });
    worker.on("exit", () => {
      forget();
      this.#died(problem);
    });
    this.#worker = worker;
    this.#gate = gate;
    this.#startedMs = performance.now();
    for (const port of this.#joining.splice(0)) this.#hand(worker, port);
  }

  /** Every line is given a port to the next thread at once, so that nobody has to know when it starts. */
  #died(problem: string): void {
    this.#worker = null;
    if (this.#closing !== null) {
      this.#closed();
      return;
    }
    for (const line of this.#lines) {
      const port = this.#join();
      line.postMessage({ type: "replaced", problem, port } satisfies LineNews, [port]);
    }
    if (performance.now() - this.#startedMs >= LIVED_MS_MIN) this.#restartMs = RESTART_MS_MIN;
    setTimeout(() => this.#restart(), this.#restartMs);
    this.#restartMs = Math.min(this.#restartMs * 2, RESTART_MS_MAX);
  }

  #restart(): void {
    // A fail point fires once: it stands for one death.
    if (this.#closing === null) this.#start({ ...this.#options, failPoint: null });
  }
}

import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { openGate, shutAtExit, shutGate } from "./exit-gate.ts";
import type {
  PortNews,
  StorePort,
  StoreThreadData,
  StoreThreadOptions,
  ThreadClosedMessage,
  ThreadOrder,
} from "./store-messages.ts";

const RESTART_MS_MIN = 20;
const RESTART_MS_MAX = 500;
/** A thread that lived this long did not die while starting. */
const LIVED_MS_MIN = 1_000;
/** A little longer than the thread's own limit for closing. */
const CLOSE_MS_MAX = 6_000;

/**
 * Owns the store's thread and replaces it when it dies. Handles use it over ports, from any thread: a thread
 * that ends takes its own port with it and nothing else.
 */
export class ThreadOwner {
  readonly #options: StoreThreadOptions;
  readonly #entry: URL;
  /** The owner's ends of the news ports, over which handles learn that the thread was replaced or ended. */
  readonly #newsPorts = new Set<MessagePort>();
  /** Ports the next thread will read from. Messages sent meanwhile wait in them. */
  readonly #waitingPorts: MessagePort[] = [];
  #worker: Worker | null = null;
  #gate = openGate();
  #restartMs = RESTART_MS_MIN;
  #startedMs = 0;
  #closing: Promise<void> | null = null;
  #confirmClose: () => void = () => undefined;

  constructor(options: StoreThreadOptions, entry: URL) {
    this.#options = options;
    this.#entry = entry;
    this.#start(options);
  }

  openPort(): StorePort {
    const { port1: newsPort, port2: news } = new MessageChannel();
    this.#newsPorts.add(newsPort);
    newsPort.on("close", () => this.#newsPorts.delete(newsPort));
    const port = this.#openRequestPort();
    if (this.#closing !== null) this.#endPort(newsPort);
    return { port, news };
  }

  /** Lets the thread write the batches it can, and ends it. */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const done = new Promise<void>((resolve) => {
      this.#confirmClose = resolve;
      timer = setTimeout(resolve, CLOSE_MS_MAX);
    });
    if (this.#worker === null) this.#confirmClose();
    else this.#worker.postMessage({ type: "close" } satisfies ThreadOrder);
    await done;
    clearTimeout(timer);
    if (this.#worker !== null) shutGate(this.#gate);
    await this.#worker?.terminate();
    for (const newsPort of [...this.#newsPorts]) this.#endPort(newsPort);
    for (const port of this.#waitingPorts.splice(0)) port.close();
  }

  #endPort(newsPort: MessagePort): void {
    newsPort.postMessage({ type: "ended" } satisfies PortNews);
    newsPort.close();
  }

  #openRequestPort(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    if (this.#worker === null) this.#waitingPorts.push(port1);
    else this.#passPort(this.#worker, port1);
    return port2;
  }

  #passPort(worker: Worker, port: MessagePort): void {
    worker.postMessage({ type: "join", port } satisfies ThreadOrder, [port]);
  }

  #start(options: StoreThreadOptions): void {
    const gate = openGate();
    const data: StoreThreadData = { ...options, gate };
    const worker = new Worker(this.#entry, { workerData: data });
    const forget = shutAtExit(gate);
    let problem = "it stopped";
    worker.on("message", (_message: ThreadClosedMessage) => this.#confirmClose());
    worker.on("error", (error) => {
      problem = error instanceof Error ? error.message : String(error);
    });
    worker.on("exit", () => {
      forget();
      this.#handleExit(problem);
    });
    this.#worker = worker;
    this.#gate = gate;
    this.#startedMs = performance.now();
    for (const port of this.#waitingPorts.splice(0)) this.#passPort(worker, port);
  }

  /** Gives every handle a port to the next thread at once, so that no handle needs to know when it starts. */
  #handleExit(problem: string): void {
    this.#worker = null;
    if (this.#closing !== null) {
      this.#confirmClose();
      return;
    }
    for (const newsPort of this.#newsPorts) {
      const port = this.#openRequestPort();
      newsPort.postMessage({ type: "replaced", problem, port } satisfies PortNews, [port]);
    }
    if (performance.now() - this.#startedMs >= LIVED_MS_MIN) this.#restartMs = RESTART_MS_MIN;
    setTimeout(() => this.#restart(), this.#restartMs);
    this.#restartMs = Math.min(this.#restartMs * 2, RESTART_MS_MAX);
  }

  #restart(): void {
    // A fail point fires once: it simulates one death.
    if (this.#closing === null) this.#start({ ...this.#options, failPoint: null });
  }
}

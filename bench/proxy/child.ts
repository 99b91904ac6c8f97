import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** What a target says of itself. What it has not is zero. */
export type ChildStatus = {
  readonly waitingBytes: number;
  /** Requests that were not written down in full. */
  readonly missed: number;
  readonly requests: number;
  readonly managed: number;
  readonly rssBytes: number;
  readonly cpuMs: number;
  /** The 99th percentile of the event loop's delay since it was last asked. */
  readonly loopMs: number;
};

/** A process to send requests to. */
export class Child {
  readonly port: number;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, port: number) {
    this.#process = process;
    this.port = port;
  }

  static async start(file: string, ...args: readonly string[]): Promise<Child> {
    const child = fork(new URL(file, import.meta.url), args, { execArgv: ["--expose-gc"] });
    const [{ port }] = (await once(child, "message")) as [{ readonly port: number }];
    return new Child(child, port);
  }

  status(): Promise<ChildStatus> {
    return this.#ask("status");
  }

  /** The same after everything that is no longer needed was collected. */
  async memory(): Promise<ChildStatus> {
    await this.settled();
    return await this.#ask("memory");
  }

  async #ask(what: "status" | "memory"): Promise<ChildStatus> {
    const answer = once(this.#process, "message") as Promise<[ChildStatus]>;
    this.#process.send(what);
    return (await answer)[0];
  }

  /** What is still being written down must not be charged to whoever is measured next. */
  async settled(): Promise<ChildStatus> {
    for (;;) {
      const status = await this.status();
      if (status.waitingBytes === 0) return status;
      await sleep(5);
    }
  }

  end(): void {
    this.#process.disconnect();
  }
}

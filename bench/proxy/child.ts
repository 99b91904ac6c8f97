import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** The status of a target. Figures that a target does not have are 0. */
export type ChildStatus = {
  readonly waitingBytes: number;
  /** Requests that were not recorded in full. */
  readonly missed: number;
  readonly requests: number;
  readonly managed: number;
  readonly rssBytes: number;
  readonly cpuMs: number;
  /** The 99th percentile of the event loop's delay since the last status. */
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

  /** The status after garbage collection. */
  async memory(): Promise<ChildStatus> {
    await this.waitUntilRecorded();
    return await this.#ask("memory");
  }

  async #ask(query: "status" | "memory"): Promise<ChildStatus> {
    const answer = once(this.#process, "message") as Promise<[ChildStatus]>;
    this.#process.send(query);
    return (await answer)[0];
  }

  /** Waits until everything is recorded, so that it does not slow down the next measurement. */
  async waitUntilRecorded(): Promise<ChildStatus> {
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

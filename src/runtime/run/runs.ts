import type { StreamId } from "../../base/index.ts";
import type { PendingActivation } from "../activation.ts";
import type { RunEnd } from "./run-activation.ts";

/** An agent in a stream: it has at most one run there at a time. */
export type AgentInStream = { readonly agent: string; readonly stream: StreamId };

export type RunsDeps = {
  /** Maximum number of runs at the same time. */
  readonly runsMax: number;
  /** The activations in the order they run. */
  readonly pending: () => readonly PendingActivation[];
  readonly hasAgent: (agent: string) => boolean;
  /** Contract: the agent is known. */
  readonly start: (who: AgentInStream, signal: AbortSignal) => Promise<RunEnd>;
  readonly onFinished: (who: AgentInStream, end: RunEnd) => void;
};

type ActiveRun = AgentInStream & { readonly controller: AbortController; readonly ended: Promise<RunEnd> };

/** Starts and stops the runs of a space. */
export class Runs {
  readonly #deps: RunsDeps;
  readonly #active = new Map<string, ActiveRun>();
  /** Runs whose end the log refused: the log still holds them as pending, so they would restart for ever. */
  readonly #stuck = new Set<string>();
  #idleWaiters: (() => void)[] = [];
  #isClosed = false;

  constructor(deps: RunsDeps) {
    this.#deps = deps;
  }

  /** Starts pending runs up to `runsMax`, and lets those that wait for idle look again. */
  startPending(): void {
    for (const who of this.#isClosed ? [] : this.#runnable()) {
      if (this.#active.size < this.#deps.runsMax && !this.#active.has(keyOf(who))) this.#start(who);
    }
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const resolve of waiters) resolve();
  }

  /**
   * Restarts runs whose end the log refused: it has just accepted a frame, so it may accept their end too.
   */
  retry(): void {
    this.#stuck.clear();
    this.startPending();
  }

  isRunning(who: AgentInStream): boolean {
    return this.#active.has(keyOf(who));
  }

  async stop(who: AgentInStream): Promise<void> {
    const active = this.#active.get(keyOf(who));
    active?.controller.abort();
    await active?.ended;
  }

  /** Resolves when no selected run is active or pending. */
  async idle(isSelected: (who: AgentInStream) => boolean): Promise<void> {
    const isBusy = (): boolean =>
      !this.#isClosed && ([...this.#active.values()].some(isSelected) || this.#runnable().some(isSelected));
    while (isBusy()) await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.startPending();
    const active = [...this.#active.values()];
    for (const { controller } of active) controller.abort();
    await Promise.all(active.map(({ ended }) => ended));
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  #runnable(): readonly AgentInStream[] {
    const who = this.#deps
      .pending()
      .map(({ block: { stream }, activation: { agent } }): AgentInStream => ({ agent, stream }));
    return who.filter((one) => this.#deps.hasAgent(one.agent) && !this.#stuck.has(keyOf(one)));
  }

  #start(who: AgentInStream): void {
    const controller = new AbortController();
    const key = keyOf(who);
    // Starts in a later microtask, after the run is registered: listeners of its frames may record new
    // inputs.
    const ended = Promise.resolve()
      .then(() => this.#deps.start(who, controller.signal))
      .catch((): RunEnd => ({ is: "failed", isRecorded: false }));
    this.#active.set(key, { ...who, controller, ended });
    void ended.then((end) => {
      this.#active.delete(key);
      if (!end.isRecorded) this.#stuck.add(key);
      this.#deps.onFinished(who, end);
      this.startPending();
    });
  }
}

function keyOf({ agent, stream }: AgentInStream): string {
  return JSON.stringify([agent, stream]);
}

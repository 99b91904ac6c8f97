type QueuedWork<Label> = {
  readonly label: Label;
  readonly run: () => Promise<void>;
  readonly done: Promise<void>;
  readonly settle: () => void;
};

/** Messages and timers wait this long at most, unless one piece of work alone takes longer. */
const blockingMsMax = 4;

/**
 * Runs one piece of work after the other, in the order they were added, unless some are prioritized. Work
 * must not reject. However long the queue is, messages and timers get their turn in between.
 */
export class WorkQueue<Label> {
  #waiting: QueuedWork<Label>[] = [];
  #current: QueuedWork<Label> | null = null;
  #isRunning = false;

  add(label: Label, run: () => Promise<void>): Promise<void> {
    let settle: () => void = () => undefined;
    const done = new Promise<void>((resolve) => {
      settle = resolve;
    });
    this.#waiting.push({ label, run, done, settle });
    if (!this.#isRunning) void this.#runAll();
    return done;
  }

  /** Moves matching work to the front, keeping its order; resolves when it is done. */
  async prioritize(matches: (label: Label) => boolean): Promise<void> {
    const wanted = this.#waiting.filter(({ label }) => matches(label));
    const others = this.#waiting.filter(({ label }) => !matches(label));
    this.#waiting = [...wanted, ...others];
    const running = this.#current !== null && matches(this.#current.label) ? [this.#current] : [];
    await Promise.all([...running, ...wanted].map(({ done }) => done));
  }

  /** Resolves when all work added so far is done. */
  async idle(): Promise<void> {
    const running = this.#current === null ? [] : [this.#current];
    await Promise.all([...running, ...this.#waiting].map(({ done }) => done));
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    // Work added in the same tick is in the queue before the first piece starts.
    await Promise.resolve();
    let yieldedMs = performance.now();
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#current = next;
      await next.run();
      this.#current = null;
      next.settle();
      if (performance.now() - yieldedMs < blockingMsMax) continue;
      await new Promise((resume) => setImmediate(resume));
      yieldedMs = performance.now();
    }
    this.#isRunning = false;
  }
}

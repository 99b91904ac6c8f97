type Work<Label> = {
  readonly label: Label;
  readonly run: () => Promise<void>;
  readonly done: Promise<void>;
  readonly settle: () => void;
};

/** Longer than this nobody waits to be heard, unless one thing alone takes longer. */
const unheardMsMax = 4;

/**
 * Does one thing after the other, in the order it was given, except that some may be asked for sooner. What
 * is given must not reject. However much there is to do, messages and timers get their turn in between.
 */
export class WorkQueue<Label> {
  #waiting: Work<Label>[] = [];
  #running: Work<Label> | null = null;
  #isAtWork = false;

  add(label: Label, run: () => Promise<void>): Promise<void> {
    let settle: () => void = () => undefined;
    const done = new Promise<void>((resolve) => {
      settle = resolve;
    });
    this.#waiting.push({ label, run, done, settle });
    if (!this.#isAtWork) void this.#work();
    return done;
  }

  /** What matches is done before everything else that waits, in its order; resolves when it is done. */
  async hasten(matches: (label: Label) => boolean): Promise<void> {
    const wanted = this.#waiting.filter(({ label }) => matches(label));
    const others = this.#waiting.filter(({ label }) => !matches(label));
    this.#waiting = [...wanted, ...others];
    const running = this.#running !== null && matches(this.#running.label) ? [this.#running] : [];
    await Promise.all([...running, ...wanted].map(({ done }) => done));
  }

  /** Resolves when everything given so far is done. */
  async idle(): Promise<void> {
    const running = this.#running === null ? [] : [this.#running];
    await Promise.all([...running, ...this.#waiting].map(({ done }) => done));
  }

  async #work(): Promise<void> {
    this.#isAtWork = true;
    // Whoever gives several things gives them all before the first begins.
    await Promise.resolve();
    let heardMs = performance.now();
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#running = next;
      await next.run();
      this.#running = null;
      next.settle();
      if (performance.now() - heardMs < unheardMsMax) continue;
      await new Promise((resume) => setImmediate(resume));
      heardMs = performance.now();
    }
    this.#isAtWork = false;
  }
}

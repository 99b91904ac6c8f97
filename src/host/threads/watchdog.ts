/** How often the watchdog checks within the allowed time. */
const CHECKS = 10;
/** A stuck thread that spins on a busy machine also waits for a CPU, so the excuse is limited. */
const EXCUSED_TIMES_MAX = 5;

export type WatchdogOptions = {
  /** How long the thread may show no activity. */
  readonly ms: number;
  /** The same until the first activity: starting takes longer than anything after it. */
  readonly startMs: number;
  /** Milliseconds the watched thread has spent waiting for a CPU so far. */
  readonly cpuWaitMs: () => number;
};

/**
 * Calls back once when a thread shows no activity for too long. It counts its own checks and not the clock: a
 * process that slept, or was held up as a whole, is not stuck. Time that the thread waits for a CPU does not
 * count either, within bounds: a busy machine is not a stuck thread.
 */
export class Watchdog {
  readonly #options: WatchdogOptions;
  readonly #onStuck: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #checkMs: number;
  #wasActive = false;
  #allowedMs: number;
  /** Time since the last activity. */
  #silentMs = 0;
  #cpuWaitBeforeMs: number;

  constructor(options: WatchdogOptions, onStuck: () => void) {
    this.#options = options;
    this.#onStuck = onStuck;
    this.#checkMs = Math.ceil(options.ms / CHECKS);
    this.#allowedMs = options.startMs;
    this.#cpuWaitBeforeMs = options.cpuWaitMs();
    this.#timer = setInterval(() => this.#check(), this.#checkMs);
    this.#timer.unref();
  }

  noteActivity(): void {
    this.#wasActive = true;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const cpuWaitMs = this.#options.cpuWaitMs();
    if (this.#wasActive) {
      this.#wasActive = false;
      this.#allowedMs = this.#options.ms;
      this.#silentMs = 0;
      this.#cpuWaitBeforeMs = cpuWaitMs;
      return;
    }
    this.#silentMs += this.#checkMs;
    const excusedMs = Math.min(cpuWaitMs - this.#cpuWaitBeforeMs, this.#options.ms * EXCUSED_TIMES_MAX);
    if (this.#silentMs - excusedMs < this.#allowedMs) return;
    this.stop();
    this.#onStuck();
  }
}

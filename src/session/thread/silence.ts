/** How often it looks while the time runs. */
const LOOKS = 10;
/** A thread that spins on a busy machine waits too: no more than so many times the time is excused. */
const EXCUSED_TIMES = 5;

export type Watched = {
  /** So long nothing may be heard. */
  readonly ms: number;
  /** So long at first: starting takes longer than anything after it. */
  readonly startMs: number;
  /** Milliseconds the one who is silent has spent waiting for a processor so far. */
  readonly waitedMs: () => number;
};

/**
 * Calls back once when nothing was heard for too long. It counts its own looks and not the clock: a process
 * that slept, or was held up as a whole, has missed nothing. Time spent waiting for a processor does not
 * count either, within bounds: a busy machine is not a stuck thread.
 */
export class Silence {
  readonly #watched: Watched;
  readonly #tooLong: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #lookMs: number;
  #wasHeard = false;
  #allowedMs: number;
  /** Since something was last heard. */
  #silentMs = 0;
  #waitedBeforeMs: number;

  constructor(watched: Watched, tooLong: () => void) {
    this.#watched = watched;
    this.#tooLong = tooLong;
    this.#lookMs = Math.ceil(watched.ms / LOOKS);
    this.#allowedMs = watched.startMs;
    this.#waitedBeforeMs = watched.waitedMs();
    this.#timer = setInterval(() => this.#look(), this.#lookMs);
    this.#timer.unref();
  }

  heard(): void {
    this.#wasHeard = true;
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const waitedMs = this.#watched.waitedMs();
    if (this.#wasHeard) {
      this.#wasHeard = false;
      this.#allowedMs = this.#watched.ms;
      this.#silentMs = 0;
      this.#waitedBeforeMs = waitedMs;
      return;
    }
    this.#silentMs += this.#lookMs;
    const excusedMs = Math.min(waitedMs - this.#waitedBeforeMs, this.#watched.ms * EXCUSED_TIMES);
    if (this.#silentMs - excusedMs < this.#allowedMs) return;
    this.end();
    this.#tooLong();
  }
}

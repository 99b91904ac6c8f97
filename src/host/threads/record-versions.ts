const streamsMax = 10_000;

/**
 * A version per stream, which changes whenever the log may have lost something of that stream. The planner
 * then reports the whole stream again.
 */
export class RecordVersions {
  readonly #bumps = new Map<string, number>();
  #all = 0;

  versionOf(stream: string): number {
    return this.#all + (this.#bumps.get(stream) ?? 0);
  }

  bump(stream: string): void {
    this.#bumps.set(stream, (this.#bumps.get(stream) ?? 0) + 1);
    if (this.#bumps.size > streamsMax) this.bumpAll();
  }

  /** Something of an unknown stream was lost. Contract: no stream ever gets the same version twice. */
  bumpAll(): void {
    this.#all += 1 + Math.max(0, ...this.#bumps.values());
    this.#bumps.clear();
  }
}

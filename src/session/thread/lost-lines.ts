const linesMax = 10_000;

/**
 * What has to be told again, because the record may have lost it: a number for each line, another one
 * whenever something of that line, or of any, went missing.
 */
export class LostLines {
  readonly #lines = new Map<string, number>();
  #all = 0;

  numberOf(line: string): number {
    return this.#all + (this.#lines.get(line) ?? 0);
  }

  lose(line: string): void {
    this.#lines.set(line, (this.#lines.get(line) ?? 0) + 1);
    if (this.#lines.size > linesMax) this.loseAll();
  }

  /** Nobody knows whose it was. Contract of the numbers: none is ever given twice. */
  loseAll(): void {
    this.#all += 1 + Math.max(0, ...this.#lines.values());
    this.#lines.clear();
  }
}

import type { Bill } from "./cache.ts";

/**
 * What the model pays to get back what was left out: it asks, which reads the whole prompt once more, and is
 * shown an excerpt at the end, which is written and from then on carried.
 */
export class ExpandCharge {
  readonly #excerpt: number;
  readonly #restored = new Set<string>();
  #carried = 0;

  /** In tokens. */
  constructor(excerpt: number) {
    this.#excerpt = excerpt;
  }

  /** What the client dropped from its history, it drops with what was shown there. */
  startOver(): void {
    this.#restored.clear();
    this.#carried = 0;
  }

  /** Of the names that an answer missed, those that were not shown again yet. */
  stillMissed(names: readonly string[]): readonly string[] {
    return names.filter((name) => !this.#restored.has(name));
  }

  /** For one request: its own prompt, and the names its answer misses. */
  bill({ read, written, fresh }: Bill, missed: readonly string[]): Bill {
    const prompt = read + written + fresh;
    const carried = this.#carried;
    const isCold = read === 0;
    const asked =
      missed.length === 0 ? { read: 0, written: 0 } : { read: prompt + carried, written: this.#excerpt };
    for (const name of missed) this.#restored.add(name);
    this.#carried += asked.written;
    return {
      read: asked.read + (isCold ? 0 : carried),
      written: asked.written + (isCold ? carried : 0),
      fresh: 0,
    };
  }
}

import type { TokenBill } from "./simulated-cache.ts";

/**
 * The cost of getting missed content back: the model asks for it, which reads the whole prompt once more, and
 * gets an excerpt at the end, which is written and carried from then on.
 */
export class ExpandCharge {
  readonly #excerptTokens: number;
  readonly #restored = new Set<string>();
  #carried = 0;

  constructor(excerptTokens: number) {
    this.#excerptTokens = excerptTokens;
  }

  /** Forgets all excerpts: a client that drops its history drops them too. */
  reset(): void {
    this.#restored.clear();
    this.#carried = 0;
  }

  /** Those of the missed names that no excerpt has shown yet. */
  stillMissed(names: readonly string[]): readonly string[] {
    return names.filter((name) => !this.#restored.has(name));
  }

  /** The extra cost of one request, by the bill of its prompt and the names its answer misses. */
  bill({ read, written, fresh }: TokenBill, missed: readonly string[]): TokenBill {
    const prompt = read + written + fresh;
    const carried = this.#carried;
    const isCold = read === 0;
    const expand =
      missed.length === 0
        ? { read: 0, written: 0 }
        : { read: prompt + carried, written: this.#excerptTokens };
    for (const name of missed) this.#restored.add(name);
    this.#carried += expand.written;
    return {
      read: expand.read + (isCold ? 0 : carried),
      written: expand.written + (isCold ? carried : 0),
      fresh: 0,
    };
  }
}

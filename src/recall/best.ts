/** The best of many, in order, without sorting them all. */
export class Best<T> {
  readonly #max: number;
  readonly #compare: (a: T, b: T) => number;
  readonly #all: T[] = [];

  /** `compare` is below zero where the first is better. */
  constructor(max: number, compare: (a: T, b: T) => number) {
    this.#max = max;
    this.#compare = compare;
  }

  add(one: T): void {
    const all = this.#all;
    const last = all.at(-1);
    if (all.length >= this.#max && (last === undefined || this.#compare(last, one) <= 0)) return;
    let at = all.length;
    for (
      let before = all[at - 1];
      before !== undefined && this.#compare(one, before) < 0;
      before = all[at - 1]
    ) {
      at -= 1;
    }
    all.splice(at, 0, one);
    if (all.length > this.#max) all.pop();
  }

  all(): readonly T[] {
    return this.#all;
  }

  /** The worst that is kept, once there are as many as wanted. */
  last(): T | null {
    return this.#all.length < this.#max ? null : (this.#all.at(-1) ?? null);
  }
}

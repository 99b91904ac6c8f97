/** Keeps the best items in order, without sorting items of them. */
export class TopList<T> {
  readonly #max: number;
  readonly #compare: (a: T, b: T) => number;
  readonly #items: T[] = [];

  /** `compare` is negative if the first item is better. */
  constructor(max: number, compare: (a: T, b: T) => number) {
    this.#max = max;
    this.#compare = compare;
  }

  add(one: T): void {
    const items = this.#items;
    const last = items.at(-1);
    if (items.length >= this.#max && (last === undefined || this.#compare(last, one) <= 0)) return;
    let at = items.length;
    for (
      let before = items[at - 1];
      before !== undefined && this.#compare(one, before) < 0;
      before = items[at - 1]
    ) {
      at -= 1;
    }
    items.splice(at, 0, one);
    if (items.length > this.#max) items.pop();
  }

  items(): readonly T[] {
    return this.#items;
  }

  /** The worst item of a full list. Null if the list is not full. */
  last(): T | null {
    return this.#items.length < this.#max ? null : (this.#items.at(-1) ?? null);
  }
}

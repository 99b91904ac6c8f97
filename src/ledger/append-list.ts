import { assert } from "../base/index.ts";

/**
 * An immutable list that shares its items with the lists it was made from. Appending to the longest list of
 * a family writes behind the end that all others know, so no list ever changes and nothing is copied.
 * Appending to a shorter one copies it.
 */
export class AppendList<T> {
  readonly length: number;
  readonly #items: T[];

  private constructor(items: T[], length: number) {
    this.#items = items;
    this.length = length;
  }

  static of<T>(items: readonly T[]): AppendList<T> {
    return new AppendList([...items], items.length);
  }

  at(index: number): T | undefined {
    return index >= 0 && index < this.length ? this.#items[index] : undefined;
  }

  get last(): T | undefined {
    return this.at(this.length - 1);
  }

  /** The first items, without copying them. */
  first(count: number): AppendList<T> {
    assert(count >= 0 && count <= this.length, "a prefix is no longer than its list");
    return count === this.length ? this : new AppendList(this.#items, count);
  }

  append(more: readonly T[]): AppendList<T> {
    if (more.length === 0) return this;
    // Empty lists are shared by many, so none of them gives its memory away.
    const isLongest = this.length > 0 && this.#items.length === this.length;
    const items = isLongest ? this.#items : this.#items.slice(0, this.length);
    for (const item of more) items.push(item);
    return new AppendList(items, items.length);
  }

  *[Symbol.iterator](): Generator<T> {
    for (let at = 0; at < this.length; at += 1) yield this.#items[at] as T; // below the length all are set
  }
}

import { assert, must, type Seq } from "../base/index.ts";

const BITS = 5;
const WIDTH = 1 << BITS;
const MASK = WIDTH - 1;

/** How many entries a page holds. Snapshots store pages, so this is part of the format. */
export const pageEntries = WIDTH;

type Items<T> = readonly (T | undefined)[];
type Branch<T> = readonly (Branch<T> | Page<T> | undefined)[];

/**
 * A run of entries. A page read from a snapshot is decoded when it is first looked at, which for most is
 * never.
 */
export class Page<T> {
  #items: Items<T> | null;
  #load: (() => Items<T>) | null;

  constructor(source: Items<T> | (() => Items<T>)) {
    this.#items = typeof source === "function" ? null : source;
    this.#load = typeof source === "function" ? source : null;
  }

  get items(): Items<T> {
    if (this.#items === null) {
      assert(this.#load !== null, "a page has items or a way to load them");
      this.#items = this.#load();
      this.#load = null;
    }
    return this.#items;
  }
}

/**
 * An immutable table keyed by small whole numbers. A change copies one page and the short path to it and
 * shares the rest, so an old table stays as it was at no cost, and keeping one for every frame costs what
 * changed.
 */
export class Paged<T> {
  readonly size: number;
  readonly #height: number;
  readonly #root: Branch<T> | Page<T> | undefined;

  private constructor(size: number, height: number, root: Branch<T> | Page<T> | undefined) {
    this.size = size;
    this.#height = height;
    this.#root = root;
  }

  static empty<T>(): Paged<T> {
    return new Paged<T>(0, 0, undefined);
  }

  get(index: number): T | undefined {
    if (index < 0 || index >= this.size) return undefined;
    let node = this.#root;
    for (let height = this.#height; height > 0 && node !== undefined; height -= 1) {
      node = (node as Branch<T>)[(index >>> (height * BITS)) & MASK];
    }
    return (node as Page<T> | undefined)?.items[index & MASK];
  }

  get last(): T | undefined {
    return this.get(this.size - 1);
  }

  with(index: number, value: T): Paged<T> {
    assert(
      Number.isSafeInteger(index) && index >= 0 && index < 2 ** 30,
      "a table index is a small whole number",
    );
    let height = this.#height;
    let root = this.#root;
    while (index >= WIDTH ** (height + 1)) {
      root = raised(root, 1);
      height += 1;
    }
    return new Paged(Math.max(this.size, index + 1), height, withEntry({ node: root, height, index, value }));
  }

  push(value: T): Paged<T> {
    return this.with(this.size, value);
  }

  /** The entries that are there, in order. */
  *entries(): Generator<readonly [number, T]> {
    for (const [pageIndex, page] of this.pages()) {
      for (const [offset, value] of page.items.entries()) {
        if (value !== undefined) yield [pageIndex * WIDTH + offset, value];
      }
    }
  }

  /** The pages that are there, in order, each with its number. */
  pages(): Generator<readonly [number, Page<T>]> {
    return pagesOf({ node: this.#root, height: this.#height, index: 0 });
  }

  /**
   * Where the entries are not the very same as in another table. What the two share is passed over, so for a
   * table and an earlier one of its own the cost is what changed in between.
   */
  changesSince(earlier: Paged<T>): Generator<number> {
    const height = Math.max(this.#height, earlier.#height);
    const before = raised(earlier.#root, height - earlier.#height);
    return changesBetween({ before, node: raised(this.#root, height - this.#height), height, index: 0 });
  }

  static fromPages<T>(size: number, pages: Iterable<readonly [number, Page<T>]>): Paged<T> {
    let nodes = new Map<number, Branch<T> | Page<T>>(pages);
    let height = 0;
    while (size > WIDTH ** (height + 1)) {
      nodes = branchesOver(nodes);
      height += 1;
    }
    return new Paged(size, height, nodes.get(0));
  }
}

/**
 * The last entry of a table in seq order that is not after `seq`; -1 if none. Frames come evenly enough that
 * a guess by proportion lands near, and a search in doubling steps from there is short however long the
 * table.
 */
export function lastUpTo<T extends { readonly seq: Seq }>(table: Paged<T>, seq: Seq): number {
  const newest = table.last;
  if (newest === undefined || newest.seq <= seq) return table.size - 1;
  const isUpTo = (index: number): boolean => index < 0 || must(table.get(index), "no gaps").seq <= seq;
  const guess = Math.floor((table.size - 1) * (seq / newest.seq));
  return isUpTo(guess) ? searchUp(guess, table.size - 1, isUpTo) : searchDown(guess, isUpTo);
}

type Test = (index: number) => boolean;

/** `low` passes, `end` does not. */
function searchUp(low: number, end: number, passes: Test): number {
  let [from, to] = [low, Math.min(low + 1, end)];
  for (let step = 2; to < end && passes(to); step *= 2) [from, to] = [to, Math.min(to + step, end)];
  return lastBetween(from, to, passes);
}

/** `high` does not pass; before the first index everything does. */
function searchDown(high: number, passes: Test): number {
  let [from, to] = [Math.max(high - 1, -1), high];
  for (let step = 2; !passes(from); step *= 2) [from, to] = [Math.max(from - step, -1), from];
  return lastBetween(from, to, passes);
}

function lastBetween(from: number, to: number, passes: Test): number {
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (passes(middle)) low = middle;
    else high = middle;
  }
  return low;
}

type Node<T> = Branch<T> | Page<T> | undefined;
type Place<T> = {
  readonly node: Node<T>;
  readonly height: number;
  readonly index: number;
};

function withEntry<T>({ node, height, index, value }: Place<T> & { readonly value: T }): Branch<T> | Page<T> {
  if (height === 0) {
    const items = node === undefined ? [] : [...(node as Page<T>).items];
    items[index & MASK] = value;
    return new Page(dense(items));
  }
  const children = node === undefined ? [] : [...(node as Branch<T>)];
  const slot = (index >>> (height * BITS)) & MASK;
  children[slot] = withEntry({ node: children[slot], height: height - 1, index, value });
  return dense(children);
}

/** The same entries under so many more floors. */
function raised<T>(node: Node<T>, floors: number): Node<T> {
  let top = node;
  for (let floor = 0; floor < floors && top !== undefined; floor += 1) top = [top];
  return top;
}

/** Holes make arrays slow and copies of them uneven; `undefined` does not. */
function dense<I>(items: (I | undefined)[]): (I | undefined)[] {
  return Array.from(items);
}

function* pagesOf<T>({ node, height, index }: Place<T>): Generator<readonly [number, Page<T>]> {
  if (node === undefined) return;
  if (height === 0) {
    yield [index, node as Page<T>];
    return;
  }
  for (const [slot, child] of (node as Branch<T>).entries()) {
    yield* pagesOf({ node: child, height: height - 1, index: index * WIDTH + slot });
  }
}

function* changesBetween<T>(place: Place<T> & { readonly before: Node<T> }): Generator<number> {
  const { before, node, height, index } = place;
  if (before === node) return;
  for (let slot = 0; slot < WIDTH; slot += 1) {
    const at = index * WIDTH + slot;
    if (height === 0) {
      if ((before as Page<T> | undefined)?.items[slot] !== (node as Page<T> | undefined)?.items[slot])
        yield at;
      continue;
    }
    const [old, child] = [(before as Branch<T> | undefined)?.[slot], (node as Branch<T> | undefined)?.[slot]];
    if (old !== child) yield* changesBetween({ before: old, node: child, height: height - 1, index: at });
  }
}

function branchesOver<T>(nodes: ReadonlyMap<number, Branch<T> | Page<T>>): Map<number, Branch<T> | Page<T>> {
  const branches = new Map<number, (Branch<T> | Page<T> | undefined)[]>();
  for (const [index, node] of nodes) {
    const children = branches.get(index >>> BITS) ?? [];
    children[index & MASK] = node;
    branches.set(index >>> BITS, children);
  }
  return new Map([...branches].map(([index, children]) => [index, dense(children)]));
}

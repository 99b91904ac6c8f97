import { assert, must } from "./assert.ts";
import type { Seq } from "./ids.ts";

const BITS = 5;
/** The number of entries in a page. Snapshots store pages, so this is part of the format. */
export const pageEntries = 1 << BITS;
const MASK = pageEntries - 1;

type PageItems<T> = readonly (T | undefined)[];
type TableBranch<T> = readonly (TableBranch<T> | TablePage<T> | undefined)[];

/**
 * Consecutive entries of a table. A page read from a snapshot is decoded when it is first read, which for
 * most pages is never.
 */
export class TablePage<T> {
  #items: PageItems<T> | null;
  #load: (() => PageItems<T>) | null;

  constructor(source: PageItems<T> | (() => PageItems<T>)) {
    this.#items = typeof source === "function" ? null : source;
    this.#load = typeof source === "function" ? source : null;
  }

  get items(): PageItems<T> {
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
export class PagedTable<T> {
  readonly size: number;
  readonly #height: number;
  readonly #root: TableBranch<T> | TablePage<T> | undefined;

  private constructor(size: number, height: number, root: TableBranch<T> | TablePage<T> | undefined) {
    this.size = size;
    this.#height = height;
    this.#root = root;
  }

  static empty<T>(): PagedTable<T> {
    return new PagedTable<T>(0, 0, undefined);
  }

  get(index: number): T | undefined {
    if (index < 0 || index >= this.size) return undefined;
    let node = this.#root;
    for (let height = this.#height; height > 0 && node !== undefined; height -= 1) {
      node = (node as TableBranch<T>)[(index >>> (height * BITS)) & MASK];
    }
    return (node as TablePage<T> | undefined)?.items[index & MASK];
  }

  get last(): T | undefined {
    return this.get(this.size - 1);
  }

  with(index: number, value: T): PagedTable<T> {
    assert(
      Number.isSafeInteger(index) && index >= 0 && index < 2 ** 30,
      "a table index is a small whole number",
    );
    let height = this.#height;
    let root = this.#root;
    while (index >= pageEntries ** (height + 1)) {
      root = raiseTree(root, 1);
      height += 1;
    }
    return new PagedTable(
      Math.max(this.size, index + 1),
      height,
      withEntry({ node: root, height, index, value }),
    );
  }

  push(value: T): PagedTable<T> {
    return this.with(this.size, value);
  }

  /** Sets or clears several entries, and copies each page only once. The size never shrinks. */
  withAll(entries: Iterable<readonly [index: number, value: T | undefined]>): PagedTable<T> {
    const pages = new Map<number, (T | undefined)[]>();
    let size = this.size;
    for (const [index, value] of entries) {
      const number = index >>> BITS;
      const items = pages.get(number) ?? [...(this.#page(number)?.items ?? [])];
      pages.set(number, items);
      while (items.length < (index & MASK)) items.push(undefined);
      items[index & MASK] = value;
      size = Math.max(size, index + 1);
    }
    let [height, root] = [this.#height, this.#root];
    while (size > pageEntries ** (height + 1)) [height, root] = [height + 1, raiseTree(root, 1)];
    for (const [number, items] of pages)
      root = withPage({ node: root, height, index: number * pageEntries, value: new TablePage(items) });
    return new PagedTable(size, height, root);
  }

  #page(number: number): TablePage<T> | undefined {
    if (number * pageEntries >= this.size) return undefined;
    let node = this.#root;
    for (let height = this.#height; height > 0 && node !== undefined; height -= 1)
      node = (node as TableBranch<T>)[(number >>> ((height - 1) * BITS)) & MASK];
    return node as TablePage<T> | undefined;
  }

  /** The entries that are set, in order. */
  *entries(): Generator<readonly [number, T]> {
    for (const [pageIndex, page] of this.pages()) {
      for (const [offset, value] of page.items.entries()) {
        if (value !== undefined) yield [pageIndex * pageEntries + offset, value];
      }
    }
  }

  /** The pages that exist, in order, each with its number. */
  pages(): Generator<readonly [number, TablePage<T>]> {
    return pagesOf({ node: this.#root, height: this.#height, index: 0 });
  }

  /**
   * The indexes of entries that are not identical to those of another table. Shared nodes are skipped, so
   * comparing a table with an earlier version of itself costs what changed in between.
   */
  changesSince(earlier: PagedTable<T>): Generator<number> {
    const height = Math.max(this.#height, earlier.#height);
    const before = raiseTree(earlier.#root, height - earlier.#height);
    return changesBetween({ before, node: raiseTree(this.#root, height - this.#height), height, index: 0 });
  }

  static fromPages<T>(size: number, pages: Iterable<readonly [number, TablePage<T>]>): PagedTable<T> {
    let nodes = new Map<number, TableBranch<T> | TablePage<T>>(pages);
    let height = 0;
    while (size > pageEntries ** (height + 1)) {
      nodes = branchesOver(nodes);
      height += 1;
    }
    return new PagedTable(size, height, nodes.get(0));
  }
}

/**
 * The index of the last entry, in a table in seq order, that is not after `seq`; -1 if there is none. Frames
 * come evenly enough that a guess by proportion lands near, and a search in doubling steps from there is
 * short however long the table is.
 */
export function lastIndexUpTo<T extends { readonly seq: Seq }>(table: PagedTable<T>, seq: Seq): number {
  const newest = table.last;
  if (newest === undefined || newest.seq <= seq) return table.size - 1;
  const isUpTo = (index: number): boolean => index < 0 || must(table.get(index), "no gaps").seq <= seq;
  const guess = Math.floor((table.size - 1) * (seq / newest.seq));
  return isUpTo(guess) ? searchUp(guess, table.size - 1, isUpTo) : searchDown(guess, isUpTo);
}

type IndexTest = (index: number) => boolean;

/** `low` passes, `end` does not. */
function searchUp(low: number, end: number, passes: IndexTest): number {
  let [from, to] = [low, Math.min(low + 1, end)];
  for (let step = 2; to < end && passes(to); step *= 2) [from, to] = [to, Math.min(to + step, end)];
  return lastBetween(from, to, passes);
}

/** `high` does not pass; before the first index everything does. */
function searchDown(high: number, passes: IndexTest): number {
  let [from, to] = [Math.max(high - 1, -1), high];
  for (let step = 2; !passes(from); step *= 2) [from, to] = [Math.max(from - step, -1), from];
  return lastBetween(from, to, passes);
}

function lastBetween(from: number, to: number, passes: IndexTest): number {
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (passes(middle)) low = middle;
    else high = middle;
  }
  return low;
}

type TableNode<T> = TableBranch<T> | TablePage<T> | undefined;
type NodePosition<T> = {
  readonly node: TableNode<T>;
  readonly height: number;
  readonly index: number;
};

function withEntry<T>({
  node,
  height,
  index,
  value,
}: NodePosition<T> & { readonly value: T }): TableBranch<T> | TablePage<T> {
  if (height === 0) {
    const items = node === undefined ? [] : [...(node as TablePage<T>).items];
    items[index & MASK] = value;
    return new TablePage(denseArray(items));
  }
  const children = node === undefined ? [] : [...(node as TableBranch<T>)];
  const slot = (index >>> (height * BITS)) & MASK;
  children[slot] = withEntry({ node: children[slot], height: height - 1, index, value });
  return denseArray(children);
}

function withPage<T>({
  node,
  height,
  index,
  value,
}: NodePosition<T> & { readonly value: TablePage<T> }): TableBranch<T> | TablePage<T> {
  if (height === 0) return value;
  const children = node === undefined ? [] : [...(node as TableBranch<T>)];
  const slot = (index >>> (height * BITS)) & MASK;
  children[slot] = withPage({ node: children[slot], height: height - 1, index, value });
  return denseArray(children);
}

/** Puts the same entries under this many more levels of branches. */
function raiseTree<T>(node: TableNode<T>, levels: number): TableNode<T> {
  let root = node;
  for (let level = 0; level < levels && root !== undefined; level += 1) root = [root];
  return root;
}

/** Holes make arrays slow and copies of them uneven; `undefined` does not. */
function denseArray<I>(items: (I | undefined)[]): (I | undefined)[] {
  return Array.from(items);
}

function* pagesOf<T>({ node, height, index }: NodePosition<T>): Generator<readonly [number, TablePage<T>]> {
  if (node === undefined) return;
  if (height === 0) {
    yield [index, node as TablePage<T>];
    return;
  }
  for (const [slot, child] of (node as TableBranch<T>).entries()) {
    yield* pagesOf({ node: child, height: height - 1, index: index * pageEntries + slot });
  }
}

function* changesBetween<T>(
  position: NodePosition<T> & { readonly before: TableNode<T> },
): Generator<number> {
  const { before, node, height, index } = position;
  if (before === node) return;
  for (let slot = 0; slot < pageEntries; slot += 1) {
    const at = index * pageEntries + slot;
    if (height === 0) {
      if (
        (before as TablePage<T> | undefined)?.items[slot] !== (node as TablePage<T> | undefined)?.items[slot]
      )
        yield at;
      continue;
    }
    const [old, child] = [
      (before as TableBranch<T> | undefined)?.[slot],
      (node as TableBranch<T> | undefined)?.[slot],
    ];
    if (old !== child) yield* changesBetween({ before: old, node: child, height: height - 1, index: at });
  }
}

function branchesOver<T>(
  nodes: ReadonlyMap<number, TableBranch<T> | TablePage<T>>,
): Map<number, TableBranch<T> | TablePage<T>> {
  const branches = new Map<number, (TableBranch<T> | TablePage<T> | undefined)[]>();
  for (const [index, node] of nodes) {
    const children = branches.get(index >>> BITS) ?? [];
    children[index & MASK] = node;
    branches.set(index >>> BITS, children);
  }
  return new Map([...branches].map(([index, children]) => [index, denseArray(children)]));
}

import type { KnownBlock } from "../exchange/index.ts";

/** A block with the key of its unit. */
export type KeyedBlock = KnownBlock & { readonly key: string };

/** The blocks of each key in the order they became known, each with its position among all blocks. */
type BlockIndex = {
  readonly byKey: Map<string, { readonly at: number; readonly known: KnownBlock }[]>;
  count: number;
};

/**
 * The blocks of a stream by the key of their unit; an immutable value. Like an `AppendList` it shares its
 * index with the values it was made from: a value sees only the blocks that were known when it was made.
 */
export class BlocksByKey {
  readonly #index: BlockIndex;
  readonly #count: number;

  private constructor(index: BlockIndex) {
    this.#index = index;
    this.#count = index.count;
  }

  static empty(): BlocksByKey {
    return new BlocksByKey({ byKey: new Map(), count: 0 });
  }

  has(key: string): boolean {
    return this.find(key, 0) !== null;
  }

  /** The nth block with this key. */
  find(key: string, nth: number): KnownBlock | null {
    const entry = this.#index.byKey.get(key)?.[nth];
    return entry === undefined || entry.at >= this.#count ? null : entry.known;
  }

  /** Adds blocks. A block that its key already has is not added again. */
  with(blocks: readonly KeyedBlock[]): BlocksByKey {
    if (blocks.length === 0) return this;
    const index = this.#index.count === this.#count ? this.#index : this.#copy();
    for (const { key, block, message, turn } of blocks) addBlock(index, key, { block, message, turn });
    return new BlocksByKey(index);
  }

  *[Symbol.iterator](): Generator<KeyedBlock> {
    for (const [key, entries] of this.#index.byKey) {
      for (const { at, known } of entries) if (at < this.#count) yield { key, ...known };
    }
  }

  /** An index of its own, without the blocks that a later value has added. */
  #copy(): BlockIndex {
    const index: BlockIndex = { byKey: new Map(), count: 0 };
    for (const { key, ...known } of this) addBlock(index, key, known);
    return index;
  }
}

function addBlock(index: BlockIndex, key: string, known: KnownBlock): void {
  const entries = index.byKey.get(key) ?? [];
  if (entries.some((entry) => entry.known.block === known.block)) return;
  entries.push({ at: index.count, known });
  index.byKey.set(key, entries);
  index.count += 1;
}

import { type ContentHash, hashContent, must, ok, type Result } from "../base/index.ts";
import type { HashedContent, Store } from "../store/index.ts";

/** Upper limit of the cache: the content used last stays, older content is read from the store again. */
const cacheBytesMax = 32 * 1024 * 1024;

export type ContentReader = (hash: ContentHash) => Uint8Array;

/** Caches the content of blocks by hash, so that recent blocks are read from memory. */
export class ContentCache {
  readonly #store: Store;
  readonly #cached = new Map<ContentHash, Uint8Array>();
  #bytes = 0;
  #holders = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Hashes content that will be stored with a frame; it can be read from now on. */
  add(bytes: Uint8Array): HashedContent {
    const hash = hashContent(bytes);
    this.#cache(hash, bytes);
    return { hash, bytes };
  }

  /** Null if the content is not in the cache. */
  cached(hash: ContentHash): Uint8Array | null {
    return this.#cached.get(hash) ?? null;
  }

  /** Loads these contents and returns a reader of them, and of no others. */
  async load(hashes: Iterable<ContentHash>): Promise<Result<ContentReader>> {
    const found = new Map<ContentHash, Uint8Array>();
    let isFlushed = false;
    for (const hash of hashes) {
      const cached = this.#cached.get(hash);
      if (cached === undefined && !isFlushed) await this.#store.flush();
      isFlushed ||= cached === undefined;
      const read = cached === undefined ? await this.#store.content(hash) : ok(cached);
      if (!read.ok) return read;
      if (cached === undefined) this.#cache(hash, read.value);
      found.set(hash, read.value);
    }
    return ok((hash) => must(found.get(hash), "only what was asked for is read"));
  }

  async content(hash: ContentHash): Promise<Result<Uint8Array>> {
    const read = await this.load([hash]);
    return read.ok ? ok(read.value(hash)) : read;
  }

  /** Keeps everything in the cache from now on, until the returned function is called. */
  hold(): () => void {
    this.#holders += 1;
    return () => {
      this.#holders -= 1;
      this.#evict();
    };
  }

  #cache(hash: ContentHash, bytes: Uint8Array): void {
    if (this.#cached.has(hash)) return;
    this.#cached.set(hash, bytes);
    this.#bytes += bytes.length;
    this.#evict();
  }

  /** Drops the oldest content beyond the limit; the newest stays, whatever its size. */
  #evict(): void {
    if (this.#holders > 0) return;
    for (const [oldest, { length }] of this.#cached) {
      if (this.#bytes <= cacheBytesMax || this.#cached.size === 1) break;
      this.#cached.delete(oldest);
      this.#bytes -= length;
    }
  }
}

import { type ContentHash, hashContent, must, ok, type Result } from "../base/index.ts";
import type { Content, Store } from "../store/index.ts";

/** So much is kept of what was read or written of late; the rest is read again. */
const keptBytesMax = 32 * 1024 * 1024;

export type ReadContent = (hash: ContentHash) => Uint8Array;

/** The words of blocks, by their hash: what is being talked about stays in memory. */
export class Contents {
  readonly #store: Store;
  readonly #kept = new Map<ContentHash, Uint8Array>();
  #bytes = 0;
  #holders = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** A content to be stored with a frame, which from here on can be read. */
  keep(bytes: Uint8Array): Content {
    const hash = hashContent(bytes);
    this.#remember(hash, bytes);
    return { hash, bytes };
  }

  /** What has just been written, or null. */
  latest(hash: ContentHash): Uint8Array | null {
    return this.#kept.get(hash) ?? null;
  }

  /** A reader of these contents, and of no others. */
  async reader(hashes: Iterable<ContentHash>): Promise<Result<ReadContent>> {
    const found = new Map<ContentHash, Uint8Array>();
    let isFlushed = false;
    for (const hash of hashes) {
      const kept = this.#kept.get(hash);
      if (kept === undefined && !isFlushed) await this.#store.flush();
      isFlushed ||= kept === undefined;
      const read = kept === undefined ? await this.#store.content(hash) : ok(kept);
      if (!read.ok) return read;
      if (kept === undefined) this.#remember(hash, read.value);
      found.set(hash, read.value);
    }
    return ok((hash) => must(found.get(hash), "only what was asked for is read"));
  }

  /** From now on nothing is let go that was read, until what is returned is called. */
  hold(): () => void {
    this.#holders += 1;
    return () => {
      this.#holders -= 1;
      this.#letGo();
    };
  }

  #remember(hash: ContentHash, bytes: Uint8Array): void {
    if (this.#kept.has(hash)) return;
    this.#kept.set(hash, bytes);
    this.#bytes += bytes.length;
    this.#letGo();
  }

  /** The oldest, as far as it is too much; the newest stays, whatever its size. */
  #letGo(): void {
    if (this.#holders > 0) return;
    for (const [oldest, { length }] of this.#kept) {
      if (this.#bytes <= keptBytesMax || this.#kept.size === 1) break;
      this.#kept.delete(oldest);
      this.#bytes -= length;
    }
  }
}

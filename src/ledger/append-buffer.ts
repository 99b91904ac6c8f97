import { assert } from "../base/index.ts";

const capacityMin = 16_384;

/**
 * Bytes that grow at their end and never change otherwise, in memory that other threads may read. The buffer
 * reserves room in advance, so appending takes time in proportion to the appended bytes.
 */
export class AppendBuffer {
  #bytes: Buffer;
  #used = 0;

  constructor(capacity: number = capacityMin) {
    this.#bytes = sharedBuffer(Math.max(capacityMin, capacity));
  }

  /** Copies the first bytes of another buffer, to continue with other bytes. */
  static fork(source: AppendBuffer, length: number): AppendBuffer {
    const buffer = new AppendBuffer(Math.ceil(length * 1.25));
    buffer.append(source.slice(0, length));
    return buffer;
  }

  get length(): number {
    return this.#used;
  }

  get capacity(): number {
    return this.#bytes.length;
  }

  /** Makes room for this many more bytes at once instead of step by step. */
  reserve(bytes: number): void {
    const needed = this.#used + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = sharedBuffer(Math.ceil(needed * 1.25));
    larger.set(this.#bytes.subarray(0, this.#used));
    this.#bytes = larger;
  }

  append(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.#bytes.set(bytes, this.#used);
    this.#used += bytes.length;
  }

  /** Returns a view whose bytes never change, whatever is appended later. */
  slice(start: number, end: number): Buffer {
    assert(end <= this.#used, "only what was written can be read");
    return this.#bytes.subarray(start, end);
  }
}

function sharedBuffer(bytes: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(bytes));
}

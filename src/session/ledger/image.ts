import { assert } from "../../base/index.ts";

const capacityMin = 16_384;

/**
 * Bytes that grow at their end and never change otherwise, in memory that other threads may read. Appending
 * costs what is appended: room is made in advance.
 */
export class Image {
  #bytes: Buffer;
  #used = 0;

  constructor(capacity: number = capacityMin) {
    this.#bytes = sharedBuffer(Math.max(capacityMin, capacity));
  }

  /** The beginning of another one, to go on differently. */
  static fork(of: Image, length: number): Image {
    const image = new Image(Math.ceil(length * 1.25));
    image.append(of.slice(0, length));
    return image;
  }

  get length(): number {
    return this.#used;
  }

  get capacity(): number {
    return this.#bytes.length;
  }

  /** Makes room for so many bytes more, at once instead of step by step. */
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

  /** A view that stays true whatever is appended later. */
  slice(start: number, end: number): Buffer {
    assert(end <= this.#used, "only what was written can be read");
    return this.#bytes.subarray(start, end);
  }
}

function sharedBuffer(bytes: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(bytes));
}

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

  append(bytes: Uint8Array): void {
    const needed = this.#used + bytes.length;
    if (needed > this.#bytes.length) {
      const larger = sharedBuffer(Math.ceil(needed * 1.25));
      larger.set(this.#bytes.subarray(0, this.#used));
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.#used);
    this.#used = needed;
  }

  /** A view that stays true whatever is appended later. */
  slice(start: number, end: number): Buffer {
    assert(end <= this.#used, "only what was written can be read");
    return this.#bytes.subarray(start, end);
  }
}

export function sharedBuffer(bytes: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(bytes));
}

/** Pieces as one, in shared memory: the relay and the record both hold on to it, and it is there once. */
export function sharedBody(pieces: readonly Uint8Array[]): Buffer {
  const body = sharedBuffer(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    body.set(piece, at);
    at += piece.length;
  }
  return body;
}

/** The same pieces, all of them in shared memory: what is not yet there is copied, which is little. */
export function sharedPieces(pieces: readonly Uint8Array[]): readonly Uint8Array[] {
  const isShared = ({ buffer }: Uint8Array): boolean => buffer instanceof SharedArrayBuffer;
  const own = sharedBody(pieces.filter((piece) => !isShared(piece)));
  let at = 0;
  return pieces.map((piece) => {
    if (isShared(piece)) return piece;
    at += piece.length;
    return own.subarray(at - piece.length, at);
  });
}

import type { Pieces } from "../exchange/index.ts";

const bufferBytesMin = 16_384;

export type BodyBufferLimits = {
  /** Limits for released buffers that are kept: their number and their bytes. */
  readonly freeMax: number;
  readonly freeBytesMax: number;
  /** For tests: overwrites a buffer when it is released, so that a reader who still uses it notices. */
  readonly isPoisoned?: boolean;
};

const defaultLimits: BodyBufferLimits = { freeMax: 4, freeBytesMax: Number.POSITIVE_INFINITY };

/**
 * Reuses buffers for bodies that are joined here: for a large body, allocating and freeing memory costs more
 * than all other work on it.
 */
export class BodyBufferPool {
  readonly #limits: BodyBufferLimits;
  readonly #own = new WeakSet<ArrayBufferLike>();
  #free: readonly ArrayBuffer[] = [];

  constructor(limits: BodyBufferLimits = defaultLimits) {
    this.#limits = limits;
  }

  /** A buffer of this length with arbitrary content. */
  allocate(length: number): Buffer {
    return Buffer.from(this.#takeBuffer(length), 0, length);
  }

  join(pieces: Pieces): Buffer {
    const body = this.allocate(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of pieces) {
      body.set(piece, at);
      at += piece.length;
    }
    return body;
  }

  has({ buffer }: Uint8Array): boolean {
    return this.#own.has(buffer);
  }

  /** Contract: the body is not read any more. A body from outside the pool is ignored. */
  release({ buffer }: Uint8Array): void {
    if (!(buffer instanceof ArrayBuffer) || !this.#own.has(buffer) || this.#free.includes(buffer)) return;
    const { freeMax, freeBytesMax, isPoisoned = false } = this.#limits;
    if (isPoisoned) new Uint8Array(buffer).fill(0xdb);
    let bytes = 0;
    const free = [buffer, ...this.#free].slice(0, freeMax);
    this.#free = free.filter(({ byteLength }) => {
      bytes += byteLength;
      return bytes <= freeBytesMax;
    });
  }

  /** A small body never takes a buffer that fits a large one. */
  #takeBuffer(length: number): ArrayBuffer {
    const bytes = Math.max(bufferBytesMin, Math.ceil(length * 1.25));
    const reusable = this.#free.find(({ byteLength }) => byteLength >= length && byteLength <= bytes * 2);
    this.#free = this.#free.filter((one) => one !== reusable);
    const buffer = reusable ?? new ArrayBuffer(bytes);
    this.#own.add(buffer);
    return buffer;
  }
}

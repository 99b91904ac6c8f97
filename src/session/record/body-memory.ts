import type { Pieces } from "../exchange.ts";

const memoryBytesMin = 16_384;

export type MemoryLimits = {
  /** How much of what was given back is kept, in bodies and in bytes. */
  readonly freeMax: number;
  readonly freeBytesMax: number;
  /** For tests: what was given back is overwritten at once, so that whoever still looks at it notices. */
  readonly isSpoiled?: boolean;
};

const usual: MemoryLimits = { freeMax: 4, freeBytesMax: Number.POSITIVE_INFINITY };

/**
 * Memory for bodies that are put together here. It is used again: for a large body, getting fresh memory and
 * giving it up costs more than all that is done with it.
 */
export class BodyMemory {
  readonly #limits: MemoryLimits;
  readonly #own = new WeakSet<ArrayBufferLike>();
  #free: readonly ArrayBuffer[] = [];

  constructor(limits: MemoryLimits = usual) {
    this.#limits = limits;
  }

  /** Room for a body of this length, with anything in it. */
  room(length: number): Buffer {
    return Buffer.from(this.#take(length), 0, length);
  }

  join(pieces: Pieces): Buffer {
    const body = this.room(pieces.reduce((sum, piece) => sum + piece.length, 0));
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

  /** Contract: nobody looks at the body any more. One that was not put together here is left alone. */
  giveBack({ buffer }: Uint8Array): void {
    if (!(buffer instanceof ArrayBuffer) || !this.#own.has(buffer) || this.#free.includes(buffer)) return;
    const { freeMax, freeBytesMax, isSpoiled = false } = this.#limits;
    if (isSpoiled) new Uint8Array(buffer).fill(0xdb);
    let bytes = 0;
    const kept = [buffer, ...this.#free].slice(0, freeMax);
    this.#free = kept.filter(({ byteLength }) => {
      bytes += byteLength;
      return bytes <= freeBytesMax;
    });
  }

  /** A small body does not take the place of a large one. */
  #take(length: number): ArrayBuffer {
    const bytes = Math.max(memoryBytesMin, Math.ceil(length * 1.25));
    const found = this.#free.find(({ byteLength }) => byteLength >= length && byteLength <= bytes * 2);
    this.#free = this.#free.filter((one) => one !== found);
    const memory = found ?? new ArrayBuffer(bytes);
    this.#own.add(memory);
    return memory;
  }
}

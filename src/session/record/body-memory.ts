import type { Pieces } from "../exchange.ts";

const memoryBytesMin = 16_384;
const freeMax = 4;

/**
 * Memory for bodies that are put together here. It is used again: for a large body, getting fresh memory and
 * giving it up costs more than all that is done with it.
 */
export class BodyMemory {
  readonly #own = new WeakSet<ArrayBufferLike>();
  #free: readonly ArrayBuffer[] = [];

  join(pieces: Pieces): Buffer {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const body = Buffer.from(this.#take(length), 0, length);
    let at = 0;
    for (const piece of pieces) {
      body.set(piece, at);
      at += piece.length;
    }
    return body;
  }

  /** Contract: nobody looks at the body any more. One that was not put together here is left alone. */
  giveBack({ buffer }: Uint8Array): void {
    if (!(buffer instanceof ArrayBuffer) || !this.#own.has(buffer) || this.#free.includes(buffer)) return;
    this.#free = [buffer, ...this.#free].slice(0, freeMax);
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

import type { Likeness } from "../exchange.ts";

const heldBytesMax = 64 * 1024 * 1024;

/** A body of which the thread it goes to has the beginning. */
export type Crossing = {
  readonly line: string | null;
  /** The request before in the line, and how much of its body comes in front of the rest. */
  readonly before: string | null;
  readonly shared: number;
  readonly rest: Uint8Array;
  /** Bodies that nothing will be told in terms of any more. */
  readonly forgotten: readonly Told[];
};
type Told = { readonly line: string; readonly request: string };

/**
 * Which bodies the other thread holds, so that of the next one in a line only what is new has to cross. This
 * end decides what the other one keeps. Where the two may have come to differ, it is cleared, and bodies
 * cross whole again.
 */
export class BodiesSent {
  /** The last body of each line, the line used last at the end. */
  readonly #lines = new Map<string, { readonly request: string; readonly length: number }>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number = heldBytesMax) {
    this.#bytesMax = bytesMax;
  }

  clear(): void {
    this.#lines.clear();
    this.#bytes = 0;
  }

  /** How many bytes of a body need not cross. */
  shared({ line, before, shared }: Likeness): number {
    const held = line === null ? undefined : this.#lines.get(line);
    return held !== undefined && held.request === before ? Math.min(shared, held.length) : 0;
  }

  /** Contract: what it gives is sent. */
  cross(request: string, body: Uint8Array, likeness: Likeness): Crossing {
    const { line, before } = likeness;
    const shared = this.shared(likeness);
    const crossing = { line, before, shared, rest: new Uint8Array(body.subarray(shared)) };
    if (line === null) return { ...crossing, forgotten: [] };
    this.#drop(line);
    this.#lines.set(line, { request, length: body.length });
    this.#bytes += body.length;
    return { ...crossing, forgotten: this.#makeRoom(line) };
  }

  #drop(line: string): void {
    this.#bytes -= this.#lines.get(line)?.length ?? 0;
    this.#lines.delete(line);
  }

  #makeRoom(latest: string): readonly Told[] {
    const forgotten: Told[] = [];
    for (const [line, { request }] of this.#lines) {
      if (this.#bytes <= this.#bytesMax || line === latest) break;
      this.#drop(line);
      forgotten.push({ line, request });
    }
    return forgotten;
  }
}

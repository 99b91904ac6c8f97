import type { StripChunk } from "./strip-lines.ts";

/** Collects bytes for the client. Pieces that lie side by side in memory, as most do, are joined. */
export class ClientBytes {
  readonly #pieces: Uint8Array[] = [];
  #open: Uint8Array | null = null;

  add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const open = this.#open;
    if (open === null) this.#open = bytes;
    else if (open.buffer === bytes.buffer && open.byteOffset + open.length === bytes.byteOffset)
      this.#open = Buffer.from(bytes.buffer, open.byteOffset, open.length + bytes.length);
    else {
      this.#pieces.push(open);
      this.#open = bytes;
    }
  }

  /** Adds the part of an event that has not passed yet, without the ranges that were cut. */
  addChunk({ bytes, sent, end, cuts }: StripChunk): void {
    let start = sent;
    for (const cut of cuts) {
      if (cut.start > start) this.add(bytes.subarray(start, cut.start));
      start = cut.end;
    }
    if (end > start) this.add(bytes.subarray(start, end));
  }

  take(): readonly Uint8Array[] {
    if (this.#open !== null) this.#pieces.push(this.#open);
    this.#open = null;
    return this.#pieces;
  }
}

/** The bytes that went one way, kept while they are few enough. Filled on the hot path, joined off it. */
export type BodyCopy = {
  /** Null: none is wanted, or there were too many bytes. */
  chunks: Buffer[] | null;
  length: number;
  readonly keptBytesMax: number;
};

export function createCopy(keptBytesMax: number): BodyCopy {
  return { chunks: keptBytesMax > 0 ? [] : null, length: 0, keptBytesMax };
}

/** Holds on to the chunk itself: copying here would delay the byte that is about to be passed on. */
export function collect(copy: BodyCopy, chunk: Buffer): void {
  copy.length += chunk.length;
  if (copy.chunks === null) return;
  if (copy.length > copy.keptBytesMax) copy.chunks = null;
  else copy.chunks.push(chunk);
}

/** One piece of memory that nothing else refers to, so that it can be handed over to another thread. */
export function joined(copy: BodyCopy): Uint8Array | null {
  if (copy.chunks === null) return null;
  const bytes = Buffer.allocUnsafeSlow(copy.length);
  let at = 0;
  for (const chunk of copy.chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

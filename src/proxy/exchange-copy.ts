/** The bytes that went one way, kept while they are few enough. Filled on the hot path, used off it. */
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

/**
 * The bytes, to be given away. Once they have left the process nobody needs the chunks; before that a socket
 * may still be reading from them, and what is given away is a copy.
 */
export function givenAway({ chunks }: BodyCopy, hasLeft: boolean): readonly Uint8Array[] | null {
  return chunks === null || hasLeft ? chunks : chunks.map((chunk) => Uint8Array.from(chunk));
}

/** The bytes that went one way, kept while they are few enough. Filled on the hot path, joined off it. */
export type BodyCopy = {
  /** Null: none is wanted, or there were too many bytes. */
  chunks: Buffer[] | null;
  length: number;
  readonly keptBytesMax: number;
  /** Where small chunks are gathered, and how much of it is used. */
  slab: Buffer | null;
  slabUsed: number;
};

/** A chunk below this costs more to keep as it is than to copy. */
const smallBytesMax = 1_024;
const slabBytes = 16_384;

export function createCopy(keptBytesMax: number): BodyCopy {
  return { chunks: keptBytesMax > 0 ? [] : null, length: 0, keptBytesMax, slab: null, slabUsed: 0 };
}

/** Holds on to a large chunk itself: copying here would delay the byte that is about to be passed on. */
export function collect(copy: BodyCopy, chunk: Buffer): void {
  copy.length += chunk.length;
  if (copy.chunks === null) return;
  if (copy.length > copy.keptBytesMax) copy.chunks = null;
  else if (chunk.length > smallBytesMax) {
    copy.slab = null;
    copy.chunks.push(chunk);
  } else gather(copy, copy.chunks, chunk);
}

function gather(copy: BodyCopy, chunks: Buffer[], chunk: Buffer): void {
  if (copy.slab === null || copy.slabUsed + chunk.length > slabBytes) {
    copy.slab = Buffer.allocUnsafeSlow(slabBytes);
    copy.slabUsed = 0;
    chunks.push(copy.slab.subarray(0, 0));
  }
  copy.slab.set(chunk, copy.slabUsed);
  copy.slabUsed += chunk.length;
  chunks[chunks.length - 1] = copy.slab.subarray(0, copy.slabUsed);
}

/**
 * The bytes, to be given away. Once they have left the process nobody needs the chunks; before that a socket
 * may still be reading from them, and what is given away is a copy.
 */
export function givenAway({ chunks }: BodyCopy, hasLeft: boolean): readonly Uint8Array[] | null {
  return chunks === null || hasLeft ? chunks : chunks.map((chunk) => Uint8Array.from(chunk));
}

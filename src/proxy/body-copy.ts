/** A copy of a body, kept up to a size. It is filled while the body is relayed, and joined later. */
export type BodyCopy = {
  /** Null if no copy is wanted, or the body is too large. */
  chunks: Buffer[] | null;
  length: number;
  readonly keptBytesMax: number;
  /** Memory for the whole body, if the planner provided it; it stays the planner's. */
  buffer: Buffer | null;
  /** Small chunks are gathered here. */
  slab: Buffer | null;
  slabUsed: number;
};

/** A smaller chunk costs more to keep than to copy. */
const smallBytesMax = 1_024;
const slabBytes = 16_384;

export function createBodyCopy(keptBytesMax: number): BodyCopy {
  return {
    chunks: keptBytesMax > 0 ? [] : null,
    length: 0,
    keptBytesMax,
    buffer: null,
    slab: null,
    slabUsed: 0,
  };
}

/** Collects the body in this buffer. Contract: no byte has come yet, and the body fits. */
export function setCopyBuffer(copy: BodyCopy, buffer: Buffer): void {
  copy.buffer = buffer;
}

/** Keeps a large chunk without copying it, unless there is a buffer: copying would delay the relay. */
export function appendToCopy(copy: BodyCopy, chunk: Buffer): void {
  const { buffer } = copy;
  buffer?.set(chunk, copy.length);
  copy.length += chunk.length;
  if (copy.chunks === null) return;
  if (buffer !== null) copy.chunks = [buffer.subarray(0, copy.length)];
  else keepChunk(copy, copy.chunks, chunk);
}

function keepChunk(copy: BodyCopy, chunks: Buffer[], chunk: Buffer): void {
  if (copy.length > copy.keptBytesMax) copy.chunks = null;
  else if (chunk.length > smallBytesMax) {
    copy.slab = null;
    chunks.push(chunk);
  } else gatherChunk(copy, chunks, chunk);
}

function gatherChunk(copy: BodyCopy, chunks: Buffer[], chunk: Buffer): void {
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
 * Hands the bytes over. If they have not left the process, a socket may still read them, so they are copied.
 */
export function takePieces({ chunks }: BodyCopy, hasLeft: boolean): readonly Uint8Array[] | null {
  return chunks === null || hasLeft ? chunks : chunks.map((chunk) => Uint8Array.from(chunk));
}

/** The bytes that went one way, kept while they are few enough. Filled on the hot path, joined off it. */
export type BodyCopy = {
  /** Null: none is wanted, or there were too many bytes. */
  chunks: Buffer[] | null;
  length: number;
  readonly keptBytesMax: number;
  /** Memory for the whole body, where its length is known; it belongs to whoever gave it. */
  room: Buffer | null;
  /** Where small chunks are gathered, and how much of it is used. */
  slab: Buffer | null;
  slabUsed: number;
};

/** A chunk below this costs more to keep as it is than to copy. */
const smallBytesMax = 1_024;
const slabBytes = 16_384;

export function createCopy(keptBytesMax: number): BodyCopy {
  return {
    chunks: keptBytesMax > 0 ? [] : null,
    length: 0,
    keptBytesMax,
    room: null,
    slab: null,
    slabUsed: 0,
  };
}

/** From now on bytes are put there. Contract: none has come yet, and no more will come than there is room. */
export function makeRoom(copy: BodyCopy, room: Buffer): void {
  copy.room = room;
}

/** Holds on to a large chunk itself, unless there is room: copying would delay the byte that is passed on. */
export function collect(copy: BodyCopy, chunk: Buffer): void {
  const { room } = copy;
  room?.set(chunk, copy.length);
  copy.length += chunk.length;
  if (copy.chunks === null) return;
  if (room !== null) copy.chunks = [room.subarray(0, copy.length)];
  else keep(copy, copy.chunks, chunk);
}

function keep(copy: BodyCopy, chunks: Buffer[], chunk: Buffer): void {
  if (copy.length > copy.keptBytesMax) copy.chunks = null;
  else if (chunk.length > smallBytesMax) {
    copy.slab = null;
    chunks.push(chunk);
  } else gather(copy, chunks, chunk);
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

import type { Batch, Body, Snapshot } from "./store.ts";

/**
 * A batch with bytes of its own, and the buffers it owns. They are transferred to another thread without a
 * second copy, and without the large buffer a slice may be a view of.
 */
export type BatchCopy = { readonly batch: Batch; readonly buffers: readonly ArrayBuffer[] };

/**
 * All bytes go into one buffer: transferring a buffer costs more than copying the few bytes most of them
 * hold.
 */
export function copyBatch(batch: Batch): BatchCopy {
  let room = new Uint8Array(bytesIn(batch));
  const buffers = room.length === 0 ? [] : [room.buffer];
  const own = (bytes: Uint8Array): Uint8Array => {
    const copy = room.subarray(0, bytes.length);
    copy.set(bytes);
    room = room.subarray(bytes.length);
    return copy;
  };
  const copy: Batch = {
    contents: (batch.contents ?? []).map(({ hash, bytes }) => ({ hash, bytes: own(bytes) })),
    frames: batch.frames ?? [],
    bodies: (batch.bodies ?? []).map((body) => copyBody(body, own)),
    snapshots: (batch.snapshots ?? []).map((snapshot) => copySnapshot(snapshot, own)),
  };
  return { batch: copy, buffers };
}

function bytesIn({ contents = [], bodies = [], snapshots = [] }: Batch): number {
  let total = 0;
  for (const { bytes } of contents) total += bytes.length;
  for (const { recipe } of bodies) {
    for (const piece of recipe) if (piece.from === "literal") total += piece.bytes.length;
  }
  for (const { pages } of snapshots) {
    for (const bytes of pages.values()) total += bytes.length;
  }
  return total;
}

type CopyBytes = (bytes: Uint8Array) => Uint8Array;

function copyBody(body: Body, own: CopyBytes): Body {
  const recipe = body.recipe.map((piece) =>
    piece.from === "literal" ? { ...piece, bytes: own(piece.bytes) } : piece,
  );
  return { ...body, recipe };
}

function copySnapshot(snapshot: Snapshot, own: CopyBytes): Snapshot {
  return { ...snapshot, pages: new Map([...snapshot.pages].map(([name, bytes]) => [name, own(bytes)])) };
}

import type { Batch, Body, Snapshot } from "./store.ts";

/**
 * A batch with bytes of its own, and the buffers it owns: to be handed to another thread without a second
 * copy, and without taking along the large buffer a slice may be a view of.
 */
export type BatchCopy = { readonly batch: Batch; readonly buffers: readonly ArrayBuffer[] };

export function copyBatch(batch: Batch): BatchCopy {
  const buffers: ArrayBuffer[] = [];
  const own = (bytes: Uint8Array): Uint8Array => {
    const copy = new Uint8Array(bytes);
    buffers.push(copy.buffer);
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

type Own = (bytes: Uint8Array) => Uint8Array;

function copyBody(body: Body, own: Own): Body {
  const recipe = body.recipe.map((piece) =>
    piece.from === "literal" ? { ...piece, bytes: own(piece.bytes) } : piece,
  );
  return { ...body, recipe };
}

function copySnapshot(snapshot: Snapshot, own: Own): Snapshot {
  return { ...snapshot, pages: new Map([...snapshot.pages].map(([name, bytes]) => [name, own(bytes)])) };
}

import type { Batch } from "./store.ts";

/**
 * What a batch takes while it waits. The size of a frame is a guess: knowing it would take writing it out.
 */
export type BatchSize = { readonly frames: number; readonly bytes: number };

const FRAME_BYTES = 256;
const DELTA_BYTES = 256;

export function batchSize(batch: Batch): BatchSize {
  let bytes = 0;
  for (const { bytes: content } of batch.contents ?? []) bytes += content.length;
  for (const { deltas } of batch.frames ?? []) bytes += FRAME_BYTES + deltas.length * DELTA_BYTES;
  for (const { recipe } of batch.bodies ?? []) {
    for (const piece of recipe) bytes += piece.from === "literal" ? piece.bytes.length : 32;
  }
  for (const { root, pages } of batch.snapshots ?? []) {
    bytes += root.length;
    for (const page of pages.values()) bytes += page.length;
  }
  return { frames: batch.frames?.length ?? 0, bytes };
}

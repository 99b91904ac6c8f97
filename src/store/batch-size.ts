import { sealedText } from "../engine/frames/index.ts";
import type { Batch } from "./store.ts";

/**
 * The memory a batch takes while it waits. The size of a frame that was not sealed here is a guess: the exact
 * size would need serialising it.
 */
export type BatchSize = { readonly frames: number; readonly bytes: number };

/** The memory a batch, and each thing in it, takes beside its bytes. */
const ITEM_BYTES = 64;
const PIECE_BYTES = 32;
const FIELD_BYTES = 16;
/** Frames are flatter than this; a value that is not a frame may contain itself. */
const DEPTH_MAX = 8;

/** Contract: the batch passed `checkBatchShape`. */
export function batchSize(batch: Batch): BatchSize {
  const { contents = [], frames = [], bodies = [], snapshots = [] } = batch;
  let bytes = ITEM_BYTES * (1 + contents.length + frames.length + bodies.length + snapshots.length);
  for (const { bytes: content } of contents) bytes += content.length;
  for (const frame of frames) bytes += sealedText(frame)?.length ?? roughBytes(frame, 0);
  for (const { recipe } of bodies) {
    for (const piece of recipe) bytes += PIECE_BYTES + (piece.from === "literal" ? piece.bytes.length : 0);
  }
  for (const { root, pageHashes, pages } of snapshots) {
    bytes += root.length + pageHashes.length * ITEM_BYTES;
    for (const page of pages.values()) bytes += page.length;
  }
  return { frames: frames.length, bytes };
}

function roughBytes(value: unknown, depth: number): number {
  if (typeof value === "string") return FIELD_BYTES + value.length;
  if (typeof value !== "object" || value === null || depth > DEPTH_MAX) return FIELD_BYTES;
  let bytes = FIELD_BYTES;
  for (const name in value)
    bytes += roughBytes((value as Readonly<Record<string, unknown>>)[name], depth + 1);
  return bytes;
}

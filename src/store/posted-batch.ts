import { type Frame, frameFromText, sealedText } from "../engine/frames/index.ts";
import type { Batch } from "./store.ts";
import type { PostedBatch, PostedFrame } from "./store-messages.ts";

/** Prepares a batch for sending to another thread. */
export function postBatch(batch: Batch): PostedBatch {
  return { ...batch, frames: (batch.frames ?? []).map(postFrame) };
}

function postFrame(frame: Frame): PostedFrame {
  const text = sealedText(frame);
  return text === null ? { as: "value", frame } : { as: "text", text, hash: frame.hash };
}

/** Restores the batch on the receiving thread. */
export function receiveBatch(posted: PostedBatch): Batch {
  return { ...posted, frames: (posted.frames ?? []).map(receiveFrame) };
}

function receiveFrame(posted: PostedFrame): Frame {
  return posted.as === "text" ? frameFromText(posted.text, posted.hash) : posted.frame;
}

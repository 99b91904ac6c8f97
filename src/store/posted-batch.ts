import { type Frame, frameOfText, sealedText } from "../engine/index.ts";
import type { PostedBatch, PostedFrame } from "./messages.ts";
import type { Batch } from "./store.ts";

/** Makes a batch ready to cross to another thread. */
export function postBatch(batch: Batch): PostedBatch {
  return { ...batch, frames: (batch.frames ?? []).map(postFrame) };
}

function postFrame(frame: Frame): PostedFrame {
  const text = sealedText(frame);
  return text === null ? { as: "value", frame } : { as: "text", text, hash: frame.hash };
}

/** The batch again, on the other side. */
export function receiveBatch(posted: PostedBatch): Batch {
  return { ...posted, frames: (posted.frames ?? []).map(receiveFrame) };
}

function receiveFrame(posted: PostedFrame): Frame {
  return posted.as === "text" ? frameOfText(posted.text, posted.hash) : posted.frame;
}

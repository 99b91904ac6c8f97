import {
  canonicalJson,
  type FrameHash,
  fail,
  frameHash,
  ok,
  type Result,
  type Seq,
  type SessionId,
  type StepId,
  type StreamId,
  sha256Hex,
  type Turn,
} from "../../base/index.ts";
import type { Delta } from "./delta.ts";
import type { Actor } from "./facts.ts";

export const causeTypes = ["session", "request", "response", "command", "policy", "undo", "redo"] as const;

/**
 * The reason a frame exists. Frames of one step are undone together: a user's gesture, or one turn of a
 * model's commands.
 */
export type Cause = {
  readonly type: (typeof causeTypes)[number];
  readonly step: StepId | null;
  readonly reason: string;
};

/** One atomic append to a session's log, before it is linked into the hash chain. */
export type FrameDraft = {
  readonly session: SessionId;
  readonly seq: Seq;
  readonly stream: StreamId | null;
  readonly turn: Turn;
  readonly time: number;
  readonly actor: Actor;
  readonly cause: Cause;
  readonly deltas: readonly Delta[];
};

/**
 * A frame is sealed: its hash covers all of it and the hash of the frame before. No frame is ever rewritten.
 */
export type Frame = FrameDraft & { readonly prevHash: FrameHash; readonly hash: FrameHash };

/**
 * The texts of frames that this thread sealed, for as long as the frames are held. Serialising a frame is
 * most of the work of sealing it, and both the reducer and the store need the same text right after.
 */
const sealedTexts = new WeakMap<Frame, string>();

export function sealFrame(draft: FrameDraft, prevHash: FrameHash): Frame {
  const text = canonicalJson({ ...draft, prevHash });
  const frame = { ...draft, prevHash, hash: hashOf(text) };
  sealedTexts.set(frame, text);
  return frame;
}

/** The text whose hash is the frame's seal. Null if this frame object was not sealed here. */
export function sealedText(frame: Frame): string | null {
  return sealedTexts.get(frame) ?? null;
}

/**
 * Restores a frame that another thread sealed as this text. Contract: `sealedText` returned the text. A text
 * that was changed on the way gives a frame that fails `checkSeal`.
 */
export function frameFromText(text: string, hash: FrameHash): Frame {
  const frame = { ...(JSON.parse(text) as Omit<Frame, "hash">), hash };
  if (hashOf(text) === hash) sealedTexts.set(frame, text);
  return frame;
}

/** A frame that was sealed here is not serialised again, since frames do not change. Any other is. */
export function checkSeal(frame: Frame, prevHash: FrameHash): Result<Frame> {
  if (frame.prevHash !== prevHash) return fail("AP_FRAME_CHAIN", { seq: frame.seq });
  if (sealedTexts.has(frame)) return ok(frame);
  const { hash, ...rest } = frame;
  return hashOf(canonicalJson(rest)) === hash ? ok(frame) : fail("AP_FRAME_HASH", { seq: frame.seq });
}

function hashOf(text: string): FrameHash {
  return frameHash(sha256Hex(text));
}

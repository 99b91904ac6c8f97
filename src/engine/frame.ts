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
} from "../base/index.ts";
import type { Delta } from "./delta.ts";
import type { Actor } from "./facts.ts";

export const causeTypes = ["session", "request", "response", "command", "policy", "undo", "redo"] as const;

/**
 * Why a frame exists. Frames with one step are undone together: a user's gesture, or a model's turn of
 * commands.
 */
export type Cause = {
  readonly type: (typeof causeTypes)[number];
  readonly step: StepId | null;
  readonly reason: string;
};

/** One atomic append to a session's log, before it has its place in the hash chain. */
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

export function sealFrame(draft: FrameDraft, prevHash: FrameHash): Frame {
  return { ...draft, prevHash, hash: hashOf(draft, prevHash) };
}

export function checkSeal(frame: Frame, prevHash: FrameHash): Result<Frame> {
  if (frame.prevHash !== prevHash) return fail("AP_FRAME_CHAIN", { seq: frame.seq });
  const { hash, prevHash: _, ...draft } = frame;
  return hashOf(draft, prevHash) === hash ? ok(frame) : fail("AP_FRAME_HASH", { seq: frame.seq });
}

function hashOf(draft: FrameDraft, prevHash: FrameHash): FrameHash {
  return frameHash(sha256Hex(canonicalJson({ ...draft, prevHash })));
}

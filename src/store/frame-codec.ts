import { deflateRawSync, inflateRawSync } from "node:zlib";
import {
  canonicalJson,
  type FrameHash,
  fail,
  limits,
  ok,
  type Result,
  type Seq,
  type SessionId,
} from "../base/index.ts";
import { type Frame, parseFrame, sealedText } from "../engine/frames/index.ts";
import { frameDictionary } from "./frame-dictionary.ts";

const dictionary = Buffer.from(frameDictionary);
/** Most frames fit; zlib's default would spend more time on its buffer than on the work. */
const CHUNK_BYTES = 2048;

const LARGE = { dictionary, level: 6, chunkSize: CHUNK_BYTES };
/** Dictionary and frame fit into this window; a larger one would only be more memory to clear. */
const SMALL = { ...LARGE, windowBits: 14, memLevel: 5 };
const SMALL_BYTES_MAX = 4096;

/**
 * The frame's position in its session and in the hash chain, which the database keeps in columns of its own.
 */
export type FramePosition = {
  readonly session: SessionId;
  readonly seq: Seq;
  readonly prevHash: FrameHash;
  readonly hash: FrameHash;
};

/** Encodes the frame without its position: canonical JSON, deflated with the frame dictionary. */
export function encodeFrame(frame: Frame): Result<Uint8Array> {
  const text = Buffer.from(textOf(frame));
  if (text.length > limits.frameBytesMax) {
    return fail("AP_FRAME_LIMIT", { seq: frame.seq, limit: "frameBytesMax", actual: text.length });
  }
  return ok(deflateRawSync(text, text.length <= SMALL_BYTES_MAX ? SMALL : LARGE));
}

/**
 * The text to store is the sealed text without the position, so it is cut out instead of serialised again.
 */
function textOf(frame: Frame): string {
  const { session, seq, prevHash, hash: _, ...rest } = frame;
  const position = canonicalJson({ prevHash, seq, session });
  const [sealed, inside] = [sealedText(frame), `${position.slice(1, -1)},`];
  // Only numbers follow the position, so its last occurrence in the text is the real one.
  const at = sealed?.lastIndexOf(inside) ?? -1;
  if (sealed === null || at < 0) return canonicalJson(rest);
  return sealed.slice(0, at) + sealed.slice(at + inside.length);
}

/** Rebuilds a frame and checks its shape. Contract: the caller checks the seal. */
export function decodeFrame(body: Uint8Array, position: FramePosition): Result<Frame> {
  const value = inflateFrame(body, position);
  return value.ok ? parseFrame(value.value) : value;
}

function inflateFrame(body: Uint8Array, position: FramePosition): Result<unknown> {
  try {
    const text = inflateRawSync(body, {
      dictionary,
      maxOutputLength: limits.frameBytesMax,
      chunkSize: CHUNK_BYTES,
    }).toString("utf8");
    return ok({ ...(JSON.parse(text) as object), ...position });
  } catch (error) {
    const problem = error instanceof Error ? error.message : "unknown";
    return fail("AP_STORE_CORRUPT", {
      problem: `frame ${position.seq} of ${position.session} cannot be read (${problem})`,
    });
  }
}

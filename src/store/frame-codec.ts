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
import { type Frame, parseFrame, sealedText } from "../engine/index.ts";
import { frameDictionary } from "./frame-dictionary.ts";

const dictionary = Buffer.from(frameDictionary);
/** Most frames fit; zlib's own choice would spend more on its buffer than on the work. */
const CHUNK_BYTES = 2048;

const LARGE = { dictionary, level: 6, chunkSize: CHUNK_BYTES };
/** Dictionary and frame lie inside this window; a larger one would only be more memory to clear. */
const SMALL = { ...LARGE, windowBits: 14, memLevel: 5 };
const SMALL_BYTES_MAX = 4096;

/** What the database keeps beside the body: where the frame stands in its session and in the hash chain. */
export type FramePlace = {
  readonly session: SessionId;
  readonly seq: Seq;
  readonly prevHash: FrameHash;
  readonly hash: FrameHash;
};

/** The rest of the frame: canonical JSON, deflated against a text that looks like frames. */
export function encodeFrame(frame: Frame): Result<Uint8Array> {
  const text = Buffer.from(textOf(frame));
  if (text.length > limits.frameBytesMax) {
    return fail("AP_FRAME_LIMIT", { seq: frame.seq, limit: "frameBytesMax", actual: text.length });
  }
  return ok(deflateRawSync(text, text.length <= SMALL_BYTES_MAX ? SMALL : LARGE));
}

/** The text that was sealed holds the text to be kept: its place was written in the middle of it. */
function textOf(frame: Frame): string {
  const { session, seq, prevHash, hash: _, ...rest } = frame;
  const place = canonicalJson({ prevHash, seq, session });
  const [sealed, inside] = [sealedText(frame), `${place.slice(1, -1)},`];
  // Nothing but numbers stands behind it, so the last place that reads like it is the one.
  const at = sealed?.lastIndexOf(inside) ?? -1;
  if (sealed === null || at < 0) return canonicalJson(rest);
  return sealed.slice(0, at) + sealed.slice(at + inside.length);
}

/** Contract: the caller checks the seal; this puts the frame together and makes sure that it is one. */
export function decodeFrame(body: Uint8Array, place: FramePlace): Result<Frame> {
  const value = inflateFrame(body, place);
  return value.ok ? parseFrame(value.value) : value;
}

function inflateFrame(body: Uint8Array, place: FramePlace): Result<unknown> {
  try {
    const text = inflateRawSync(body, {
      dictionary,
      maxOutputLength: limits.frameBytesMax,
      chunkSize: CHUNK_BYTES,
    }).toString("utf8");
    return ok({ ...(JSON.parse(text) as object), ...place });
  } catch (error) {
    const problem = error instanceof Error ? error.message : "unknown";
    return fail("AP_STORE_CORRUPT", {
      problem: `frame ${place.seq} of ${place.session} cannot be read (${problem})`,
    });
  }
}

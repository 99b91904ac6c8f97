import { ok, type Result, type SessionId } from "../base/index.ts";
import type { Frame } from "../engine/frames/index.ts";
import type { Store } from "../store/index.ts";

/** Reads in flight at once: enough to hide the round trip to the store. */
const readsTogether = 32;

/**
 * Reads the frames with these seqs. Frames that a live session has not written to disk yet are left out.
 */
export async function framesAt(
  store: Store,
  session: SessionId,
  seqs: readonly number[],
): Promise<Result<ReadonlyMap<number, Frame>>> {
  const frames = new Map<number, Frame>();
  for (let start = 0; start < seqs.length; start += readsTogether) {
    const reads = seqs
      .slice(start, start + readsTogether)
      .map((seq) => store.frames({ session, after: seq - 1, limit: 1 }));
    for (const read of await Promise.all(reads)) {
      if (!read.ok) return read;
      for (const frame of read.value) frames.set(frame.seq, frame);
    }
  }
  return ok(frames);
}

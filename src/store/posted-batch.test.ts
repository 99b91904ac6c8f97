import { describe, expect, it } from "vitest";
import { GENESIS_HASH, seqOf, sessionId, streamId, turnOf, unwrap } from "../base/index.ts";
import { checkSeal, type Frame, sealFrame } from "../engine/frames/index.ts";
import { checkBatch } from "./batch-rules.ts";
import { decodeFrame, encodeFrame } from "./frame-codec.ts";
import { postBatch, receiveBatch } from "./posted-batch.ts";
import type { PostedBatch } from "./store-messages.ts";

const draft = {
  session: sessionId("posted"),
  seq: seqOf(1),
  stream: streamId(1),
  turn: turnOf(0),
  time: 5,
  actor: "client",
  // A text in a frame may look like the position of a frame.
  cause: {
    type: "request",
    step: null,
    reason: `é,"prevHash":"${GENESIS_HASH}","seq":1,"session":"posted",`,
  },
  deltas: [],
} as const;
const frame = sealFrame(draft, GENESIS_HASH);

/** A batch as it goes over a port. */
function sendOverPort(batch: { readonly frames: readonly Frame[] }): PostedBatch {
  return structuredClone(postBatch(batch));
}

describe("a frame on its way to the store's thread", () => {
  it("arrives as it was sealed, and is stored like a freshly serialised one", () => {
    const posted = sendOverPort({ frames: [frame] });
    expect(posted.frames).toMatchObject([{ as: "text", hash: frame.hash }]);
    const received = receiveBatch(posted);
    expect(received.frames).toEqual([frame]);
    expect(checkBatch(received).ok).toBe(true);
    const kept = unwrap(encodeFrame(received.frames?.[0] as Frame));
    expect(kept).toEqual(unwrap(encodeFrame({ ...frame })));
    const { session, seq, prevHash, hash } = frame;
    expect(unwrap(decodeFrame(kept, { session, seq, prevHash, hash }))).toEqual(frame);
  });

  it("that was not sealed here is sent as a value", () => {
    const posted = sendOverPort({ frames: [{ ...frame }] });
    expect(posted.frames).toMatchObject([{ as: "value" }]);
    expect(receiveBatch(posted).frames).toEqual([frame]);
  });

  it("that was changed on the way is refused", () => {
    const posted = sendOverPort({ frames: [frame] });
    const changed = JSON.parse(JSON.stringify(posted).replace('\\"time\\":5', '\\"time\\":6')) as PostedBatch;
    const received = receiveBatch(changed);
    expect(received.frames).toMatchObject([{ time: 6 }]);
    expect(checkSeal(received.frames?.[0] as Frame, GENESIS_HASH)).toMatchObject({
      ok: false,
      error: { code: "AP_FRAME_HASH" },
    });
    expect(checkBatch(received)).toMatchObject({ ok: false, error: { code: "AP_FRAME_HASH" } });
  });

  it("of a wrong shape is refused though its seal is valid", () => {
    const wrong = sealFrame({ ...draft, time: 0.5 }, GENESIS_HASH);
    expect(checkBatch(receiveBatch(sendOverPort({ frames: [wrong] })))).toMatchObject({
      ok: false,
      error: { code: "AP_FRAME_SHAPE" },
    });
  });
});

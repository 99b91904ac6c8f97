import { describe, expect, it } from "vitest";
import {
  frameHash,
  GENESIS_HASH,
  limits,
  seqOf,
  sessionId,
  sha256Hex,
  streamId,
  turnOf,
  unwrap,
} from "../base/index.ts";
import { type Frame, sealFrame } from "../engine/frames/index.ts";
import { decodeFrame, encodeFrame } from "./frame-codec.ts";
import { frameDictionary } from "./frame-dictionary.ts";

function frame(reason: string): Frame {
  const deltas = [{ type: "tokens-counted", block: 27, tokens: { count: 812, exact: false } }];
  const draft = {
    session: sessionId("codec"),
    seq: seqOf(3),
    stream: streamId(1),
    turn: turnOf(2),
    time: 1_763_230_000_123,
    actor: "client",
    cause: { type: "request", step: null, reason },
    deltas,
  };
  return sealFrame(draft as unknown as Frame, GENESIS_HASH);
}

describe("the frame codec", () => {
  it("gives a frame back as it was", () => {
    for (const reason of ["", "ünï \u{1f525} \ud800", "x".repeat(limits.reasonCharsMax)]) {
      const whole = frame(reason);
      const { session, seq, prevHash, hash } = whole;
      const decoded = unwrap(decodeFrame(unwrap(encodeFrame(whole)), { session, seq, prevHash, hash }));
      expect(decoded).toEqual(whole);
    }
  });

  it("takes a fraction of the JSON", () => {
    expect(unwrap(encodeFrame(frame(""))).length).toBeLessThan(60);
  });

  it("reads format 1 for ever", () => {
    // A change of the dictionary makes every stored frame unreadable: it needs a new format, not a new hash
    // here.
    expect(sha256Hex(frameDictionary)).toBe(
      "46d7ae682d83f5160d621e525dad4060ac831946d0570adfebdf93899e0e768c",
    );
    const stored = Buffer.from("o1WUGJljcbWFoRFl7jYzNjI2MDAwMDQyhnnBqBYA", "base64");
    const position = {
      session: sessionId("codec"),
      seq: seqOf(3),
      prevHash: GENESIS_HASH,
      hash: frame("").hash,
    };
    expect(unwrap(decodeFrame(stored, position))).toEqual(frame(""));
  });

  it("refuses valid JSON that is not a frame", () => {
    const forged = { ...frame(""), time: 2 ** 60 };
    const { session, seq, prevHash, hash } = forged;
    const decoded = decodeFrame(unwrap(encodeFrame(forged)), { session, seq, prevHash, hash });
    expect(decoded).toMatchObject({ ok: false, error: { code: "AP_FRAME_SHAPE" } });
  });

  it("refuses a frame that is too large, and garbage", () => {
    const large = encodeFrame(frame("x".repeat(limits.frameBytesMax)));
    expect(large).toMatchObject({ ok: false, error: { code: "AP_FRAME_LIMIT" } });
    const position = {
      session: sessionId("codec"),
      seq: seqOf(3),
      prevHash: GENESIS_HASH,
      hash: frameHash("0".repeat(64)),
    };
    const garbage = decodeFrame(Buffer.from("garbage"), position);
    expect(garbage).toMatchObject({ ok: false, error: { code: "AP_STORE_CORRUPT" } });
  });
});

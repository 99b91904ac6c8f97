import { describe, expect, it } from "vitest";
import {
  blockId,
  frameHash,
  GENESIS_HASH,
  seqOf,
  sessionId,
  sha256Hex,
  stepId,
  streamId,
  turnOf,
  viewId,
} from "../../base/index.ts";
import { checkSeal, type Frame, type FrameDraft, frameFromText, sealedText, sealFrame } from "./frame.ts";

const draft: FrameDraft = {
  session: sessionId("golden"),
  seq: seqOf(12),
  stream: streamId(1),
  turn: turnOf(3),
  time: 1_700_000_000_000,
  actor: "model",
  cause: { type: "command", step: stepId(4), reason: "setup is done: é漢" },
  deltas: [
    {
      type: "archive-set",
      view: viewId(1),
      block: blockId(7),
      from: { value: null, by: "policy" },
      to: { value: { reason: "setup is done" }, by: "model" },
    },
  ],
};
const prevHash = frameHash("ab".repeat(32));

describe("the seal of a frame", () => {
  it("of one fixed frame never changes: a log written today must be readable for ever", () => {
    expect(sealFrame(draft, prevHash).hash).toBe(
      "721d51681bf0e117df908f8dfbea888ea986779cc659a284f90df152d1086803",
    );
  });

  it("is the SHA-256 of the canonical text of everything but itself", () => {
    const text =
      '{"actor":"model","cause":{"reason":"setup is done: é漢","step":4,"type":"command"},"deltas":[{"block":7,' +
      '"from":{"by":"policy","value":null},"to":{"by":"model","value":{"reason":"setup is done"}},' +
      `"type":"archive-set","view":1}],"prevHash":"${prevHash}","seq":12,"session":"golden","stream":1,` +
      '"time":1700000000000,"turn":3}';
    expect(sealFrame(draft, prevHash).hash).toBe(sha256Hex(text));
  });

  it("does not depend on the order of fields", () => {
    const backwards = Object.fromEntries(Object.entries(draft).reverse()) as unknown as FrameDraft;
    expect(sealFrame(backwards, prevHash).hash).toBe(sealFrame(draft, prevHash).hash);
  });

  it("does not change the draft and keeps all of it", () => {
    const frozen = Object.freeze({ ...draft });
    expect(sealFrame(frozen, prevHash)).toMatchObject(draft);
    expect(new Set(Object.keys(sealFrame(frozen, prevHash)))).toEqual(
      new Set([...Object.keys(draft), "hash", "prevHash"]),
    );
  });

  it.each<[string, Partial<FrameDraft>]>([
    ["session", { session: sessionId("other") }],
    ["seq", { seq: seqOf(13) }],
    ["stream", { stream: null }],
    ["turn", { turn: turnOf(4) }],
    ["time", { time: 1_700_000_000_001 }],
    ["actor", { actor: "user" }],
    ["cause", { cause: { ...draft.cause, reason: "setup is done: e漢" } }],
    ["deltas", { deltas: [] }],
  ])("covers the %s", (_, change) => {
    expect(sealFrame({ ...draft, ...change }, prevHash).hash).not.toBe(sealFrame(draft, prevHash).hash);
  });

  it("covers the frame before, so that no frame can be moved", () => {
    expect(sealFrame(draft, GENESIS_HASH).hash).not.toBe(sealFrame(draft, prevHash).hash);
  });
});

describe("the text of a seal", () => {
  it("is known for the sealed frame object, and for no copy of it", () => {
    const frame = sealFrame(draft, prevHash);
    expect(sha256Hex(sealedText(frame) ?? "")).toBe(frame.hash);
    expect(sealedText({ ...frame })).toBe(null);
  });

  it("gives the frame back", () => {
    const frame = sealFrame(draft, prevHash);
    const again = frameFromText(sealedText(frame) ?? "", frame.hash);
    expect(again).toEqual(frame);
    expect(sealedText(again)).toBe(sealedText(frame));
    expect(checkSeal(again, prevHash).ok).toBe(true);
  });

  it("with the hash of another frame gives a frame that fails checkSeal", () => {
    const text = sealedText(sealFrame({ ...draft, time: 1 }, prevHash)) ?? "";
    const forged = frameFromText(text, sealFrame(draft, prevHash).hash);
    expect(sealedText(forged)).toBe(null);
    expect(checkSeal(forged, prevHash)).toMatchObject({ ok: false, error: { code: "AP_FRAME_HASH" } });
  });
});

describe("checkSeal", () => {
  const frame = sealFrame(draft, prevHash);
  const code = (changed: Frame, previous = prevHash) => {
    const result = checkSeal(changed, previous);
    return result.ok ? null : result.error.code;
  };

  it("accepts a frame as it was sealed", () => {
    expect(checkSeal(frame, prevHash)).toEqual({ ok: true, value: frame });
  });

  it("refuses a frame that does not follow the one before", () => {
    expect(code(frame, GENESIS_HASH)).toBe("AP_FRAME_CHAIN");
    expect(code({ ...frame, prevHash: GENESIS_HASH })).toBe("AP_FRAME_CHAIN");
  });

  it("refuses a frame that was changed after it was sealed", () => {
    expect(code({ ...frame, time: frame.time + 1 })).toBe("AP_FRAME_HASH");
    expect(code({ ...frame, deltas: [] })).toBe("AP_FRAME_HASH");
    expect(code({ ...frame, hash: frameHash("cd".repeat(32)) })).toBe("AP_FRAME_HASH");
  });

  it("refuses a frame with an added field", () => {
    expect(code({ ...frame, note: "hello" } as Frame)).toBe("AP_FRAME_HASH");
  });
});

import { describe, expect, it } from "vitest";
import { blockId, frameHash, GENESIS_HASH, seqOf, sessionId, stepId, turnOf, viewId } from "../base/index.ts";
import type { Actor, Delta, Frame, Level } from "../engine/frames/index.ts";
import { eventsOf } from "./engine-events.ts";

const view = viewId(1);

function frame(deltas: readonly Delta[], over: Partial<Frame> = {}): Frame {
  return {
    session: sessionId("s1"),
    seq: seqOf(7),
    stream: null,
    turn: turnOf(3),
    time: 5,
    actor: "policy",
    cause: { type: "policy", step: stepId(4), reason: "not used for a while" },
    deltas,
    prevHash: GENESIS_HASH,
    hash: frameHash("0".repeat(64)),
    ...over,
  };
}

function level(block: number, to: Level, by: Actor = "policy"): Delta {
  const from = { value: "original", by: "policy" } as const;
  return { type: "level-set", view, block: blockId(block), from, to: { value: to, by } };
}

const notices = (one: Frame) =>
  eventsOf(one).flatMap((event) => (event.type === "notice" ? [event.message] : []));

describe("the events of a frame", () => {
  it("are the frame and a notice of what policy did", () => {
    const events = eventsOf(frame([level(20, "trimmed"), level(18, "trimmed"), level(5, "minimal")]));
    expect(events.map(({ type }) => type)).toEqual(["frame", "notice"]);
    expect(events[1]).toEqual({
      type: "notice",
      session: "s1",
      code: null,
      message:
        "policy trimmed #18 #20, cut to the minimum #5 (not used for a while); `aperture undo 4` undoes it",
      seq: 7,
    });
  });

  it("contain no notice for renditions or for acts of the user", () => {
    const rendition = { content: "c" as never, tokens: { count: 3, exact: false } };
    const made: Delta = {
      type: "rendition-set",
      block: blockId(1),
      level: "trimmed",
      from: null,
      to: rendition,
    };
    expect(notices(frame([made], { cause: { type: "policy", step: null, reason: "renditions" } }))).toEqual(
      [],
    );
    const cause = { type: "command", step: stepId(1), reason: "" } as const;
    expect(notices(frame([level(1, "trimmed", "user")], { actor: "user", cause }))).toEqual([]);
  });

  it("contain a notice for a rewrite, with its predicted cost if there is one", () => {
    const epoch: Delta = {
      type: "epoch-started",
      view,
      epoch: 2,
      cut: null,
      reason: "pressure",
      means: "own",
    };
    const request = { type: "request", step: null, reason: "" } as const;
    const noticesOf = (delta: Delta) => notices(frame([delta], { actor: "client", cause: request }));
    expect(noticesOf(epoch)).toEqual(["the transcript was written anew (window pressure)"]);
    expect(noticesOf({ ...epoch, predicted: { rewritten: 900, unchanged: 300, savedEach: 40 } })).toEqual([
      "the transcript was written anew (window pressure): its prompt is expected to cost as much as 900 input " +
        "tokens, unchanged 300; every later request saves 40",
    ]);
  });

  it("list the first blocks of many and count the rest", () => {
    const many = Array.from({ length: 11 }, (_, at) => level(at + 1, "trimmed"));
    expect(notices(frame(many))[0]).toContain("trimmed #1 #2 #3 #4 #5 #6 #7 #8 and 3 more (");
  });
});

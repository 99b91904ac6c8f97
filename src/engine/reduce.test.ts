import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deltaExamples } from "../../test/support/delta-examples.ts";
import { dump, main, TestSession } from "../../test/support/engine.ts";
import { intents, live } from "../../test/support/random-session.ts";
import {
  AssertionFault,
  type ErrorCode,
  frameHash,
  limits,
  PagedTable,
  type Result,
  seqOf,
  sessionId,
  turnOf,
} from "../base/index.ts";
import { type Delta, deltaTypes } from "./frames/delta.ts";
import { type Frame, sealFrame } from "./frames/frame.ts";
import { applyDelta, reduce, replayFrames } from "./reduce.ts";
import { emptyState, type State } from "./state.ts";

const codeOf = (result: Result<unknown>): ErrorCode | null => (result.ok ? null : result.error.code);

/** The frame with some fields changed and sealed again, so that only the change is wrong. */
function sealAgain(session: TestSession, change: Partial<Frame>): Frame {
  const { hash: _, prevHash: __, ...draft } = session.frame([]);
  return sealFrame({ ...draft, ...change }, session.state.hash);
}

describe("a frame that does not fit into the log is refused", () => {
  it.each<[string, ErrorCode, (session: TestSession) => Frame]>([
    ["of another session", "AP_FRAME_SESSION", (s) => sealAgain(s, { session: sessionId("other") })],
    ["that leaves a gap", "AP_FRAME_ORDER", (s) => sealAgain(s, { seq: seqOf(s.state.seq + 2) })],
    ["that comes a second time", "AP_FRAME_ORDER", (s) => s.frames[0] as Frame],
    ["numbered zero", "AP_FRAME_ORDER", (s) => sealAgain(s, { seq: seqOf(0) })],
    [
      "that follows another frame",
      "AP_FRAME_CHAIN",
      (s) => ({ ...s.frame([]), prevHash: frameHash("ab".repeat(32)) }),
    ],
    ["that was changed", "AP_FRAME_HASH", (s) => ({ ...s.frame([]), turn: turnOf(9) })],
    [
      "that claims another hash",
      "AP_FRAME_HASH",
      (s) => ({ ...s.frame([]), hash: frameHash("ab".repeat(32)) }),
    ],
  ])("a frame %s is refused with %s", (_, code, make) => {
    const session = new TestSession();
    const frame = make(session);
    const before = dump(session.state);
    expect(codeOf(reduce(session.state, frame))).toBe(code);
    expect(dump(session.state)).toEqual(before);
  });

  it("a frame with more deltas than the limit is refused with AP_FRAME_LIMIT, and one at the limit is accepted", () => {
    const session = new TestSession();
    const block = session.add();
    const purges = (count: number): Delta[] =>
      Array.from({ length: count }, () => ({ type: "block-purged", block }));
    expect(codeOf(session.attempt(purges(limits.deltasPerFrameMax + 1)))).toBe("AP_FRAME_LIMIT");
    expect(codeOf(session.attempt(purges(limits.deltasPerFrameMax)))).toBeNull();
  });

  it("a frame beyond the limit of frames is refused with AP_FRAME_LIMIT", () => {
    const session = new TestSession();
    const at = (seq: number): State => ({ ...session.state, seq: seqOf(seq) });
    const next = (state: State) => reduce(state, sealAgain(session, { seq: seqOf(state.seq + 1) }));
    expect(codeOf(next(at(limits.framesMax - 1)))).toBeNull();
    expect(codeOf(next(at(limits.framesMax)))).toBe("AP_FRAME_LIMIT");
  });
});

describe("a frame", () => {
  it("without deltas moves the state by one seq and changes nothing else", () => {
    const session = new TestSession();
    const { seq, hash, ...tables } = session.state;
    const frame = session.frame([]);
    const next = reduce(session.state, frame);
    expect(next.ok && next.value).toEqual({ ...tables, seq: seq + 1, hash: frame.hash });
    expect(frame.hash).not.toBe(hash);
  });

  it("is atomic: if its last delta does not fit, its first has no effect", () => {
    const session = new TestSession();
    const block = session.add();
    const tokens = { count: 1, exact: true };
    const before = dump(session.state);
    const counted = { type: "tokens-counted", block, tokens } as const;
    expect(codeOf(session.attempt([counted, counted]))).toBe("AP_TOKENS_FROZEN");
    expect(dump(session.state)).toEqual(before);
    session.append([counted]);
  });

  it("is refused because of its first delta that does not fit", () => {
    const session = new TestSession();
    const fits = { type: "run-started", stream: main, from: 0, to: 1 } as const;
    const does = { type: "block-purged", block: session.wished().id } as const;
    expect(codeOf(session.attempt([does, fits]))).toBe("AP_BLOCK_UNKNOWN");
    expect(codeOf(session.attempt([does, { ...fits, to: 9 }]))).toBe("AP_BLOCK_UNKNOWN");
    expect(codeOf(session.attempt([{ ...fits, to: 9 }, does]))).toBe("AP_RUN_INVALID");
  });

  it("whose step does not fit is refused with all its deltas", () => {
    const session = new TestSession();
    const block = session.wished();
    const cause = { type: "undo", step: null, reason: "" } as const;
    expect(codeOf(session.attempt([{ type: "block-added", block }], { cause }))).toBe("AP_STEP_INVALID");
    expect(session.isInReach(block.id)).toBe(false);
  });

  it("applies each delta on top of its earlier ones", () => {
    const session = new TestSession();
    const block = session.wished();
    session.append([
      { type: "block-added", block },
      { type: "topics-set", block: block.id, from: [], to: ["a"] },
      { type: "topics-set", block: block.id, from: ["a"], to: ["b"] },
    ]);
    expect(session.state.blocks.get(block.id)?.attributes.value.topics).toEqual(["b"]);
  });

  it("and the state it is applied to are never written: both may be deeply frozen", () => {
    fc.assert(
      fc.property(intents(40), (list) => {
        const { frames, states } = live(list);
        let state = deepFreeze(emptyState(states[0]?.session ?? sessionId("s")));
        for (const frame of frames) {
          const next = reduce(state, deepFreeze(frame));
          expect(codeOf(next)).toBeNull();
          if (next.ok) state = deepFreeze(next.value);
        }
        expect(dump(state)).toEqual(dump(states.at(-1) as State));
      }),
      { numRuns: 20 },
    );
  });
});

describe("the reducer", () => {
  it.each(deltaTypes)(
    "knows %s, and refuses one that does not fit with an error, never by throwing",
    (type) => {
      const state = { ...new TestSession().state, seq: seqOf(2) };
      expect(codeOf(applyDelta(state, deltaExamples[type])) ?? "AP_OK").toMatch(/^AP_/);
      expect(codeOf(applyDelta(emptyState(state.session), deltaExamples[type])) ?? "AP_OK").toMatch(/^AP_/);
    },
  );

  it("throws on an unknown type: shapes are checked before", () => {
    const odd = { type: "facet-deleted" } as unknown as Delta;
    expect(() => applyDelta(new TestSession().state, odd)).toThrow(AssertionFault);
  });
});

describe("replay", () => {
  it("of no frames is the state it began with", () => {
    const state = emptyState(sessionId("s"));
    expect(replayFrames(state, [])).toEqual({ ok: true, value: state });
  });

  it("stops at the first frame that does not fit and names it", () => {
    const session = new TestSession();
    session.pass(5);
    const broken = session.frames.map((frame) => (frame.seq === 4 ? { ...frame, time: 0 } : frame));
    const result = replayFrames(emptyState(session.state.session), broken);
    expect(result.ok ? null : result.error).toMatchObject({ code: "AP_FRAME_HASH", details: { seq: 4 } });
  });

  it("reads frames one at a time, as a store returns them", () => {
    const session = new TestSession();
    session.run();
    let read = 0;
    function* stored() {
      for (const frame of session.frames) {
        read += 1;
        yield frame;
      }
    }
    const result = replayFrames(emptyState(session.state.session), stored());
    expect(result.ok && dump(result.value)).toEqual(dump(session.state));
    expect([read, session.frames.at(-1)?.stream]).toEqual([2, main]);
  });
});

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const item of Object.values(value)) deepFreeze(item);
  if (value instanceof PagedTable) for (const [, page] of value.pages()) deepFreeze(page.items);
  return Object.freeze(value);
}

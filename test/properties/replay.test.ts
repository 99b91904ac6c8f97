import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seqOf, unwrap } from "../../src/base/index.ts";
import { type Frame, parseFrame } from "../../src/engine/frames/index.ts";
import { emptyState, reduce, replayFrames, type State, stateFromPages } from "../../src/engine/index.ts";
import { momentAt, now } from "../../src/engine/moment/index.ts";
import type { StatePages } from "../../src/engine/snapshot.ts";
import { describeMoment } from "../support/describe-moment.ts";
import { intents, live, testSession } from "../support/random-session.ts";
import { numRuns } from "../support/runs.ts";
import { stateToPages } from "../support/state-pages.ts";

const at = (state: State, seq: number) => describeMoment(unwrap(momentAt(state, seq)));
const text = (value: unknown) => JSON.stringify(value);

describe("one log: live, past, replayed and reopened states agree", () => {
  it("the state as of any seq equals the live state at that seq", () => {
    fc.assert(
      fc.property(intents(60), (list) => {
        const { states } = live(list);
        const seen = states.map((state) => text(describeMoment(now(state))));
        const last = states.at(-1) as State;
        seen.forEach((then, seq) => {
          expect(text(at(last, seq))).toBe(then);
        });
      }),
      numRuns(150),
    );
  });

  it("a state is never changed by later frames", () => {
    fc.assert(
      fc.property(intents(60), (list) => {
        const seen: string[] = [];
        const { states, frames } = live(list);
        let state = emptyState(testSession);
        for (const frame of frames) {
          seen.push(text(describeMoment(now(state))));
          state = unwrap(reduce(state, frame));
        }
        seen.forEach((then, seq) => {
          expect(text(describeMoment(now(states[seq] as State)))).toBe(then);
        });
      }),
      numRuns(80),
    );
  });

  it("a snapshot at any seq plus later frames gives the whole state, at every seq", () => {
    fc.assert(
      fc.property(intents(60), fc.nat(), (list, cut) => {
        const { frames, states } = live(list);
        const last = states.at(-1) as State;
        const seq = cut % states.length;
        const base = unwrap(stateFromPages(reread(stateToPages(states[seq] as State, new Set()))));
        const reopened = unwrap(replayFrames(base, frames.slice(seq)));
        for (let past = 0; past <= last.seq; past += 1)
          expect(text(at(reopened, past))).toBe(text(at(last, past)));
        expect(reopened.hash).toBe(last.hash);
      }),
      numRuns(80),
    );
  });

  it("a later snapshot has only new pages, and is complete with the kept ones", () => {
    fc.assert(
      fc.property(intents(80), (list) => {
        const { states } = live(list);
        const pages = new Map<string, Uint8Array>();
        let known = new Set<string>();
        for (const state of states.filter((_, index) => index % 7 === 0)) {
          const taken = stateToPages(state, known);
          for (const [name, bytes] of taken.pages) pages.set(name, bytes);
          known = new Set(taken.pageHashes);
          const kept = new Map([...pages].filter(([name]) => known.has(name)));
          const reopened = unwrap(stateFromPages({ ...taken, pages: kept }));
          expect(text(describeMoment(now(reopened)))).toBe(text(describeMoment(now(state))));
        }
      }),
      numRuns(60),
    );
  });
});

describe("the hash chain", () => {
  it("detects any changed byte of any frame", () => {
    fc.assert(
      fc.property(intents(20), fc.nat(), fc.integer({ min: 1, max: 127 }), (list, where, flip) => {
        const { frames } = live(list);
        const bytes = Buffer.from(text(frames));
        const at = where % bytes.length;
        bytes[at] = ((bytes[at] as number) ^ flip) & 0x7f;
        expect(isIntact(bytes.toString("utf8"), frames)).toBe(false);
      }),
      numRuns(400),
    );
  });

  it("refuses a missing, repeated or misplaced frame", () => {
    fc.assert(
      fc.property(intents(20), fc.nat(), (list, where) => {
        const { frames } = live(list);
        const index = where % frames.length;
        const twice = [...frames.slice(0, index + 1), ...frames.slice(index)];
        const without = [...frames.slice(0, index), ...frames.slice(index + 1)];
        const swapped = frames.length < 2 ? twice : [...frames].reverse();
        for (const wrong of [twice, swapped, ...(index < frames.length - 1 ? [without] : [])]) {
          expect(replayFrames(emptyState(testSession), wrong).ok).toBe(false);
        }
      }),
      numRuns(100),
    );
  });
});

describe("parseFrame", () => {
  it("accepts every frame we make", () => {
    fc.assert(
      fc.property(intents(60), (list) => {
        for (const frame of live(list).frames)
          expect(parseFrame(JSON.parse(text(frame)))).toEqual({ ok: true, value: frame });
      }),
      numRuns(60),
    );
  });

  it("never throws, and accepts no other JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(parseFrame(value).ok).toBe(false);
      }),
      numRuns(500),
    );
  });

  it("refuses a frame with one value replaced by something of another type", () => {
    fc.assert(
      fc.property(
        intents(12),
        fc.nat(),
        fc.constantFrom<unknown>({}, [], -1, 1.5, "?", true),
        (list, where, odd) => {
          const frame = live(list).frames.at(-1) as Frame;
          const parsed = parseFrame(withLeafReplaced(frame, where, odd));
          if (parsed.ok) expect(reduce(emptyState(testSession), parsed.value).ok).toBe(false);
        },
      ),
      numRuns(400),
    );
  });
});

/** Pages as they come back from a disk: bytes that share nothing with the state that wrote them. */
function reread(pages: StatePages): StatePages {
  return {
    ...pages,
    seq: seqOf(pages.seq),
    pages: new Map([...pages.pages].map(([k, v]) => [k, Buffer.from(v)])),
  };
}

function isIntact(json: string, original: readonly Frame[]): boolean {
  try {
    const frames = JSON.parse(json) as unknown[];
    const parsed = frames.map((frame) => unwrap(parseFrame(frame)));
    return parsed.length === original.length && replayFrames(emptyState(testSession), parsed).ok;
  } catch {
    return false;
  }
}

/** The n-th leaf of the value (counting round) replaced. */
function withLeafReplaced(value: unknown, where: number, odd: unknown): unknown {
  const leaves = countLeaves(value);
  let left = where % leaves;
  const walk = (node: unknown): unknown => {
    if (typeof node !== "object" || node === null) return left-- === 0 ? odd : node;
    if (Array.isArray(node)) return node.map(walk);
    return Object.fromEntries(Object.entries(node).map(([key, item]) => [key, walk(item)]));
  };
  return walk(value);
}

function countLeaves(node: unknown): number {
  if (typeof node !== "object" || node === null) return 1;
  return Object.values(node).reduce((sum: number, item) => sum + countLeaves(item), 0);
}

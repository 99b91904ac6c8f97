import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  laterNumbers,
  loadNumbers,
  NumberDraft,
  type SessionNumbers,
  type StreamNumbers,
  sessionNumbers,
  streamNumbers,
  withoutSession,
} from "./block-numbers.ts";

const unit = (key: string) => ({ key, kind: "user", tokens: 7 }) as const;

/** The block and message number that a key gets. */
function numbersFor(draft: NumberDraft, key: string, nth = 0): readonly [number, number] | null {
  const numbered = draft.numberBlock(unit(key), nth);
  return numbered === null ? null : [numbered.block, numbered.message];
}

const fresh = () => streamNumbers(sessionNumbers());
const draftOf = (numbers: StreamNumbers, turn = 1) => new NumberDraft(numbers, turn);

describe("a stream's blocks", () => {
  test("are numbered from 1, with one message number until the next message is opened", () => {
    const draft = draftOf(fresh());
    expect([numbersFor(draft, "a"), numbersFor(draft, "b")]).toEqual([
      [1, 1],
      [2, 1],
    ]);
    draft.openMessage();
    expect(numbersFor(draft, "c")).toEqual([3, 2]);
  });

  test("have a turn, a size and a ttl", () => {
    expect(draftOf(fresh(), 4).numberBlock(unit("a"), 0)).toEqual({
      ...{ block: 1, message: 1, turn: 4, kind: "user", tokens: 7 },
      ttl: { at: 112, spanTurns: 108 },
    });
  });

  test("keep their number on every path; each copy has its own", () => {
    const first = draftOf(fresh());
    const given = [numbersFor(first, "a", 0), numbersFor(first, "a", 1)];
    const second = draftOf(first.done(), 2);
    expect([numbersFor(second, "a", 0), numbersFor(second, "a", 1)]).toEqual(given);
    expect(numbersFor(second, "a", 2)).toEqual([3, 2]);
  });

  test("of a draft that is not finished were never numbered", () => {
    const first = draftOf(fresh());
    numbersFor(first, "first");
    const numbers = first.done();
    expect(numbersFor(draftOf(numbers), "a")).toEqual([2, 2]);
    expect(numbers.known.has("a")).toBe(false);
    expect(numbersFor(draftOf(numbers), "b")).toEqual([2, 2]);
  });

  test("have no number until the session's numbers are loaded", () => {
    const numbers = streamNumbers(null);
    expect(numbersFor(draftOf(numbers), "a")).toBe(null);
    const old = { key: "old", block: 3, message: 2, turn: 1 };
    const draft = draftOf(loadNumbers(numbers, sessionNumbers({ block: 40, message: 9 }), [old]), 2);
    expect([numbersFor(draft, "old"), numbersFor(draft, "new")]).toEqual([
      [3, 2],
      [2001, 2001],
    ]);
  });

  test("come after the log's blocks with the same key", () => {
    const { known, ...numbers } = fresh();
    const learned = { ...numbers, known: known.with([{ key: "a", block: 2001, message: 2001, turn: 2 }]) };
    const loaded = loadNumbers(learned, sessionNumbers(), [{ key: "a", block: 3, message: 2, turn: 1 }]);
    expect([loaded.known.find("a", 0)?.block, loaded.known.find("a", 1)?.block]).toEqual([3, 2001]);
  });

  test("get no number after a request that the log numbers, until numbers are loaded again", () => {
    const first = draftOf(fresh());
    numbersFor(first, "a");
    const passed = withoutSession(first.done());
    expect([passed.session, numbersFor(draftOf(passed), "b")]).toEqual([null, null]);
    const loaded = loadNumbers(passed, sessionNumbers({ block: 1500, message: 1 }), []);
    expect(numbersFor(draftOf(loaded, 2), "b")).toEqual([2001, 1]);
  });

  test("continue their numbers if the session is loaded a second time", () => {
    const first = draftOf(fresh());
    numbersFor(first, "a");
    const loaded = loadNumbers(first.done(), sessionNumbers({ block: 5000, message: 5000 }), []);
    expect(numbersFor(draftOf(loaded), "b")).toEqual([2, 2]);
  });
});

describe("a session's numbers", () => {
  const firstBlocks = (session: SessionNumbers, count: number): readonly (number | undefined)[] => {
    const draft = draftOf(streamNumbers(session));
    return Array.from({ length: count }, (_, n) => numbersFor(draft, `${n}`)?.[0]);
  };

  test("leave every other thousand to the log", () => {
    const blocks = firstBlocks(sessionNumbers(), 2_001);
    expect([blocks[0], blocks[999], blocks[1_000], blocks[2_000]]).toEqual([1, 1_000, 2_001, 4_001]);
  });

  test.each([
    [1, 1],
    [2, 2001],
    [1001, 2001],
    [2001, 2001],
    [2002, 4001],
  ])("after %i begin at %i", (next, from) => {
    expect(firstBlocks(sessionNumbers({ block: next, message: 1 }), 1)).toEqual([from]);
  });

  test("are never given twice to any streams, and never from the log's ranges", () => {
    const takes = fc.array(fc.nat(2), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(takes, fc.nat(6_000), (order, next) => {
        let session = sessionNumbers({ block: next + 1, message: 1 });
        const streams = [0, 1, 2].map(() => streamNumbers(session));
        const given = order.flatMap((stream, at) => {
          const numbers = streams[stream] ?? streamNumbers(null);
          // Each stream is planned with the newest numbers of the session.
          const draft = draftOf({ ...numbers, session });
          // More than a claim holds, so that each takes several.
          const blocks = Array.from({ length: 400 }, (_, n) => numbersFor(draft, `${at}.${n}`)?.[0] ?? -1);
          streams[stream] = draft.done();
          session = laterNumbers(session, draft.done().session ?? session);
          return blocks;
        });
        expect(new Set(given).size).toBe(given.length);
        expect(given.every((block) => block > next && Math.floor((block - 1) / 1_000) % 2 === 0)).toBe(true);
      }),
      { numRuns: 15 },
    );
  });
});

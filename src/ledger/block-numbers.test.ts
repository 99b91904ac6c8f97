import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type NumberDraft, SessionNumbers, StreamNumbers } from "./block-numbers.ts";

const unit = (key: string) => ({ key, kind: "user", tokens: 7 }) as const;

/** The block and message number that a key gets. */
function numbersFor(draft: NumberDraft, key: string, nth = 0): readonly [number, number] | null {
  const numbered = draft.numberBlock(unit(key), () => nth);
  return numbered === null ? null : [numbered.block, numbered.message];
}

describe("a stream's blocks", () => {
  test("are numbered from 1, with one message number until the next message is opened", () => {
    const draft = new StreamNumbers(new SessionNumbers()).draft(1);
    expect([numbersFor(draft, "a"), numbersFor(draft, "b")]).toEqual([
      [1, 1],
      [2, 1],
    ]);
    draft.openMessage();
    expect(numbersFor(draft, "c")).toEqual([3, 2]);
  });

  test("have a turn, a size and a ttl", () => {
    const draft = new StreamNumbers(new SessionNumbers()).draft(4);
    expect(draft.numberBlock(unit("a"), () => 0)).toEqual({
      ...{ block: 1, message: 1, turn: 4, kind: "user", tokens: 7 },
      ttl: { at: 112, spanTurns: 108 },
    });
  });

  test("keep their number on every path; each copy has its own", () => {
    const numbers = new StreamNumbers(new SessionNumbers());
    const first = numbers.draft(1);
    const given = [numbersFor(first, "a", 0), numbersFor(first, "a", 1)];
    first.commit();
    const second = numbers.draft(2);
    expect([numbersFor(second, "a", 0), numbersFor(second, "a", 1)]).toEqual(given);
    expect(numbersFor(second, "a", 2)).toEqual([3, 2]);
  });

  test("of a discarded draft were never numbered", () => {
    const numbers = new StreamNumbers(new SessionNumbers());
    numbersFor(numbers.draft(1), "first");
    const draft = numbers.draft(1);
    expect(numbersFor(draft, "a")).toEqual([2, 2]);
    draft.discard();
    expect(numbers.hasKey("a")).toBe(false);
    expect(numbersFor(numbers.draft(1), "b")).toEqual([2, 2]);
  });

  test("have no number until the session's numbers are loaded", () => {
    const numbers = new StreamNumbers(null);
    expect([numbers.isReady, numbersFor(numbers.draft(1), "a")]).toEqual([false, null]);
    numbers.load(new SessionNumbers({ block: 40, message: 9 }), [
      { key: "old", block: 3, message: 2, turn: 1 },
    ]);
    const draft = numbers.draft(2);
    expect([numbersFor(draft, "old"), numbersFor(draft, "new")]).toEqual([
      [3, 2],
      [2001, 2001],
    ]);
  });

  test("come after the log's blocks with the same key", () => {
    const numbers = new StreamNumbers(new SessionNumbers());
    numbers.learn("a", { block: 2001, message: 2001, turn: 2 });
    numbers.load(new SessionNumbers(), [{ key: "a", block: 3, message: 2, turn: 1 }]);
    expect([numbers.find("a", 0)?.block, numbers.find("a", 1)?.block]).toEqual([3, 2001]);
  });

  test("get no number after invalidation until numbers are loaded again", () => {
    const numbers = new StreamNumbers(new SessionNumbers());
    numbersFor(numbers.draft(1), "a");
    numbers.invalidate();
    expect([numbers.isReady, numbersFor(numbers.draft(2), "b")]).toEqual([false, null]);
    numbers.load(new SessionNumbers({ block: 1500, message: 1 }), []);
    expect(numbersFor(numbers.draft(2), "b")).toEqual([2001, 1]);
  });

  test("continue their numbers if the session is loaded a second time", () => {
    const numbers = new StreamNumbers(new SessionNumbers());
    numbersFor(numbers.draft(1), "a");
    numbers.load(new SessionNumbers({ block: 5000, message: 5000 }), []);
    expect(numbersFor(numbers.draft(1), "b")).toEqual([2, 2]);
  });

  test("are learned once", () => {
    const numbers = new StreamNumbers(new SessionNumbers());
    numbers.learn("a", { block: 8, message: 1, turn: 1 });
    numbers.learn("a", { block: 8, message: 1, turn: 1 });
    numbers.learn("a", { block: 9, message: 2, turn: 1 });
    expect([numbers.find("a", 0), numbers.find("a", 1), numbers.find("a", 2)]).toEqual([
      { block: 8, message: 1, turn: 1 },
      { block: 9, message: 2, turn: 1 },
      null,
    ]);
  });
});

describe("a session's numbers", () => {
  test("leave every other thousand to the log", () => {
    const session = new SessionNumbers();
    const claims = [session.claim("block"), session.claim("block"), session.claim("message")];
    expect(claims).toEqual([
      { next: 1, end: 1001 },
      { next: 2001, end: 3001 },
      { next: 1, end: 1001 },
    ]);
  });

  test.each([
    [1, 1],
    [2, 2001],
    [1001, 2001],
    [2001, 2001],
    [2002, 4001],
  ])("after %i begin at %i", (next, from) => {
    expect(new SessionNumbers({ block: next, message: 1 }).claim("block").next).toBe(from);
  });

  test("are never given twice to any streams, and never from the log's ranges", () => {
    const takes = fc.array(fc.nat(2), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(takes, fc.nat(6_000), (order, next) => {
        const session = new SessionNumbers({ block: next + 1, message: 1 });
        const streams = [0, 1, 2].map(() => new StreamNumbers(session));
        const given = order.flatMap((stream, at) => {
          const draft = streams[stream]?.draft(1);
          // More than a claim holds, so that each takes several.
          return Array.from(
            { length: 400 },
            (_, n) => draft?.numberBlock(unit(`${at}.${n}`), () => 0)?.block ?? -1,
          );
        });
        expect(new Set(given).size).toBe(given.length);
        expect(given.every((block) => block > next && Math.floor((block - 1) / 1_000) % 2 === 0)).toBe(true);
      }),
      { numRuns: 15 },
    );
  });
});

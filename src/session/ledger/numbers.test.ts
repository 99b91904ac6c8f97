import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type NumberDraft, SessionNumbers, StreamNumbers } from "./numbers.ts";

const unit = (key: string) => ({ key, kind: "user", tokens: 7 }) as const;

/** The number of the block a key is given, and the message it lies in. */
function called(draft: NumberDraft, key: string, nth = 0): readonly [number, number] | null {
  const numbered = draft.number(unit(key), () => nth);
  return numbered === null ? null : [numbered.block, numbered.message];
}

describe("a stream's blocks", () => {
  test("are numbered from 1, one message for all that comes until the next is opened", () => {
    const draft = new StreamNumbers(new SessionNumbers()).draft(1);
    expect([called(draft, "a"), called(draft, "b")]).toEqual([
      [1, 1],
      [2, 1],
    ]);
    draft.open();
    expect(called(draft, "c")).toEqual([3, 2]);
  });

  test("are told with their turn, their size and when they expire", () => {
    const draft = new StreamNumbers(new SessionNumbers()).draft(4);
    expect(draft.number(unit("a"), () => 0)).toEqual({
      ...{ block: 1, message: 1, turn: 4, kind: "user", tokens: 7 },
      ttl: { at: 112, spanTurns: 108 },
    });
  });

  test("keep their number on every path, each copy its own", () => {
    const numbers = new StreamNumbers(new SessionNumbers());
    const first = numbers.draft(1);
    const given = [called(first, "a", 0), called(first, "a", 1)];
    first.keep();
    const second = numbers.draft(2);
    expect([called(second, "a", 0), called(second, "a", 1)]).toEqual(given);
    expect(called(second, "a", 2)).toEqual([3, 2]);
  });

  test("that stand in a draft which is not kept were never numbered", () => {
    const numbers = new StreamNumbers(new SessionNumbers());
    called(numbers.draft(1), "first");
    const draft = numbers.draft(1);
    expect(called(draft, "a")).toEqual([2, 2]);
    draft.discard();
    expect(numbers.knows("a")).toBe(false);
    expect(called(numbers.draft(1), "b")).toEqual([2, 2]);
  });

  test("have no number while nobody knows where the session's stand", () => {
    const numbers = new StreamNumbers(null);
    expect([numbers.isReady, called(numbers.draft(1), "a")]).toEqual([false, null]);
    numbers.begin(new SessionNumbers({ block: 40, message: 9 }), [
      { key: "old", block: 3, message: 2, turn: 1 },
    ]);
    const draft = numbers.draft(2);
    expect([called(draft, "old"), called(draft, "new")]).toEqual([
      [3, 2],
      [2001, 2001],
    ]);
  });

  test("follow those of the log, where the same came before", () => {
    const numbers = new StreamNumbers(new SessionNumbers());
    numbers.learn("a", { block: 2001, message: 2001, turn: 2 });
    numbers.begin(new SessionNumbers(), [{ key: "a", block: 3, message: 2, turn: 1 }]);
    expect([numbers.find("a", 0)?.block, numbers.find("a", 1)?.block]).toEqual([3, 2001]);
  });

  test("are in doubt once the log has numbered something: it has to be asked again", () => {
    const numbers = new StreamNumbers(new SessionNumbers());
    called(numbers.draft(1), "a");
    numbers.doubt();
    expect([numbers.isReady, called(numbers.draft(2), "b")]).toEqual([false, null]);
    numbers.begin(new SessionNumbers({ block: 1500, message: 1 }), []);
    expect(called(numbers.draft(2), "b")).toEqual([2001, 1]);
  });

  test("go on where they are when the session is told a second time", () => {
    const numbers = new StreamNumbers(new SessionNumbers());
    called(numbers.draft(1), "a");
    numbers.begin(new SessionNumbers({ block: 5000, message: 5000 }), []);
    expect(called(numbers.draft(1), "b")).toEqual([2, 2]);
  });

  test("are learnt once, whoever tells", () => {
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
  ])("behind %i begin at %i", (next, from) => {
    expect(new SessionNumbers({ block: next, message: 1 }).claim("block").next).toBe(from);
  });

  test("are never given twice, however many streams take them, and none is the log's", () => {
    const takes = fc.array(fc.nat(2), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(takes, fc.nat(6_000), (order, next) => {
        const session = new SessionNumbers({ block: next + 1, message: 1 });
        const streams = [0, 1, 2].map(() => new StreamNumbers(session));
        const given = order.flatMap((of, at) => {
          const draft = streams[of]?.draft(1);
          // More than a claim holds, so that each takes several.
          return Array.from(
            { length: 400 },
            (_, n) => draft?.number(unit(`${at}.${n}`), () => 0)?.block ?? -1,
          );
        });
        expect(new Set(given).size).toBe(given.length);
        expect(given.every((block) => block > next && Math.floor((block - 1) / 1_000) % 2 === 0)).toBe(true);
      }),
      { numRuns: 15 },
    );
  });
});

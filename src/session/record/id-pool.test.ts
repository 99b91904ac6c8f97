import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { main, TestSession } from "../../../test/support/engine.ts";
import { limits, streamId } from "../../base/index.ts";
import type { Delta } from "../../engine/index.ts";
import { IdPool } from "./id-pool.ts";

/** Where the log stands after what `TestSession` has opened. */
const begun = () => new TestSession();
const taken = (pool: IdPool, count: number) => Array.from({ length: count }, () => pool.take("block"));
/** A block as the desk calls it. */
const told = (block: number, message: number) => ({ block, message, turn: 1 });
const ranges = (deltas: readonly Delta[] | null) =>
  (deltas ?? []).map((delta) => (delta.type === "ids-reserved" ? [delta.of, delta.from, delta.to] : delta));

describe("ids of a stream", () => {
  test("are reserved a hundred at a time, and given in order until they are used up", () => {
    const session = begun();
    const { next } = session.state;
    const pool = new IdPool(main);
    const deltas = pool.reserve(session.state, { block: 3, message: 1 });
    expect(ranges(deltas)).toEqual([
      ["block", next.block, next.block + 100],
      ["message", next.message, next.message + 100],
    ]);
    session.append(deltas);
    expect(taken(pool, 3)).toEqual([0, 1, 2].map((at) => next.block + at));
    expect(pool.reserve(session.state, { block: 97, message: 0 })).toEqual([]);
    expect(pool.reserve(session.state, { block: 98, message: 0 })).toHaveLength(1);
  });

  test("are reserved together where more are needed, as many in one range as a range may have", () => {
    const session = begun();
    const pool = new IdPool(main);
    const wanted = limits.idsPerReservationMax + 5;
    const deltas = pool.reserve(session.state, { block: wanted, message: 0 });
    expect(deltas).toHaveLength(2);
    session.append(deltas);
    expect(new Set(taken(pool, wanted)).size).toBe(wanted);
  });

  test("cannot be taken before they are reserved", () => {
    expect(() => new IdPool(main).take("block")).toThrow("reserved before");
  });

  test("are the odd thousands where the desk numbers too", () => {
    const session = begun();
    const pool = new IdPool(main, { isShared: true });
    const deltas = pool.reserve(session.state, { block: 1_001, message: 0 });
    expect(ranges(deltas)).toEqual([
      ["block", 1_001, 2_001],
      ["block", 3_001, 4_001],
    ]);
    session.append(deltas);
    expect(taken(pool, 1_001).slice(-2)).toEqual([2_000, 3_001]);
  });
});

describe("numbers that the desk has given", () => {
  const desk = told(2_007, 4_003);

  test("are taken over with the thousand they lie in, once", () => {
    const session = begun();
    const pool = new IdPool(main, { isShared: true });
    const deltas = pool.accept(session.state, desk);
    expect(ranges(deltas)).toEqual([
      ["block", 2_001, 3_001],
      ["message", 4_001, 5_001],
    ]);
    expect(pool.accept(session.state, told(2_008, 4_003))).toEqual([]);
    session.append(deltas ?? []);
    // Another process: nothing is reserved twice.
    expect(new IdPool(main, { isShared: true }).accept(session.state, desk)).toEqual([]);
  });

  test("are refused where another stream has them, both of them", () => {
    const session = begun();
    const other = streamId(2);
    session.append([{ type: "stream-opened", stream: other, name: "other", parent: null }]);
    session.append(new IdPool(other).accept(session.state, desk) ?? []);
    const pool = new IdPool(main, { isShared: true });
    expect(pool.accept(session.state, desk)).toBeNull();
    expect(pool.accept(session.state, told(6_001, 4_009))).toBeNull();
    // What was refused has reserved nothing.
    expect(ranges(pool.accept(session.state, told(6_001, 6_001)))).toHaveLength(2);
  });

  test("are refused where the log is about to give them itself", () => {
    const session = begun();
    const pool = new IdPool(main);
    const { block, message } = session.state.next;
    pool.reserve(session.state, { block: 1, message: 1 });
    expect(pool.accept(session.state, told(block, message))).toBeNull();
    const shared = new IdPool(main, { isShared: true });
    session.append(shared.reserve(session.state, { block: 1, message: 1 }));
    expect(shared.accept(session.state, told(1_500, 1_500))).toBeNull();
  });
});

test("whatever is asked of several streams in turn, every frame is accepted and no id is given twice", () => {
  const other = streamId(2);
  const step = fc.record({
    of: fc.nat(1),
    count: fc.integer({ min: 1, max: 1_200 }),
    given: fc.option(fc.integer({ min: 1, max: 9_000 })),
    isShared: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
      const session = begun();
      session.append([{ type: "stream-opened", stream: other, name: "other", parent: null }]);
      const sharing = { isShared: false };
      const pools = [new IdPool(main, sharing), new IdPool(other, sharing)] as const;
      const given: number[] = [];
      for (const { of, count, given: id, isShared } of steps) {
        sharing.isShared ||= isShared;
        const pool = pools[of] ?? pools[0];
        const accepted = id === null ? null : pool.accept(session.state, told(id, id));
        const reserved = pool.reserve(session.state, { block: count, message: 1 });
        // Both go into one frame, as a draft puts them there.
        session.append([...(accepted ?? []), ...reserved]);
        given.push(...taken(pool, count));
      }
      expect(new Set(given).size).toBe(given.length);
    }),
    { numRuns: 60 },
  );
});

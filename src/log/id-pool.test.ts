import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { main, TestSession } from "../../test/support/engine.ts";
import { limits, streamId } from "../base/index.ts";
import type { Delta } from "../engine/frames/index.ts";
import { IdPool } from "./id-pool.ts";

/** A log in which `TestSession` has opened its stream. */
const begun = () => new TestSession();
const taken = (pool: IdPool, count: number) => Array.from({ length: count }, () => pool.take("block"));
/** A block with the ids the planner gave it. */
const numbers = (block: number, message: number) => ({ block, message, turn: 1 });
const ranges = (deltas: readonly Delta[] | null) =>
  (deltas ?? []).map((delta) => (delta.type === "ids-reserved" ? [delta.of, delta.from, delta.to] : delta));

describe("ids of a stream", () => {
  test("are reserved a hundred at a time and taken in order", () => {
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

  test("are reserved in several ranges if one is too small", () => {
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

  test("are the odd thousands if the planner numbers too", () => {
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

describe("ids given by the planner", () => {
  const given = numbers(2_007, 4_003);

  test("are accepted with the thousand they lie in, once", () => {
    const session = begun();
    const pool = new IdPool(main, { isShared: true });
    const deltas = pool.accept(session.state, given);
    expect(ranges(deltas)).toEqual([
      ["block", 2_001, 3_001],
      ["message", 4_001, 5_001],
    ]);
    expect(pool.accept(session.state, numbers(2_008, 4_003))).toEqual([]);
    session.append(deltas ?? []);
    // Another process: nothing is reserved twice.
    expect(new IdPool(main, { isShared: true }).accept(session.state, given)).toEqual([]);
  });

  test("are refused if another stream has one of them", () => {
    const session = begun();
    const other = streamId(2);
    session.append([{ type: "stream-opened", stream: other, name: "other", parent: null }]);
    session.append(new IdPool(other).accept(session.state, given) ?? []);
    const pool = new IdPool(main, { isShared: true });
    expect(pool.accept(session.state, given)).toBeNull();
    expect(pool.accept(session.state, numbers(6_001, 4_009))).toBeNull();
    // A refusal reserves nothing.
    expect(ranges(pool.accept(session.state, numbers(6_001, 6_001)))).toHaveLength(2);
  });

  test("are refused if the log has reserved them for itself", () => {
    const session = begun();
    const pool = new IdPool(main);
    const { block, message } = session.state.next;
    pool.reserve(session.state, { block: 1, message: 1 });
    expect(pool.accept(session.state, numbers(block, message))).toBeNull();
    const shared = new IdPool(main, { isShared: true });
    session.append(shared.reserve(session.state, { block: 1, message: 1 }));
    expect(shared.accept(session.state, numbers(1_500, 1_500))).toBeNull();
  });
});

test("several streams never take the same id, and every frame is accepted", () => {
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
        const accepted = id === null ? null : pool.accept(session.state, numbers(id, id));
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

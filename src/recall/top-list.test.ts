import fc from "fast-check";
import { expect, test } from "vitest";
import { TopList } from "./top-list.ts";

test("a top list keeps the items that sorting would put first", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 })), fc.nat({ max: 6 }), (some, max) => {
      const best = new TopList<number>(max, (a, b) => b - a);
      for (const one of some) best.add(one);
      const sorted = [...some].sort((a, b) => b - a).slice(0, max);
      expect(best.items()).toEqual(sorted);
      expect(best.last()).toBe(some.length >= max ? (sorted.at(-1) ?? null) : null);
    }),
  );
});

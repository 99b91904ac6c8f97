import fc from "fast-check";
import { expect, test } from "vitest";
import { Best } from "./best.ts";

test("it keeps what sorting all of them would put first", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 })), fc.nat({ max: 6 }), (some, max) => {
      const best = new Best<number>(max, (a, b) => b - a);
      for (const one of some) best.add(one);
      const sorted = [...some].sort((a, b) => b - a).slice(0, max);
      expect(best.all()).toEqual(sorted);
      expect(best.last()).toBe(some.length >= max ? (sorted.at(-1) ?? null) : null);
    }),
  );
});

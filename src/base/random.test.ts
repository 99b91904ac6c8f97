import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AssertionFault } from "./assert.ts";
import { seededRandom } from "./random.ts";

const take = (seed: number, count: number) => {
  const random = seededRandom(seed);
  return Array.from({ length: count }, random.float);
};

describe("seededRandom", () => {
  it("gives the same numbers for the same seed, on every machine and in every version", () => {
    expect(take(1, 3)).toEqual([0.6270739405881613, 0.002735721180215478, 0.5274470399599522]);
    expect(take(42, 50)).toEqual(take(42, 50));
  });

  it("gives other numbers for another seed", () => {
    const firsts = new Set(Array.from({ length: 200 }, (_, seed) => take(seed, 1)[0]));
    expect(firsts.size).toBe(200);
  });

  it("two generators do not disturb each other", () => {
    const [one, other] = [seededRandom(7), seededRandom(7)];
    const mixed = [one.float(), other.float(), one.float(), other.float()];
    expect([mixed[0], mixed[2]]).toEqual(take(7, 2));
    expect([mixed[1], mixed[3]]).toEqual(take(7, 2));
  });

  it("stays in [0, 1), and below the bound in whole numbers", () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1, max: 1_000_000 }), (seed, bound) => {
        const random = seededRandom(seed);
        const float = random.float();
        expect(float >= 0 && float < 1).toBe(true);
        const n = random.below(bound);
        expect(Number.isInteger(n) && n >= 0 && n < bound).toBe(true);
      }),
    );
  });

  it("reaches every choice, each about as often as the others", () => {
    const random = seededRandom(3);
    const counts = new Map<string, number>();
    for (let n = 0; n < 4_000; n += 1) {
      const choice = random.pick(["a", "b", "c", "d"]);
      counts.set(choice, (counts.get(choice) ?? 0) + 1);
    }
    expect(counts.size).toBe(4);
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });

  it("refuses to choose from nothing", () => {
    const random = seededRandom(1);
    expect(() => random.pick([])).toThrow(AssertionFault);
    expect(() => random.below(0)).toThrow(AssertionFault);
    expect(() => random.below(-1)).toThrow(AssertionFault);
  });
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { headerNamesMax, manifestNamesMax, NameRank, summaryShare } from "./name-rank.ts";

const one = () => 1;

/** Turns in which nothing is said that anyone could want. */
function passTurns(rank: NameRank, from: number, to: number): void {
  for (let turn = from; turn <= to; turn += 1) rank.add({ turn, kind: "assistant", names: [] });
}

test("a name in sight is not told again, one out of sight that the model used is", () => {
  const rank = new NameRank(one);
  rank.add({ turn: 1, kind: "tool-call", names: ["read_config"] });
  passTurns(rank, 2, 10);
  expect(rank.forManifest({ turn: 10, tokensMax: 50 })).toEqual([]);
  expect(rank.forManifest({ turn: 11, tokensMax: 50 })).toEqual(["read_config"]);
  rank.add({ turn: 12, kind: "tool-result", names: ["read_config"] });
  expect(rank.forManifest({ turn: 13, tokensMax: 50 })).toEqual([]);
});

test("the last turns lead to what stands beside their names in old blocks", () => {
  const rank = new NameRank(one);
  const names = Array.from({ length: 100 }, (_, index) => `name_${index + 100}`);
  rank.add({ turn: 1, kind: "tool-result", names });
  passTurns(rank, 2, 19);
  expect(rank.forManifest({ turn: 20, tokensMax: 4 })).toEqual([]);
  rank.add({ turn: 20, kind: "tool-call", names: ["name_150"] });
  const told = rank.forManifest({ turn: 21, tokensMax: 4 });
  expect([...told].sort()).toEqual(["name_148", "name_149", "name_151", "name_152"]);
});

test("what the model used a moment ago goes before what it used long ago", () => {
  const rank = new NameRank(one);
  rank.add({ turn: 1, kind: "assistant", names: ["used_early"] });
  rank.add({ turn: 30, kind: "assistant", names: ["used_late"] });
  expect(rank.forManifest({ turn: 40, tokensMax: 2 })).toEqual(["used_late", "used_early"]);
});

test("a line of headers gets what was said since the last one, and what stands in it is not told twice", () => {
  const rank = new NameRank(one);
  rank.add({ turn: 1, kind: "tool-result", names: ["only_read"] });
  rank.add({ turn: 1, kind: "assistant", names: ["own_word", "src/some/file.ts"] });
  rank.add({ turn: 2, kind: "user", names: ["user_word"] });
  expect(rank.forHeader({ tokensMax: 50 })).toEqual(["own_word", "src/some/file.ts", "user_word"]);
  rank.stand(["own_word", "src/some/file.ts", "user_word"]);
  expect(rank.forHeader({ tokensMax: 50 })).toEqual([]);
  rank.add({ turn: 3, kind: "assistant", names: ["own_word", "some/file.ts", "another_word"] });
  expect(rank.forHeader({ tokensMax: 50 })).toEqual(["another_word"]);
  passTurns(rank, 4, 14);
  expect(rank.forManifest({ turn: 15, tokensMax: 50 })).toEqual(["another_word"]);
});

test("in a line the cheapest come first, and one of them that is part of a longer one gives way to it", () => {
  const rank = new NameRank((name) => name.length);
  rank.add({ turn: 1, kind: "assistant", names: ["src/long/file.ts", "file.ts", "short_one"] });
  expect(rank.forHeader({ tokensMax: 16 })).toEqual(["file.ts", "short_one"]);
  expect(rank.forHeader({ tokensMax: 25 })).toEqual(["short_one", "src/long/file.ts"]);
});

test("after a fork, a rank filled with what is left answers as if nothing else had been said", () => {
  const block = fc.record({
    kind: fc.constantFrom("user", "assistant", "tool-call", "tool-result"),
    names: fc.uniqueArray(
      fc.integer({ min: 0, max: 40 }).map((index) => `name_${index}`),
      { maxLength: 12 },
    ),
  });
  fc.assert(
    fc.property(fc.array(block, { minLength: 1, maxLength: 40 }), fc.nat(60), (blocks, tokensMax) => {
      const fill = (): NameRank => {
        const rank = new NameRank();
        for (const [turn, one] of blocks.entries()) rank.add({ turn, ...one });
        return rank;
      };
      const asked = { turn: blocks.length, tokensMax };
      const rank = fill();
      const told = rank.forManifest(asked);
      expect(rank.forManifest(asked)).toEqual(told);
      expect(fill().forManifest(asked)).toEqual(told);
      expect(new Set(told).size).toBe(told.length);
      for (const name of told) {
        const last = blocks.findLastIndex(({ names }) => names.includes(name));
        expect(asked.turn - last).toBeGreaterThanOrEqual(10);
      }
    }),
  );
});

test("names take no more than the tokens they were given", () => {
  const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{2,6}(?:[._/][a-z]{2,6}){1,3}$/), { maxLength: 60 });
  const cost = (name: string): number => name.length / 3;
  fc.assert(
    fc.property(names, fc.nat(40), (said, tokensMax) => {
      const rank = new NameRank(cost);
      rank.add({ turn: 1, kind: "assistant", names: said });
      const total = (list: readonly string[]) => list.reduce((sum, name) => sum + cost(name), 0);
      expect(total(rank.forHeader({ tokensMax }))).toBeLessThanOrEqual(tokensMax + 1e-9);
      expect(total(rank.forManifest({ turn: 20, tokensMax }))).toBeLessThanOrEqual(tokensMax + 1e-9);
    }),
  );
});

test("the oldest blocks are forgotten when there are too many names", () => {
  const rank = new NameRank(one);
  rank.add({ turn: 1, kind: "assistant", names: ["first_of_all"] });
  for (let turn = 2; turn <= 400; turn += 1) {
    const names = Array.from({ length: 256 }, (_, index) => `name_${turn}_${index}`);
    rank.add({ turn, kind: "tool-result", names });
  }
  expect(rank.forHeader({ tokensMax: 50 })).toEqual([]);
  expect(rank.forManifest({ turn: 420, tokensMax: 50 })).toEqual([]);
});

test("manifests keep their mean and their maximum whatever they say besides names", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 20, max: 110 }), { minLength: 1, maxLength: 60 }),
      fc.constantFrom(1, 0.75, 0.5),
      (fixedParts, share) => {
        let [turns, tokens] = [0, 0];
        for (const fixed of fixedParts) {
          const names = manifestNamesMax({ turns, tokens, fixed, share });
          expect(names).toBeGreaterThanOrEqual(0);
          expect(fixed + names).toBeLessThanOrEqual(176);
          turns += 1;
          tokens += fixed + names;
          expect(tokens / turns).toBeLessThanOrEqual(118);
          // Names are left out before the mean is passed: what must be said besides is said.
          if (names > 0) expect(tokens / turns).toBeLessThanOrEqual(109 * share + 1e-9);
        }
      },
    ),
  );
});

test("a summary has its whole room where it is little beside the prompt, half of it where it is much", () => {
  expect(summaryShare({ used: 100_000 })).toBe(1);
  expect(summaryShare({ used: 100_000, read: 0.025 })).toBe(0.8);
  expect(summaryShare({ used: 20_000 })).toBeCloseTo(0.8);
  expect(summaryShare({ used: 30_000, read: 0.05 })).toBeCloseTo(0.6);
  expect(summaryShare({ used: 0 })).toBe(0.5);
});

test("headers keep their share of the content, and where there is no room there are no names", () => {
  expect(headerNamesMax({ content: 10_000, headers: 100 })).toBe(50);
  expect(headerNamesMax({ content: 1_000, headers: 100 })).toBe(0);
});

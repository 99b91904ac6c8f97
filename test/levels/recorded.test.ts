import { expect, test } from "vitest";
import { Levels } from "../../src/levels/index.ts";
import { loadO200k } from "../../src/tokens/index.ts";
import { recordedResults } from "./recorded-results.ts";

test("renditions of recorded tool results are small", async () => {
  const count = await loadO200k();
  const levels = new Levels();
  const results = recordedResults({ tokensMin: 300, count });
  let before = 0;
  let after = 0;
  for (const { source, tokens } of results) {
    before += tokens;
    after += count((await levels.trimmed(source)) ?? source.text);
    expect(count(levels.minimal(source))).toBeLessThanOrEqual(30);
  }
  expect(after / before).toBeLessThanOrEqual(0.35);
}, 120_000);

import { expect, test } from "vitest";
import { bytesText, countedText, percentText, pluralText, sizeText, tokensText } from "./number-text.ts";
import { ageText, durationText, timeText } from "./time-text.ts";

test.each([
  [0, "0"],
  [900, "900"],
  [999, "999"],
  [1_000, "1.0k"],
  [3_249, "3.2k"],
  [142_300, "142.3k"],
  [999_949, "999.9k"],
  [999_950, "1.0M"],
  [1_250_000, "1.3M"],
])("%d tokens are %s", (tokens, text) => {
  expect(tokensText(tokens)).toBe(text);
});

test("round sizes have no decimals, and estimates have a mark", () => {
  expect([200_000, 1_000_000, 128_500].map(sizeText)).toEqual(["200k", "1M", "128.5k"]);
  expect(countedText(1_500, true)).toBe("1.5k");
  expect(countedText(1_500, false)).toBe("~1.5k");
});

test.each([
  [0, 200, "0 %"],
  [1, 200, "<1 %"],
  [142, 200, "71 %"],
  [1_999, 2_000, "99 %"],
  [200, 200, "100 %"],
  [5, 0, "?"],
])("%d of %d is %s", (part, whole, text) => {
  expect(percentText({ part, whole })).toBe(text);
});

test("bytes, counts and times", () => {
  expect([0, 999, 1_000, 999_960, 32_000_000].map(bytesText)).toEqual([
    "0 B",
    "999 B",
    "1.0 kB",
    "1.0 MB",
    "32.0 MB",
  ]);
  expect([pluralText(1, "block"), pluralText(0, "block")]).toEqual(["1 block", "0 blocks"]);
  expect([-5, 1_000, 12_000, 200_000, 8_000_000, 400_000_000].map(ageText)).toEqual([
    "now",
    "now",
    "12 s ago",
    "3 min ago",
    "2 h ago",
    "4 d ago",
  ]);
  expect([840, 3_210, 125_000].map(durationText)).toEqual(["840 ms", "3.2 s", "2 min 5 s"]);
});

test("a time of another day has its date", () => {
  const noon = new Date(2025, 2, 9, 12, 5, 7).getTime();
  expect(timeText(noon, noon + 60_000)).toBe("12:05:07");
  expect(timeText(noon, noon + 86_400_000)).toBe("2025-03-09 12:05:07");
});

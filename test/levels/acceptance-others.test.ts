import { expect, test } from "vitest";
import { judge } from "../../src/levels/acceptance.ts";
import { damagedBy, type OtherText, otherTexts } from "./acceptance-others.ts";
import type { Half } from "./acceptance-recorded.ts";

function share(all: readonly boolean[]): number {
  return all.filter(Boolean).length / all.length;
}

function percent(all: readonly boolean[]): string {
  return `${(100 * share(all)).toFixed(1)} % (${all.filter(Boolean).length} of ${all.length})`;
}

function judged(texts: readonly OtherText[]): Record<"accepted" | "refused", readonly boolean[]> {
  const cases = texts.flatMap(({ text, cases: all }) => all.map((one) => ({ text, ...one })));
  return {
    accepted: cases.map(({ text, faithful }) => judge(text, faithful).accepted),
    refused: cases.flatMap(({ text, faithful, damaged }) =>
      damaged.map((done) => !judge(text, damagedBy(faithful, done)).accepted),
    ),
  };
}

/**
 * Of damaged ones all are counted, those too whose faithful summary is refused. Far from what extracts reach,
 * and kept from falling: see docs/decisions/acceptance.md.
 */
const bounds = { tuned: { accepted: 0.8, refused: 0.7 }, reported: { accepted: 0.4, refused: 0.75 } };

test.each<Half>(["tuned", "reported"])("other summaries by hand, each damaged by hand: %s half", (half) => {
  const { accepted, refused } = judged(otherTexts(half));
  console.info(`${half}, others: accepted ${percent(accepted)}, refused ${percent(refused)}`);
  expect(share(accepted)).toBeGreaterThanOrEqual(bounds[half].accepted);
  expect(share(refused)).toBeGreaterThanOrEqual(bounds[half].refused);
});

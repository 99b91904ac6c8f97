import { expect, test } from "vitest";
import { seededRandom } from "../../src/base/index.ts";
import { judge } from "../../src/levels/acceptance/acceptance.ts";
import { byHand, damagedOnes, type Faithful, faithfulOnes, type Half } from "./acceptance-cases.ts";

const damagedCount = 200;

/** With the few short sessions of the repository alone, most summaries are those written by hand. */
const enough = 100;

/** Of each group, how many there are and how many were judged as they should be. */
type Score = Map<string, { right: number; all: number }>;

function add(score: Score, group: string, isRight: boolean): void {
  const { right, all } = score.get(group) ?? { right: 0, all: 0 };
  score.set(group, { right: right + (isRight ? 1 : 0), all: all + 1 });
}

function shareOf(score: Score): number {
  const counts = [...score.values()];
  return counts.reduce((sum, { right }) => sum + right, 0) / counts.reduce((sum, { all }) => sum + all, 0);
}

function printed(score: Score): string {
  return [...score].map(([group, { right, all }]) => `${group} ${right}/${all}`).join(", ");
}

test.each<Half>(["tuned", "reported"])(
  "faithful summaries are accepted, damaged ones refused: %s half",
  (half) => {
    const random = seededRandom(20_261_116);
    const [accepted, refused]: [Score, Score] = [new Map(), new Map()];
    const good: Faithful[] = [];
    for (const faithful of faithfulOnes(half, random)) {
      const isAccepted = judge(faithful.text, faithful.lines.join("\n")).accepted;
      add(accepted, faithful.how, isAccepted);
      // Of one that is refused anyway, nothing would be learned.
      if (isAccepted) good.push(faithful);
    }
    for (const { kind, text, lines } of damagedOnes(good, damagedCount, random)) {
      add(refused, kind, !judge(text, lines.join("\n")).accepted);
    }
    console.info(`${half}: accepted ${(100 * shareOf(accepted)).toFixed(1)} % (${printed(accepted)})`);
    console.info(`${half}: refused ${(100 * shareOf(refused)).toFixed(1)} % (${printed(refused)})`);
    const bounds =
      good.length >= enough ? { accepted: 0.95, refused: 0.95 } : { accepted: 0.5, refused: 0.8 };
    expect(shareOf(accepted)).toBeGreaterThanOrEqual(bounds.accepted);
    expect(shareOf(refused)).toBeGreaterThanOrEqual(bounds.refused);
  },
  240_000,
);

/**
 * Far below what extracts reach, and kept from falling further: words are compared, and these share few with
 * their originals. See docs/decisions/acceptance.md.
 */
const handBounds = { tuned: { accepted: 0.92, refused: 0.83 }, reported: { accepted: 0.75, refused: 0.85 } };

test.each<Half>(["tuned", "reported"])("summaries written by hand, and nothing else: %s half", (half) => {
  const random = seededRandom(20_261_117);
  const [accepted, refused]: [Score, Score] = [new Map(), new Map()];
  const all = byHand(half);
  const good = all.filter(({ text, lines }) => judge(text, lines.join("\n")).accepted);
  for (const one of all) add(accepted, "by hand", good.includes(one));
  for (const { kind, text, lines } of damagedOnes(good, 3 * damagedCount, random))
    add(refused, kind, !judge(text, lines.join("\n")).accepted);
  console.info(`${half}, by hand: accepted ${(100 * shareOf(accepted)).toFixed(1)} % (${printed(accepted)})`);
  console.info(`${half}, by hand: refused ${(100 * shareOf(refused)).toFixed(1)} % (${printed(refused)})`);
  expect(shareOf(accepted)).toBeGreaterThanOrEqual(handBounds[half].accepted);
  expect(shareOf(refused)).toBeGreaterThanOrEqual(handBounds[half].refused);
});

// Trimmed and minimal over tool results of recorded sessions, drawn by a seed, against bounds that were set
// before. What counts as an error and as a name is decided here and in the benchmark, not by the product.
import { describe, expect, test } from "vitest";
import { namesInText } from "../../src/analysis/play/identifiers.ts";
import { type Json, seededRandom } from "../../src/base/index.ts";
import { minimal, trimText } from "../../src/levels/index.ts";
import { loadO200k } from "../../src/tokens/index.ts";
import { saysError, saysErrorPrinted } from "./error-checker.ts";
import { keptText } from "./kept-text.ts";
import { type RecordedResult, recordedResults, stringsIn } from "./recorded-results.ts";

const seed = Number(process.env["APERTURE_SEED"] ?? 1);
const drawn = 500;
const tokensMin = 300;
/** The sessions in the repository are too few for a share of anything. */
const enough = 100;

type Trimmed = RecordedResult & {
  readonly trimmed: string;
  readonly tokensLeft: number;
  readonly minimalTokens: number;
};

const count = await loadO200k();
const results: Trimmed[] = [];
for (const result of draw(recordedResults({ tokensMin, count }))) {
  const trimmed = trimText(result.source) ?? result.source.text;
  const minimalTokens = count(minimal(result.source));
  results.push({ ...result, trimmed, tokensLeft: count(trimmed), minimalTokens });
}

function draw(all: readonly RecordedResult[]): readonly RecordedResult[] {
  const random = seededRandom(seed);
  const left = [...all];
  const picked: RecordedResult[] = [];
  while (picked.length < drawn && left.length > 0) picked.push(...left.splice(random.below(left.length), 1));
  return picked;
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

function tokenShare(some: readonly Trimmed[]): number {
  return total(some, ({ tokensLeft }) => tokensLeft) / total(some, ({ tokens }) => tokens);
}

function nameShare(some: readonly Trimmed[]): number {
  const kept = total(some, ({ trimmed, usedLater }) => {
    const standing = namesInText(keptText(trimmed));
    return [...usedLater].filter((name) => standing.has(name)).length;
  });
  return kept / total(some, ({ usedLater }) => usedLater.size);
}

function total(some: readonly Trimmed[], of: (one: Trimmed) => number): number {
  return some.reduce((sum, one) => sum + of(one), 0);
}

describe(`of ${results.length} results drawn with seed ${seed}`, () => {
  test("trimmed takes at most 35 % of the tokens and shows 95 % of the names used later", ({ skip }) => {
    if (results.length < enough) skip(`${results.length} results are too few to speak of shares`);
    const sessions = [...new Set(results.map(({ session }) => session))];
    const halves = [0, 1].map((half) =>
      results.filter(({ session }) => sessions.indexOf(session) % 2 === half),
    );
    for (const some of [results, ...halves])
      console.log(
        `seed ${seed}, ${some.length} results: ${percent(tokenShare(some))} of the tokens, ` +
          `${percent(nameShare(some))} of the names used later`,
      );
    expect(tokenShare(results)).toBeLessThanOrEqual(0.35);
    expect(nameShare(results)).toBeGreaterThanOrEqual(0.95);
  });

  test("trimmed keeps every line that reports an error", () => {
    expect(results.flatMap((result) => lostLines(result, saysError))).toEqual([]);
  });

  test("trimmed keeps every line that says what went wrong in what a check printed", ({ skip }) => {
    const checks = results.filter(isCheck);
    if (checks.length === 0) skip("no result of a check is long enough");
    expect(checks.flatMap((result) => lostLines(result, saysErrorPrinted))).toEqual([]);
  });

  test("trimmed keeps lines as they stood and in their order", () => {
    for (const { source, trimmed } of results) expect(isInOrder(keptText(trimmed), source.text)).toBe(true);
  });

  test("minimal is one line of at most 30 tokens", () => {
    expect(Math.max(...results.map(({ minimalTokens }) => minimalTokens))).toBeLessThanOrEqual(30);
  });

  test("the same source gives the same renditions, in any order", () => {
    for (const { source, trimmed } of [...results].reverse().slice(0, 50))
      expect(trimText(source) ?? source.text).toBe(trimmed);
  });
});

const check = /\b(?:go test|go build|go vet|mise run|npm (?:test|run)|npx tsc|vitest|pytest|cargo|make)\b/;
const reading = /\b(?:cat|sed|awk|nl|grep|rg|git (?:diff|show|log))\b/;

function isCheck({ source }: Trimmed): boolean {
  const { command, cmd } = (source.input ?? {}) as { readonly command?: Json; readonly cmd?: Json };
  const run = stringsIn([command, cmd]).join("\n");
  return check.test(run) && !reading.test(run);
}

/**
 * Of a very long line the piece around the word is enough. Lines that say the same of other names may be left
 * out of a flood, if one of them is shown and it is told how many more there are.
 */
function lostLines({ source, trimmed }: Trimmed, isError: (line: string) => boolean): readonly string[] {
  const kept = keptText(trimmed).split("\n");
  const lines = new Set(kept);
  const shapes = new Set(kept.map(shapeOf));
  const told = [...trimmed.matchAll(/^\[…(\d+) more like "/gm)].reduce(
    (sum, [, more]) => sum + Number(more),
    0,
  );
  const lost = source.text.split("\n").filter((line) => isError(line) && !lines.has(line));
  const gone = lost.filter(
    (line) => line.length <= longLine || !kept.some((one) => line.includes(one) && isError(one)),
  );
  return gone.length <= told && gone.every((line) => shapes.has(shapeOf(line))) ? [] : gone;
}

/** A line without what differs between two that say the same. */
function shapeOf(line: string): string {
  return line.replace(/\S*[\d/_]\S*/g, "");
}

const longLine = 400;

/** Every kept line is a line of the original or a piece of one, behind the kept line before. */
function isInOrder(kept: string, text: string): boolean {
  let at = 0;
  for (const line of kept.split("\n")) {
    const found = text.indexOf(line, at);
    if (found < 0) return false;
    at = found + line.length;
  }
  return true;
}

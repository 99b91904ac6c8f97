import { assert } from "../base/index.ts";
import type { RecallExcerpt } from "./recall-index.ts";
import { isSecondHalf } from "./terms.ts";

/** The position and weight of a query term in a text. */
export type Match = {
  readonly from: number;
  readonly to: number;
  /** Equal for all matches of one term. */
  readonly term: number;
  readonly worth: number;
};

/** A repeated term adds only this share of its worth. */
const repeatShare = 0.1;

/**
 * The lines around the best matches. `matches` must be in the order of the text. Whole lines are taken if
 * they fit; a line that is too long is cut between characters.
 */
export function excerptOf(text: string, matches: readonly Match[], charsMax: number): RecallExcerpt {
  assert(Number.isInteger(charsMax) && charsMax >= 2, "there is room for a character");
  if (text.length <= charsMax) return { text, from: 0, line: 1, isWhole: true };
  const best = bestWindow(matches, charsMax);
  const lines = wholeLines(text, best, charsMax);
  const { from, to } = lines ?? centeredRange(text, best, charsMax);
  return { text: text.slice(from, to), from, line: lineAt(text, from), isWhole: false };
}

type ExcerptRange = { readonly from: number; readonly to: number };

/** The range of at most `charsMax` characters with the most worth; the first of several. */
function bestWindow(matches: readonly Match[], charsMax: number): ExcerptRange {
  const counts = new Map<number, number>();
  let best: ExcerptRange = { from: 0, to: 0 };
  let [most, worth, first] = [0, 0, 0];
  for (const match of matches) {
    const count = counts.get(match.term) ?? 0;
    counts.set(match.term, count + 1);
    worth += count === 0 ? match.worth : match.worth * repeatShare;
    for (
      let old = matches[first];
      old !== undefined && match.to - old.from > charsMax;
      old = matches[first]
    ) {
      if (old === match) break;
      const left = (counts.get(old.term) ?? 1) - 1;
      counts.set(old.term, left);
      worth -= left === 0 ? old.worth : old.worth * repeatShare;
      first += 1;
    }
    if (worth <= most + 1e-9) continue;
    most = worth;
    best = { from: matches[first]?.from ?? match.from, to: match.to };
  }
  return best;
}

/** The lines of the range, then the next lines below and above in turn, as long as they fit. */
function wholeLines(text: string, range: ExcerptRange, charsMax: number): ExcerptRange | null {
  let from = text.lastIndexOf("\n", range.from - 1) + 1;
  if (range.from === 0) from = 0;
  let to = endOfLine(text, range.to);
  if (to - from > charsMax) return null;
  for (let isOpen = true; isOpen; ) {
    isOpen = false;
    const below = to < text.length ? endOfLine(text, to + 1) : to;
    if (below > to && below - from <= charsMax) [to, isOpen] = [below, true];
    const above = from > 1 ? text.lastIndexOf("\n", from - 2) + 1 : 0;
    if (above < from && to - above <= charsMax) [from, isOpen] = [above, true];
  }
  return { from, to };
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

/** Extends the range equally on both sides, without splitting a character. */
function centeredRange(text: string, { from, to }: ExcerptRange, charsMax: number): ExcerptRange {
  const spare = Math.max(0, charsMax - (to - from));
  const start = Math.max(0, Math.min(from - (spare >> 1), text.length - charsMax));
  const end = start + charsMax;
  return {
    from: isSecondHalf(text, start) ? start + 1 : start,
    to: isSecondHalf(text, end) ? end - 1 : end,
  };
}

function lineAt(text: string, at: number): number {
  let line = 1;
  for (let end = text.indexOf("\n"); end >= 0 && end < at; end = text.indexOf("\n", end + 1)) line += 1;
  return line;
}

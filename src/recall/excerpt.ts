import { assert } from "../base/index.ts";
import type { Excerpt } from "./recall-index.ts";
import { isSecondHalf } from "./terms.ts";

/** Something that was asked for, where it stands, and what it tells. */
export type Match = {
  readonly from: number;
  readonly to: number;
  /** The same for all places of one term. */
  readonly term: number;
  readonly worth: number;
};

/** A second time says little more. */
const repeatShare = 0.1;

/**
 * The lines around the best matches, which stand in the order of their places. Whole lines as long as there
 * is room; what does not fit is cut between characters.
 */
export function excerptOf(text: string, matches: readonly Match[], charsMax: number): Excerpt {
  assert(Number.isInteger(charsMax) && charsMax >= 2, "there is room for a character");
  if (text.length <= charsMax) return { text, from: 0, line: 1, isWhole: true };
  const best = bestWindow(matches, charsMax);
  const lines = wholeLines(text, best, charsMax);
  const { from, to } = lines ?? around(text, best, charsMax);
  return { text: text.slice(from, to), from, line: lineAt(text, from), isWhole: false };
}

type Window = { readonly from: number; readonly to: number };

/** The stretch that is short enough and tells most; the first of several. */
function bestWindow(matches: readonly Match[], charsMax: number): Window {
  const counts = new Map<number, number>();
  let best: Window = { from: 0, to: 0 };
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

/** The lines the window stands in and then, as long as they fit, the next below and above in turn. */
function wholeLines(text: string, window: Window, charsMax: number): Window | null {
  let from = text.lastIndexOf("\n", window.from - 1) + 1;
  if (window.from === 0) from = 0;
  let to = endOfLine(text, window.to);
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

/** With as much on either side, and without half a character at an end. */
function around(text: string, { from, to }: Window, charsMax: number): Window {
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

import { costOf } from "../cost.ts";
import { detectContent, isAuthored } from "../detect-content.ts";
import { isErrorLine } from "../error-lines.ts";
import type { Source } from "../source.ts";
import { chooseSegments } from "./choose-segments.ts";
import { condenseErrors, type ErrorSelection } from "./error-flood.ts";
import { lineWorths } from "./line-worths.ts";
import { type Segment, splitSegments } from "./segments.ts";
import { writeTrimmed } from "./write-trimmed.ts";

/** Leaves out the lines that are worth least. Null if that saves too little. */
export function trimText(source: Source): string | null {
  const content = detectContent(source);
  const isError = (line: string): boolean => isErrorLine(line, isAuthored(content));
  const segments = splitSegments(source.text, isError);
  const whole = totalCost(segments);
  if (whole < shortCost) return null;
  const worths = lineWorths(segments, content);
  const { shown, hidden, markers } = selectErrors(segments, { isError, whole });
  for (const at of hidden) worths[at] = -Infinity;
  for (const at of shown) worths[at] = Infinity;
  const { isNumbered } = content;
  const budget = whole * budgetShare(whole) - markers.reduce((sum, line) => sum + costOf(line), 0);
  const keep = chooseSegments({ segments, worths, budget, isMarked: !isNumbered });
  const trimmed = [writeTrimmed({ segments, keep, isNumbered }), ...markers].join("\n");
  return trimmed.length > source.text.length * worthwhileShare ? null : trimmed;
}

const shortCost = 150;
const worthwhileShare = 0.75;

/** The share of tokens to keep: more of a short text, which is denser in names, less of a long one. */
function budgetShare(whole: number): number {
  const share = mediumShare - shareStep * Math.log2(whole / mediumCost);
  return Math.min(shareMax, Math.max(shareMin, share));
}

const mediumCost = 2000;
const mediumShare = 0.5;
const shareStep = 0.1;
const shareMin = 0.25;
const shareMax = 0.66;

function totalCost(segments: readonly Segment[]): number {
  return segments.reduce((total, { cost }) => total + cost, 0);
}

/** Finds the error lines, each distinct line once. If most of the text is errors, they are condensed. */
function selectErrors(segments: readonly Segment[], { isError, whole }: ErrorTest): ErrorSelection {
  const seen = new Set<string>();
  const errors: number[] = [];
  for (const [at, { text }] of segments.entries()) {
    if (!isError(text) || seen.has(text)) continue;
    seen.add(text);
    errors.push(at);
  }
  const cost = errors.reduce((sum, at) => sum + (segments[at]?.cost ?? 0), 0);
  const isFlood = whole > floodCost && cost > whole * floodShare;
  return isFlood
    ? condenseErrors(segments, errors, whole * floodKept)
    : { shown: errors, hidden: [], markers: [] };
}

type ErrorTest = { readonly isError: (line: string) => boolean; readonly whole: number };

/** A flood is a long text that is mostly errors: there, errors that differ only in names count as one. */
const floodCost = 2000;
const floodShare = 0.5;
/** The share of all tokens for shown errors and the names of hidden ones. */
const floodKept = 0.3;

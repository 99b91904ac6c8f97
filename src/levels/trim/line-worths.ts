import { costOf } from "../cost.ts";
import { type ContentType, type DetectedContent, lineNumber } from "../detect-content.ts";
import { isDeclaration } from "./declaration-lines.ts";
import type { Segment } from "./segments.ts";

/** A pattern of lines that show the structure of a text, and their worth without the names in them. */
type LinePattern = { readonly pattern: RegExp; readonly worth: number };

const linePatterns: Readonly<Record<ContentType, readonly LinePattern[]>> = {
  // The first and last line of a here-document: without them the rest is no command.
  code: [{ pattern: /<<-?\s*['"\\]?[A-Za-z_]|^[A-Z_]{2,}$/, worth: 1 }],
  diff: [
    { pattern: /^diff --git |^\+\+\+ /, worth: 2 },
    { pattern: /^@@ /, worth: 1 },
    { pattern: /^[+-]/, worth: 0.1 },
  ],
  json: [{ pattern: /^\s{0,4}"[^"]+":/, worth: 0.2 }],
  // The search asked for the hits; it did not ask for the lines around them.
  hits: [{ pattern: /^[^\s:]+:\d+:/, worth: 0.3 }],
  listing: [
    { pattern: /\S/, worth: 0.2 },
    { pattern: /^total |[/:]$/, worth: 0.3 },
  ],
  html: [{ pattern: /<(?:title|h[1-3])\b/i, worth: 1 }],
  prose: [
    { pattern: /^#{1,6} |^\*\*/, worth: 0.6 },
    { pattern: /\b(?:must|never|always|only|do not|don't|until|except|decided)\b/i, worth: 0.3 },
  ],
  output: [
    { pattern: /\b(?:passed|total|summary|finished|result|done)\b/i, worth: 0.3 },
    { pattern: /\bwarn(?:ing)?\b/i, worth: 0.2 },
  ],
};

/**
 * The worth of each segment without its names. The first and last lines are always kept: they show what the
 * text is and how it ended.
 */
export function lineWorths(
  segments: readonly Segment[],
  { type, isNumbered, isFile }: DetectedContent,
): Float64Array {
  const worths = new Float64Array(segments.length);
  const table = linePatterns[type];
  for (const [at, { text }] of segments.entries()) {
    if (text.length < patternCharsMin) continue;
    const line = (isNumbered ? text.replace(lineNumber, "") : text).replace(carriageReturn, "");
    if (type === "code" && line.length >= declarationCharsMin && isDeclaration(line))
      worths[at] = declarationWorth;
    for (const { pattern, worth } of table)
      if (pattern.test(line)) worths[at] = Math.max(worths[at] ?? 0, worth);
  }
  if (type === "prose" && !isFile) addWords(segments, worths);
  if (type === "output") addFirstOfShape(segments, worths);
  if (type === "html") addVisibleWords(segments, worths);
  const { head, tail } = keptEnds[type] ?? defaultEnds;
  for (let at = 0; at < Math.min(head, segments.length); at += 1)
    if (worths[at] !== -Infinity) worths[at] = Infinity;
  for (let at = Math.max(0, segments.length - tail); at < segments.length; at += 1) worths[at] = Infinity;
  return worths;
}

const carriageReturn = /\r$/;

/** Adds a worth per word: prose has few names, so its lines are kept from the front while there is room. */
function addWords(segments: readonly Segment[], worths: Float64Array): void {
  for (const [at, { cost }] of segments.entries()) worths[at] = (worths[at] ?? 0) + cost * wordWorth;
}

/** Gives a worth to the first of several lines that differ only in numbers, and none to the others. */
function addFirstOfShape(segments: readonly Segment[], worths: Float64Array): void {
  const seen = new Set<string>();
  for (const [at, { text }] of segments.entries()) {
    if (text.length < patternCharsMin) continue;
    const shape = text.replace(/\d+/g, "0");
    worths[at] = seen.has(shape) ? 0 : (worths[at] ?? 0) + shapeWorth;
    seen.add(shape);
  }
}

/** Adds the worth of visible words; scripts, styles and drawings are left out. */
function addVisibleWords(segments: readonly Segment[], worths: Float64Array): void {
  let isHidden = false;
  const seen = new Set<string>();
  for (const [at, { text, cost }] of segments.entries()) {
    const wasHidden = isHidden;
    for (const [, closing] of text.matchAll(hiddenTag)) isHidden = closing === "";
    const visible = text.replace(/<[^>]*>?/g, " ").trim();
    if (wasHidden && isHidden) worths[at] = -Infinity;
    else if (!seen.has(visible)) worths[at] = (worths[at] ?? 0) + wordWorth * Math.min(cost, costOf(visible));
    seen.add(visible);
  }
}

const hiddenTag = /<(\/?)(?:script|style|svg)\b/gi;
const shapeWorth = 0.3;
const wordWorth = 0.04;
const patternCharsMin = 3;
const declarationCharsMin = 6;
const declarationWorth = 1;
const defaultEnds = { head: 2, tail: 2 };
const keptEnds: Partial<Record<ContentType, typeof defaultEnds>> = { output: { head: 3, tail: 6 } };

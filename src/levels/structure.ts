import type { Content, ContentType } from "./content.ts";
import { numbered } from "./content.ts";
import { costOf } from "./cost.ts";
import { isDeclaration } from "./outline.ts";
import type { Unit } from "./units.ts";

/** Lines a reader finds his way by, and what each is worth beside the names in it. */
type Sign = { readonly pattern: RegExp; readonly worth: number };

const signs: Readonly<Record<ContentType, readonly Sign[]>> = {
  // Where a text stands inside a command, its ends are what makes it one.
  code: [{ pattern: /<<-?\s*['"\\]?[A-Za-z_]|^[A-Z_]{2,}$/, worth: 1 }],
  diff: [
    { pattern: /^diff --git |^\+\+\+ /, worth: 2 },
    { pattern: /^@@ /, worth: 1 },
    { pattern: /^[+-]/, worth: 0.1 },
  ],
  json: [{ pattern: /^\s{0,4}"[^"]+":/, worth: 0.2 }],
  // Each was asked for; the lines around them were not.
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

/** By unit: what it is worth as structure. The ends of a text say what it is and how it ended. */
export function structureOf(units: readonly Unit[], { type, isNumbered, isFile }: Content): Float64Array {
  const worths = new Float64Array(units.length);
  const table = signs[type];
  for (const [at, { text }] of units.entries()) {
    if (text.length < signCharsMin) continue;
    const line = (isNumbered ? text.replace(numbered, "") : text).replace(carriageReturn, "");
    if (type === "code" && line.length >= declarationCharsMin && isDeclaration(line))
      worths[at] = declarationWorth;
    for (const { pattern, worth } of table)
      if (pattern.test(line)) worths[at] = Math.max(worths[at] ?? 0, worth);
  }
  if (type === "prose" && !isFile) addWords(units, worths);
  if (type === "output") addShapes(units, worths);
  if (type === "html") addPage(units, worths);
  const { head, tail } = ends[type] ?? usualEnds;
  for (let at = 0; at < Math.min(head, units.length); at += 1)
    if (worths[at] !== -Infinity) worths[at] = Infinity;
  for (let at = Math.max(0, units.length - tail); at < units.length; at += 1) worths[at] = Infinity;
  return worths;
}

const carriageReturn = /\r$/;

/** What prose says is in its words: with room left, its lines are kept from the front. */
function addWords(units: readonly Unit[], worths: Float64Array): void {
  for (const [at, { cost }] of units.entries()) worths[at] = (worths[at] ?? 0) + cost * wordWorth;
}

/** Of lines that differ in their numbers only, the first stands for all. */
function addShapes(units: readonly Unit[], worths: Float64Array): void {
  const seen = new Set<string>();
  for (const [at, { text }] of units.entries()) {
    if (text.length < signCharsMin) continue;
    const shape = text.replace(/\d+/g, "0");
    worths[at] = seen.has(shape) ? 0 : (worths[at] ?? 0) + shapeWorth;
    seen.add(shape);
  }
}

/** What a page shows is worth its words; what only the browser reads is worth nothing. */
function addPage(units: readonly Unit[], worths: Float64Array): void {
  let isHidden = false;
  const seen = new Set<string>();
  for (const [at, { text, cost }] of units.entries()) {
    const wasHidden = isHidden;
    for (const [, closing] of text.matchAll(hiddenTag)) isHidden = closing === "";
    const shown = text.replace(/<[^>]*>?/g, " ").trim();
    if (wasHidden && isHidden) worths[at] = -Infinity;
    else if (!seen.has(shown)) worths[at] = (worths[at] ?? 0) + wordWorth * Math.min(cost, costOf(shown));
    seen.add(shown);
  }
}

const hiddenTag = /<(\/?)(?:script|style|svg)\b/gi;
const shapeWorth = 0.3;
const wordWorth = 0.04;
const signCharsMin = 3;
const declarationCharsMin = 6;
const declarationWorth = 1;
const usualEnds = { head: 2, tail: 2 };
const ends: Partial<Record<ContentType, typeof usualEnds>> = { output: { head: 3, tail: 6 } };

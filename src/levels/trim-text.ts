import { type Flood, floodOf } from "./alike.ts";
import { chosen } from "./choose.ts";
import { contentOf, isSource } from "./content.ts";
import { costOf } from "./cost.ts";
import { isErrorLine } from "./error-lines.ts";
import type { Source } from "./source.ts";
import { structureOf } from "./structure.ts";
import { type Unit, unitsOf } from "./units.ts";
import { written } from "./written.ts";

/** The text with what is missed least left out, or null if that saves too little. */
export function trimText(source: Source): string | null {
  const content = contentOf(source);
  const isError = (line: string): boolean => isErrorLine(line, isSource(content));
  const units = unitsOf(source.text, isError);
  const whole = costOfAll(units);
  if (whole < shortCost) return null;
  const worths = structureOf(units, content);
  const { shown, hidden, told } = errorsIn(units, { isError, whole });
  for (const at of hidden) worths[at] = -Infinity;
  for (const at of shown) worths[at] = Infinity;
  const { isNumbered } = content;
  const budget = whole * budgetShare(whole) - told.reduce((sum, line) => sum + costOf(line), 0);
  const keep = chosen({ units, worths, budget, isMarked: !isNumbered });
  const trimmed = [written({ units, keep, isNumbered }), ...told].join("\n");
  return trimmed.length > source.text.length * worthwhileShare ? null : trimmed;
}

const shortCost = 150;
const worthwhileShare = 0.75;

/** Short texts are denser in names and save little; of a long one a quarter must do. */
function budgetShare(whole: number): number {
  const share = usualShare - shareStep * Math.log2(whole / usualCost);
  return Math.min(shareMax, Math.max(shareMin, share));
}

const usualCost = 2000;
const usualShare = 0.5;
const shareStep = 0.1;
const shareMin = 0.25;
const shareMax = 0.66;

function costOfAll(units: readonly Unit[]): number {
  return units.reduce((total, { cost }) => total + cost, 0);
}

/** What went wrong; of lines that are the same, one. */
function errorsIn(units: readonly Unit[], { isError, whole }: Known): Flood {
  const seen = new Set<string>();
  const errors: number[] = [];
  for (const [at, { text }] of units.entries()) {
    if (!isError(text) || seen.has(text)) continue;
    seen.add(text);
    errors.push(at);
  }
  const cost = errors.reduce((sum, at) => sum + (units[at]?.cost ?? 0), 0);
  const isFlood = whole > floodCost && cost > whole * floodShare;
  return isFlood ? floodOf(units, errors, whole * floodKept) : { shown: errors, hidden: [], told: [] };
}

type Known = { readonly isError: (line: string) => boolean; readonly whole: number };

/** A long text that is little but errors: those that differ in names and numbers only are the same. */
const floodCost = 2000;
const floodShare = 0.5;
/** Of all tokens, for those that are shown and for what the others name. */
const floodKept = 0.3;

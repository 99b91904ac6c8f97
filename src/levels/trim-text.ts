import { chosen } from "./choose.ts";
import { type Content, contentOf, isSource } from "./content.ts";
import { isErrorLine } from "./error-lines.ts";
import type { Source } from "./source.ts";
import { structureOf } from "./structure.ts";
import { type Unit, unitsOf } from "./units.ts";
import { written } from "./written.ts";

/** The text with what is missed least left out, or null if that saves too little. */
export function trimText(source: Source): string | null {
  const content = contentOf(source);
  const units = unitsOf(source.text);
  const whole = costOfAll(units);
  if (whole < shortCost) return null;
  const worths = structureOf(units, content);
  for (const at of errorsIn(units, content)) worths[at] = Infinity;
  const { isNumbered } = content;
  const keep = chosen({ units, worths, budget: whole * budgetShare(whole), isMarked: !isNumbered });
  const trimmed = written({ units, keep, isNumbered });
  return trimmed.length > source.text.length * worthwhileShare ? null : trimmed;
}

const shortCost = 150;
const worthwhileShare = 0.75;

/** Short texts are denser in names and save little; of a long one a third must do. */
function budgetShare(whole: number): number {
  const share = usualShare - shareStep * Math.log2(whole / usualCost);
  return Math.min(shareMax, Math.max(shareMin, share));
}

const usualCost = 2000;
const usualShare = 0.46;
const shareStep = 0.1;
const shareMin = 0.25;
const shareMax = 0.6;

function costOfAll(units: readonly Unit[]): number {
  return units.reduce((total, { cost }) => total + cost, 0);
}

/** What went wrong; of lines that are the same, one. */
function errorsIn(units: readonly Unit[], content: Content): readonly number[] {
  const seen = new Set<string>();
  const isWritten = isSource(content);
  return units.flatMap(({ text }, at) => {
    if (!isErrorLine(text, isWritten) || seen.has(text)) return [];
    seen.add(text);
    return [at];
  });
}

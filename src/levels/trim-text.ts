import { chosen } from "./choose.ts";
import { costOf } from "./cost.ts";
import { isErrorLine } from "./error-lines.ts";
import { charactersMarker, linesMarker, markerCost } from "./marker.ts";
import { type Unit, unitsOf } from "./units.ts";

const budgetShare = 0.34;
const headUnits = 2;
const tailUnits = 2;

/** The text with what is missed least left out, or null if that saves too little. */
export function trimText(text: string): string | null {
  const units = unitsOf(text);
  const whole = sum(units);
  if (whole < shortCost) return null;
  const keep = chosen({ units, musts: mustsOf(units), budget: whole * budgetShare });
  const trimmed = written(units, keep);
  return trimmed.length > text.length * worthwhileShare ? null : trimmed;
}

const shortCost = 150;
const worthwhileShare = 0.75;

function sum(units: readonly Unit[]): number {
  return units.reduce((total, { cost }) => total + cost, 0);
}

/** Head, tail, and what went wrong; of lines that are the same, one. */
function mustsOf(units: readonly Unit[]): readonly number[] {
  const seen = new Set<string>();
  return units.flatMap(({ text }, at) => {
    const isEdge = at < headUnits || at >= units.length - tailUnits;
    if (!isEdge && (seen.has(text) || !isErrorLine(text))) return [];
    seen.add(text);
    return [at];
  });
}

/** What is kept, as it stood, with markers between. */
function written(units: readonly Unit[], keep: Uint8Array): string {
  const kept: string[] = [];
  let gap: string[] = [];
  let isFirst = true;
  const closeGap = (): void => {
    if (gap.length === 0) return;
    const isCheap = gap.length === 1 && costOf(gap[0] ?? "") <= markerCost;
    kept.push(isCheap ? (gap[0] ?? "") : linesMarker(gap.length, isFirst));
    isFirst &&= isCheap;
    gap = [];
  };
  for (const line of linesOf(units, keep)) {
    if (line.isKept) {
      closeGap();
      kept.push(line.text);
    } else gap.push(line.text);
  }
  closeGap();
  return kept.join("\n");
}

type Line = { readonly isKept: boolean; readonly text: string };

/** Units put together to lines again; a line of which only pieces are kept has markers inside. */
function* linesOf(units: readonly Unit[], keep: Uint8Array): Generator<Line> {
  let start = 0;
  for (const [at, { goesOn }] of units.entries()) {
    if (goesOn) continue;
    const isKept = keep.subarray(start, at + 1).includes(1);
    const pieces = units.slice(start, at + 1).map(({ text }) => text);
    yield { isKept, text: isKept ? joined(pieces, keep.subarray(start, at + 1)) : pieces.join("") };
    start = at + 1;
  }
}

function joined(pieces: readonly string[], keep: Uint8Array): string {
  let text = "";
  let missing = 0;
  for (const [at, piece] of pieces.entries()) {
    if (keep[at] === 0) {
      missing += piece.length;
      continue;
    }
    if (missing > 0) text += charactersMarker(missing);
    missing = 0;
    text += piece;
  }
  return missing > 0 ? text + charactersMarker(missing) : text;
}

/**
 * About how many tokens a text takes. No vocabulary is loaded for it: lines are only compared with each other
 * and with the whole, so a constant error does not matter.
 */
export function costOf(text: string): number {
  let cost = 1;
  let before = -1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const sort = sortOf(code);
    cost += stepCost[sort]?.[sort === before ? 1 : 0] ?? 0;
    before = sort;
  }
  return cost;
}

const blank = 0;
const lower = 1;
const upper = 2;
const digit = 3;
const sign = 4;
const other = 5;

/** What the first character of a run costs, and each of the others: fitted to counts of tool results. */
const stepCost: readonly (readonly [first: number, next: number])[] = [
  [0.24, 0.15],
  [0.52, 0.07],
  [0.21, 0.28],
  [1.41, 0.34],
  [0.79, 0.11],
  [1.37, 0.25],
];

function sortOf(code: number): number {
  if (code >= 97 && code <= 122) return lower;
  if (code <= 32) return blank;
  if (code >= 65 && code <= 90) return upper;
  if (code >= 48 && code <= 57) return digit;
  return code < 128 ? sign : other;
}

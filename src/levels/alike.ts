import { cutText } from "../base/index.ts";
import { costOf } from "./cost.ts";
import { alikeMarker } from "./marker.ts";
import type { Unit } from "./units.ts";

/** Lines that are one but for the names and numbers in them. */
type Group = { readonly ats: readonly number[]; readonly first: string };

export type Flood = {
  /** Which of the lines are shown: the first of each group. */
  readonly shown: readonly number[];
  /** Which are left out, because others say the same. */
  readonly hidden: readonly number[];
  /** What those name, a line for each group. */
  readonly told: readonly string[];
};

/** So many of a group are shown: one tells what is said, the second what differs. */
const shownEach = 2;

/**
 * Of lines that are little but the same error again and again, a few of each sort, and what the others name:
 * as many names as the tokens allow, and how many more there are.
 */
export function floodOf(units: readonly Unit[], errors: readonly number[], tokensMax: number): Flood {
  const groups = groupsOf(units, errors);
  const shown = groups.flatMap(({ ats }) => ats.slice(0, shownEach)).sort((a, b) => a - b);
  const cost = shown.reduce((sum, at) => sum + (units[at]?.cost ?? 0), 0);
  const many = groups.filter(({ ats }) => ats.length > shownEach);
  const lines = many.reduce((sum, { ats }) => sum + ats.length, 0);
  const room = Math.max(0, tokensMax - cost);
  const told = many.map((group) => tellGroup(units, group, (room * group.ats.length) / lines));
  return { shown, hidden: many.flatMap(({ ats }) => ats.slice(shownEach)), told };
}

function groupsOf(units: readonly Unit[], errors: readonly number[]): readonly Group[] {
  const byShape = new Map<string, { ats: number[]; first: string }>();
  for (const at of errors) {
    const text = units[at]?.text ?? "";
    const shape = text.replace(run, (word) => (isVarying(word) ? "•" : word));
    const group = byShape.get(shape);
    if (group === undefined) byShape.set(shape, { ats: [at], first: text });
    else group.ats.push(at);
  }
  return [...byShape.values()];
}

const run = /[\w./~@$#:-]+/g;
const varying = /[\d_/@#~$]|[a-z][A-Z]|\w[.-]\w/;

/** What stands in one line and not in the next that says the same: a name, a path, a number. */
function isVarying(word: string): boolean {
  return varying.test(word);
}

const startMax = 40;

function tellGroup(units: readonly Unit[], { ats, first }: Group, tokensMax: number): string {
  const shown = new Set(ats.slice(0, shownEach).flatMap((at) => namesIn(units[at]?.text ?? "")));
  const names = new Set(ats.slice(shownEach).flatMap((at) => namesIn(units[at]?.text ?? "")));
  for (const name of shown) names.delete(name);
  const told: string[] = [];
  let room = tokensMax - frameCost;
  for (const name of names) {
    room -= costOf(name) + 1;
    if (room < 0) break;
    told.push(name);
  }
  const start = cutText(first.trim(), startMax);
  return alikeMarker({ count: ats.length - shownEach, start, names: told, others: names.size - told.length });
}

/** Of the words around the names. */
const frameCost = 20;

/** Names have letters: how many milliseconds each took is not what anybody looks for. */
function namesIn(text: string): readonly string[] {
  return (text.match(run) ?? [])
    .filter((word) => isVarying(word) && /[A-Za-z]/.test(word))
    .map((word) => word.replace(/[.:-]+$/, ""));
}

import type { Reason } from "./acceptance-facts.ts";
import type { OriginalIndex } from "./acceptance-index.ts";
import { clausesOf, isForbiddenAt } from "./acceptance-negations.ts";
import type { Statement } from "./acceptance-statements.ts";

// Words that have an opposite: bounds and outcomes beside a number, and pairs like "before" and "after".

const atMost =
  /(?:at most|no more than|not more than|no longer than|up to|under|below|within|less than|fewer than|smaller than|shorter than|max(?:imum|\.)?(?: \S+){0,2}|limit(?:ed)?(?: of| to| is|:)?|≤|<)\s*(?:about |\p{Lu}\p{L}+ )?$/iu;
const atLeast =
  /(?:at least|no less than|not less than|no fewer than|over|above|more than|larger than|longer than|greater than|min(?:imum|\.)?(?: \S+){0,2}|exceeds?|exceeding|≥|>)\s*(?:about |\p{Lu}\p{L}+ )?$/iu;
const mostBehind = /^\S{0,5}(?: \S{1,12})? (?:at most|or less|or fewer|maximum)\b/i;
const leastBehind = /^\S{0,5}(?: \S{1,12})? (?:at least|or more|or higher|or later|and later|minimum)\b/i;
const frontChars = 40;

const notMore = /\b(?:not|never|cannot|n't|no) (?:\S+ ){0,3}(?:more|longer|later|larger) than\s*$/i;

const notLess = /\b(?:not|never|cannot|n't|no) (?:\S+ ){0,3}(?:less|fewer|shorter|smaller) than\s*$/i;

type Side = "most" | "least";
/** By the word alone, and with what is negated or refused around it: which of the two counts is not known. */
type Bound = { readonly said: Side; readonly meant: Side };

/** Of which side a number is the bound. "Above 5 is refused" and "at most 5" are of one. */
function sideOf(statement: Statement, value: string): Bound | null {
  const written = statement.numbers.find((number) => number.value === value)?.written ?? "";
  const at = written === "" ? -1 : statement.text.indexOf(written);
  if (at < 0) return null;
  const front = statement.text.slice(Math.max(0, at - frontChars), at);
  const behind = statement.text.slice(at + written.length, at + written.length + frontChars);
  const isMost =
    (atMost.test(front) && !notLess.test(front)) || mostBehind.test(behind) || notMore.test(front);
  const isLeast = (atLeast.test(front) && !notMore.test(front)) || leastBehind.test(behind);
  if (isMost === isLeast) return null;
  const said = isMost ? "most" : "least";
  const isTurned = isForbiddenAt(statement, `#${value}`);
  return { said, meant: isTurned ? opposite[said] : said };
}

const opposite = { most: "least", least: "most" } as const;

/** Where the original has the number with this unit, or at all. */
function placesOf(index: OriginalIndex, value: string, unit: string | null): readonly Statement[] {
  const places = (index.numbers.get(value) ?? []).map((at) => index.statements[at] as Statement);
  const same = places.filter(({ numbers }) =>
    numbers.some((one) => one.value === value && one.unit === unit),
  );
  return same.length > 0 ? same : places;
}

/** "Over 500 is split" and "at most 500" share the number and little else. */
function isAlike({ words }: Statement, place: Statement): boolean {
  const shared = new Set(words.filter((word) => place.words.includes(word))).size;
  return shared >= 2 || shared >= alikeMin * new Set(place.words).size;
}

/** A number that is a bound of one side here, and of the other everywhere in the original. */
function turnedBounds(index: OriginalIndex, one: Statement): readonly Reason[] {
  return one.numbers.flatMap(({ value, written, unit }) => {
    const side = sideOf(one, value);
    const places = placesOf(index, value, unit);
    if (side === null || places.length === 0) return [];
    const isTurned = places.every((place) => {
      const there = sideOf(place, value);
      const isTold = there !== null && there.said !== side.said && there.meant !== side.meant;
      return isTold && isAlike(one, place);
    });
    const text = `The summary says of ${written} the opposite of what the original says: ${one.text}`;
    return isTurned ? [{ kind: "constraint-lost", piece: written, text } as const] : [];
  });
}

type Outcome = "failed" | "passed";
const behindWords = 4;

function outcomeOf(statement: Statement, value: string): Outcome | null {
  const { chain, marks, numbers } = statement;
  const written = numbers.find((number) => number.value === value)?.written.toLowerCase() ?? "";
  const at = chain.indexOf(written);
  if (at < 0) return null;
  const behind = chain.slice(at + 1, at + 1 + behindWords);
  const mark = marks.find(
    ({ kind, word }) => (kind === "failed" || kind === "passed") && behind.includes(word),
  );
  if (mark === undefined) return null;
  const isNegated = clausesOf(statement).some(
    ({ keys, negation }) => negation !== null && keys.has(`#${value}`),
  );
  const isPassed = (mark.kind === "passed") !== isNegated;
  return isPassed ? "passed" : "failed";
}

/** A number that counts what failed here, and what passed everywhere in the original. */
function turnedCounts(index: OriginalIndex, one: Statement): readonly Reason[] {
  return one.numbers.flatMap(({ value, written }) => {
    const outcome = outcomeOf(one, value);
    const places = (index.numbers.get(value) ?? []).map((at) => index.statements[at] as Statement);
    if (outcome === null || places.length === 0) return [];
    const isTurned = places.every((place) => (outcomeOf(place, value) ?? outcome) !== outcome);
    const text = `The summary says of ${written} the opposite of what the original says: ${one.text}`;
    return isTurned ? [{ kind: "outcome-turned", piece: written, text } as const] : [];
  });
}

export function turnedNumbers(index: OriginalIndex, one: Statement): readonly Reason[] {
  return [...turnedBounds(index, one), ...turnedCounts(index, one)];
}

const pairs: readonly (readonly [RegExp, RegExp])[] = [
  [/^enabl/, /^disabl/],
  [/^(?:allow|permit)/, /^(?:forbid|forbad|prohibit|disallow|den(?:y|ie))/],
  [/^accept/, /^(?:reject|refus)/],
  [/^includ/, /^exclud/],
  [/^true$/, /^false$/],
  [/^(?:increas|grew|grow|rose|rais)/, /^(?:decreas|shrank|shrink|fell|lower|reduc)/],
  [/^public$/, /^private$/],
  [/^before$/, /^after$/],
  [/^(?:faster|fastest)$/, /^(?:slower|slowest)$/],
  [/^(?:larger|bigger|more)$/, /^(?:smaller|less|fewer)$/],
  [/^defined$/, /^undefined$/],
];

/** A clause of the summary has one of two opposites, and the clause that it repeats the other. */
export function turnedWords(one: Statement, other: Statement): readonly Reason[] {
  return clausesOf(one).flatMap((own) =>
    clausesOf(other).flatMap((its) => {
      const shared = [...own.keys].filter((key) => its.keys.has(key)).length;
      if (own.negation !== null || its.negation !== null || shared < 2) return [];
      if (shared < alikeMin * Math.min(own.keys.size, its.keys.size)) return [];
      const has = (words: readonly string[], pattern: RegExp): boolean =>
        words.some((word) => pattern.test(word));
      const turned = pairs
        .flatMap(([a, b]) => [[a, b] as const, [b, a] as const])
        .find(
          ([is, was]) =>
            has(own.words, is) && !has(own.words, was) && has(its.words, was) && !has(its.words, is),
        );
      const piece = its.words.find((word) => turned?.[1].test(word));
      if (piece === undefined) return [];
      const text = `The summary says the opposite of "${piece}": ${other.text}`;
      return [{ kind: "outcome-turned", piece, text } as const];
    }),
  );
}

const alikeMin = 0.6;

import { isBesideSame, type Reason, type ReasonKind } from "./acceptance-facts.ts";
import { type OriginalIndex, weightOf } from "./acceptance-index.ts";
import type { Mark, NumberFact, Statement } from "./acceptance-statements.ts";
import { isFiller, type MarkKind, unitOf } from "./acceptance-words.ts";

/** A statement of a summary, the one of the original that it seems to repeat, and the whole summary. */
export type Compared = {
  readonly index: OriginalIndex;
  readonly one: Statement;
  readonly other: Statement;
  readonly summary: readonly Statement[];
};

/** From here on a statement is said again, not only touched: then its facts are expected in it. */
const restatesMin = 0.7;

export function complaintsAbout(compared: Compared): readonly Reason[] {
  const { index, one, other } = compared;
  const isRestated = restates(index, other, one);
  const isCopied = isRestated && coverage(index, one, other) >= restatesMin;
  return [
    ...lostMarks(compared, coverage(index, other, one) > wholeMin),
    ...turnedOutcomes(compared),
    ...(isRestated ? otherUnits(compared) : []),
    ...(isCopied ? lostFacts(compared) : []),
  ];
}

/** A statement of hardly anything but names is known again by one of them. */
function restates(index: OriginalIndex, of: Statement, by: Statement): boolean {
  const min = plainWords(of).size < plainMin ? namesMin : restatesMin;
  return coverage(index, of, by) >= min;
}

/** What a statement says beyond those of the original that it repeats. */
export function additions(
  index: OriginalIndex,
  one: Statement,
  met: readonly Statement[],
): readonly Reason[] {
  const union = {
    ...one,
    words: met.flatMap(({ words }) => words),
    marks: met.flatMap(({ marks }) => marks),
  };
  const isCopied = met.length > 0 && coverage(index, one, union) >= restatesMin;
  const same = met.find((other) => likeness(index, one, other) >= sameMin) ?? null;
  const repeated = { index, one, met, same };
  return [
    ...addedNegations(repeated, isCopied),
    ...(isCopied ? [...addedFacts(repeated), ...addedOptions(one, union)] : []),
  ];
}

/**
 * How much of what the first says is said in the second. Names do not count where there are other words: one
 * that was exchanged would make another statement of it.
 */
export function coverage(index: OriginalIndex, of: Statement, by: Statement): number {
  const words = new Set(by.words);
  const plain = plainWords(of);
  let [whole, shared] = [0, 0];
  for (const word of plain.size >= plainMin ? plain : new Set(of.words)) {
    const weight = weightOf(index, word);
    whole += weight;
    if (words.has(word)) shared += weight;
  }
  return whole === 0 ? 0 : shared / whole;
}

const plainMin = 2;
const namesMin = 0.4;

function plainWords({ words, names }: Statement): ReadonlySet<string> {
  const named = new Set(names.map((name) => name.toLowerCase()));
  return new Set(words.filter((word) => !named.has(word)));
}

/** A negation reaches forward; what binds is said before or behind. */
const [wordsBefore, wordsBehind] = [2, 3] as const;

export function reach(statement: Statement, { at, kind }: Mark): readonly string[] {
  const before = kind === "negation" && at < statement.words.length ? 0 : wordsBefore;
  return statement.words.slice(Math.max(0, at - before), at + wordsBehind);
}

/** Whether a statement speaks of what a mark is about: its first word, or two of those beside it. */
function speaksOf(statement: Statement, mark: Mark, words: readonly string[]): boolean {
  const said = words.filter((word) => statement.words.includes(word));
  return said.length >= 2 || (mark.kind === "negation" && words.length > 0 && said[0] === words[0]);
}

const lostKinds: Readonly<Partial<Record<MarkKind, ReasonKind>>> = {
  negation: "negation-lost",
  obligation: "constraint-lost",
  always: "constraint-lost",
  only: "constraint-lost",
  exception: "constraint-lost",
  "at-most": "constraint-lost",
  "at-least": "constraint-lost",
};

/** Where a statement is said again, each of its marks is; where it is touched, those beside what is said. */
function lostMarks({ one, other }: Compared, isWhole: boolean): readonly Reason[] {
  return other.marks.flatMap((mark) => {
    const kind = lostKinds[mark.kind];
    if (kind === undefined || isForbidding(other, mark)) return [];
    const words = reach(other, mark);
    const isAbout = speaksOf(one, mark, words) && (other.words.length <= 2 || shares(one, other, 2));
    const isLost = isAbout && !hasMark(one, mark.kind, words);
    if (!isLost && !(isWhole && count(one, mark.kind) < count(other, mark.kind))) return [];
    const what = kind === "negation-lost" ? "The negation" : "The constraint";
    const text = `${what} "${mark.word}" of the original is lost: ${shown(other)}`;
    return [{ kind, piece: mark.word, text }];
  });
}

/** "Must not" is a negation: "do not" and "never" say as much. */
function isForbidding({ marks }: Statement, { kind, at }: Mark): boolean {
  return kind === "obligation" && marks.some((mark) => mark.kind === "negation" && mark.at === at);
}

/** The same mark at the same words: at the first of them, if that is said at all. */
function hasMark(statement: Statement, kind: MarkKind, words: readonly string[]): boolean {
  const same = statement.marks.filter((mark) => mark.kind === kind);
  const [first] = words;
  const isFirstSaid = first !== undefined && statement.words.includes(first);
  const wanted = kind === "negation" && isFirstSaid ? [first] : words;
  return same.some((mark) => {
    const isLast = mark.at >= statement.words.length;
    const before = kind === "negation" ? (isLast ? 2 : 1) : 4;
    const near = statement.words.slice(Math.max(0, mark.at - before), mark.at + 5);
    return wanted.length === 0 || near.some((word) => wanted.includes(word));
  });
}

/** A statement, those of the original that it repeats, and the one that it is as good as a copy of. */
type Repeated = {
  readonly index: OriginalIndex;
  readonly one: Statement;
  readonly met: readonly Statement[];
  readonly same: Statement | null;
};

/** How much two statements are one. */
function likeness(index: OriginalIndex, one: Statement, other: Statement): number {
  return Math.min(coverage(index, other, one), coverage(index, one, other));
}

/** Other statements of the original that negate the same words and have two in common with this one. */
function negatedElsewhere({ index, one, met }: Repeated): readonly Statement[] {
  const found = new Set<Statement>();
  for (const mark of one.marks.filter(({ kind }) => kind === "negation")) {
    const [first = ""] = reach(one, mark);
    for (const at of index.places.get(first) ?? []) {
      const other = index.statements[at] as Statement;
      if (!met.includes(other) && negates(other, [first]) && shares(one, other, 2)) found.add(other);
    }
  }
  return [...found];
}

/** What reaches forward only; "this is never done" negates what stands before it, too. */
const forward = /^(?:without|instead|avoid|refus|forbid|prohibit|disallow|unable)/;

/** Whether a statement negates any of these words, in whatever order it says it. */
function negates(statement: Statement, words: readonly string[]): boolean {
  return statement.marks.some(({ kind, at, word }) => {
    const near = statement.words.slice(Math.max(0, at - (forward.test(word) ? 0 : 3)), at + 5);
    return kind === "negation" && (words.length === 0 || near.some((one) => words.includes(one)));
  });
}

function addedNegations(repeated: Repeated, isCopied: boolean): readonly Reason[] {
  const { one, met, same } = repeated;
  const all = same === null ? [...met, ...negatedElsewhere(repeated)] : [same];
  const negations = all.reduce((sum, other) => sum + count(other, "negation"), 0);
  const hasMore = isCopied && count(one, "negation") > negations;
  return one.marks.flatMap((mark) => {
    if (mark.kind !== "negation") return [];
    const words = reach(one, mark);
    const about = met.find((other) => speaksOf(other, mark, words));
    const isNew = about !== undefined && !all.some((other) => negates(other, words));
    const shownOne = about ?? met[0];
    if (shownOne === undefined || !(isNew || hasMore)) return [];
    const text = `The summary negates with "${mark.word}" what the original does not: ${shown(shownOne)}`;
    return [{ kind: "negation-added", piece: mark.word, text } as const];
  });
}

const outcomes = [
  ["failed", "passed"],
  ["passed", "failed"],
] as const;

function turnedOutcomes({ one, other }: Compared): readonly Reason[] {
  return outcomes.flatMap(([was, is]) => {
    const turned = count(one, is) > count(other, is) && count(one, was) < count(other, was);
    const piece = other.marks.find(({ kind }) => kind === was)?.word;
    if (!turned || piece === undefined) return [];
    const text = `The outcome "${piece}" of the original is turned: ${shown(other)}`;
    return [{ kind: "outcome-turned", piece, text } as const];
  });
}

function count({ marks }: Statement, kind: MarkKind): number {
  return marks.filter((mark) => mark.kind === kind).length;
}

/**
 * Numbers and names of a statement that is copied: if what stood beside a number is still there, it was lost;
 * if that is gone too, a detail was left out, as summaries do. A name is missed where nothing else is.
 */
function lostFacts(compared: Compared): readonly Reason[] {
  const { index, one, other } = compared;
  const both = likeness(index, one, other);
  const numbers = other.numbers.filter(
    (number) => !hasNumber(one, number.value) && isCut(one, number, both >= wholeMin),
  );
  return [
    ...numbers.map(({ written }) => written),
    ...(both >= wholeMin ? fewerNumbers(one, other) : []),
    ...(both >= sameMin ? other.names.filter((name) => !hasName(one, name)) : []),
    ...(both >= sameMin ? other.pairs.filter((pair) => !saysPair(one, pair)) : []),
  ].map((piece) => {
    const text = `The summary leaves ${piece} out of: ${shown(other)}`;
    return { kind: "fact-lost", piece, text } as const;
  });
}

/** With another sign between the two words, or a word. */
function saysPair({ chain }: Statement, pair: string): boolean {
  const small = pair.toLowerCase();
  return chain.includes(small) || small.split("/").every((word) => chain.some((one) => one.includes(word)));
}

/** As good as every word of both. */
const wholeMin = 0.8;
/** Every word, but for one of many. */
const sameMin = 0.85;

/** Whether the word behind a number still stands there, with no other number; or the one before it. */
function isCut({ chain }: Statement, { beside }: NumberFact, isWhole: boolean): boolean {
  const isWord = (word: string): boolean =>
    /\p{L}{2}/u.test(word) && (!isFiller(word) || unitOf(word) !== null);
  if (isWord(beside.after)) {
    return chain.some((word, at) => word === beside.after && !/\d$/.test(chain[at - 1] ?? ""));
  }
  return isWord(beside.before) ? chain.includes(beside.before) : isWhole;
}

function fewerNumbers(one: Statement, other: Statement): readonly string[] {
  const count = ({ numbers }: Statement, value: string): number =>
    numbers.filter((number) => number.value === value).length;
  const fewer = other.numbers.filter(
    ({ value }) => hasNumber(one, value) && count(one, value) < count(other, value),
  );
  return fewer.filter(({ value }) => !one.spelled.includes(value)).map(({ written }) => written);
}

/** What binds and what is certain is made a matter of choice. */
function addedOptions(one: Statement, union: Statement): readonly Reason[] {
  const mark = one.marks.findLast(({ kind }) => kind === "option");
  // "Only this may" binds as "only this" does.
  if (mark === undefined || count(one, "option") <= count(union, "option") || count(one, "only") > 0)
    return [];
  const text = `The summary says "${mark.word}" where the original leaves no choice: ${shown(one)}`;
  return [{ kind: "constraint-lost", piece: mark.word, text }];
}

/** What stands beside words of the original, but not there: it was taken from elsewhere. */
function addedFacts({ index, one, met, same }: Repeated): readonly Reason[] {
  const isSwapped = met.some(
    (other) => shares(one, other, 2) && other.numbers.some(({ value }) => !hasNumber(one, value)),
  );
  const numbers = one.numbers.filter(
    (number) =>
      !met.some((other) => hasNumber(other, number.value)) && (isSwapped || !isSaidOf(index, one, number)),
  );
  // In a copy that lost a name, another one stands in its place.
  const isExchanged = same?.names.some((name) => !hasName(one, name)) === true;
  const around = same !== null && isExchanged ? [same] : met;
  const names = one.names.filter((name) => !isAboutName(one, name, around));
  const pairs = one.pairs.filter((pair) => !met.some((other) => saysPair(other, pair)));
  return [...numbers.map(({ written }) => written), ...names, ...pairs].map((piece) => {
    const text = `The summary puts ${piece} where the original does not have it: ${shown(met[0] ?? one)}`;
    return { kind: "fact-elsewhere", piece, text } as const;
  });
}

/** The original has the number with the same unit, or in a statement that has two words in common. */
function isSaidOf(index: OriginalIndex, one: Statement, number: NumberFact): boolean {
  const having = (index.numbers.get(number.value) ?? []).map((at) => index.statements[at] as Statement);
  return isBesideSame(index, number) || having.some((other) => shares(one, other, 2));
}

/**
 * Whether one of the statements has the name, and says something else of it that is said here too. The name
 * alone will do where it stands in for no other.
 */
function isAboutName(one: Statement, name: string, met: readonly Statement[]): boolean {
  const having = met.filter((other) => isPartOfName(other, name));
  if (having.some((other) => shares(one, other, 2))) return true;
  return (
    having.length > 0 &&
    !met.some((other) => shares(one, other, 2) && other.names.some((its) => !hasName(one, its)))
  );
}

function shares(one: Statement, other: Statement, min: number): boolean {
  return new Set(one.words.filter((word) => other.words.includes(word))).size >= min;
}

function isPartOfName({ names, text }: Statement, name: string): boolean {
  return names.some((one) => one.toLowerCase().includes(name.toLowerCase())) || text.includes(name);
}

function otherUnits({ one, other }: Compared): readonly Reason[] {
  return one.numbers.flatMap(({ value, unit, written }) => {
    const same = other.numbers.filter((number) => number.value === value);
    const first = same[0]?.unit ?? null;
    if (unit === null || first === null || same.some((number) => number.unit === unit)) return [];
    const text = `The number ${written} has the unit ${unit} here, and ${first} in the original.`;
    return [{ kind: "unit-changed", piece: written, text } as const];
  });
}

export function hasNumber({ numbers, spelled }: Statement, value: string): boolean {
  return spelled.includes(value) || numbers.some((number) => number.value === value);
}

/** By its end, too. */
export function hasName({ names }: Statement, name: string): boolean {
  const small = name.toLowerCase();
  return names.some((one) => small === one.toLowerCase() || small.endsWith(`/${one.toLowerCase()}`));
}

function shown({ text }: Statement): string {
  return text.length <= 160 ? text : `${text.slice(0, 159)}…`;
}

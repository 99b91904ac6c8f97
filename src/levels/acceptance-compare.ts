import { isStillBound, lostBounds } from "./acceptance-bounds.ts";
import { isProse } from "./acceptance-code.ts";
import type { Reason, ReasonKind } from "./acceptance-facts.ts";
import { type OriginalIndex, weightOf } from "./acceptance-index.ts";
import { clausesOf, negationsIn } from "./acceptance-negations.ts";
import type { Mark, NumberFact, Statement } from "./acceptance-statements.ts";
import { tokensOf } from "./acceptance-tokens.ts";
import { turnedWords } from "./acceptance-turned.ts";
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
    ...lostBounds(one, other),
    ...(likeness(index, one, other) >= sameMin ? lostMarks(compared) : []),
    ...turnedOutcomes(compared),
    ...turnedWords(one, other),
    ...(isRestated ? otherUnits(compared) : []),
    ...(isCopied && isProse(other.text) ? lostFacts(compared) : []),
    ...leftOut(one, other),
    ...putInstead(one, other),
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
  const union = { words: met.flatMap(({ words }) => words), marks: met.flatMap(({ marks }) => marks) };
  const isCopied = met.length > 0 && coverage(index, one, union) >= restatesMin;
  const same = met.find((other) => likeness(index, one, other) >= sameMin) ?? null;
  return [
    ...(isCopied && !one.chain.includes("neither") ? addedOptions(one, union) : []),
    ...(same === null ? [] : moreNegations(one, same)),
  ];
}

/** Words, and which of them are names. */
type Said = Pick<Statement, "words" | "names">;

/**
 * How much of what the first says is said in the second. Names do not count where there are other words: one
 * that was exchanged would make another statement of it.
 */
export function coverage(index: OriginalIndex, of: Said, by: Pick<Statement, "words">): number {
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

function plainWords({ words, names }: Said): ReadonlySet<string> {
  const named = new Set(names.map((name) => name.toLowerCase()));
  return new Set(words.filter((word) => !named.has(word)));
}

const lostKinds: Readonly<Partial<Record<MarkKind, ReasonKind>>> = {
  negation: "negation-lost",
  only: "constraint-lost",
  exception: "constraint-lost",
  "at-most": "constraint-lost",
  "at-least": "constraint-lost",
};

/** A statement that is as good as a copy has every mark of what it copies. */
function lostMarks({ one, other }: Compared): readonly Reason[] {
  return other.marks.flatMap((mark) => {
    const kind = lostKinds[mark.kind];
    if (kind === undefined || isForbidding(other, mark)) return [];
    if (count(one, mark.kind) >= count(other, mark.kind) || isStillBound(one, mark.kind)) return [];
    const what = kind === "negation-lost" ? "The negation" : "The constraint";
    const text = `${what} "${mark.word}" of the original is lost: ${shown(other)}`;
    return [{ kind, piece: mark.word, text }];
  });
}

const boundBefore = 3;

/** "No data may" and "only these may" leave no choice; "may not" may be read as one. */
function isBound({ marks }: Pick<Statement, "marks">, option: Mark): boolean {
  const before = marks.slice(0, marks.indexOf(option));
  return (
    marks.some(({ kind }) => kind === "only") ||
    before.some(({ kind, at }) => kind === "negation" && at >= option.at - boundBefore)
  );
}

/** "Must not" is a negation: "do not" and "never" say as much. */
function isForbidding({ marks }: Statement, { kind, at }: Mark): boolean {
  return kind === "obligation" && marks.some((mark) => mark.kind === "negation" && mark.at === at);
}

/** How much two statements are one. */
function likeness(index: OriginalIndex, one: Statement, other: Statement): number {
  return Math.min(coverage(index, other, one), coverage(index, one, other));
}

/** A statement that is as good as a copy negates no more than what it copies. */
function moreNegations(one: Statement, same: Statement): readonly Reason[] {
  const mark = one.marks.findLast(({ kind }) => kind === "negation");
  if (mark === undefined || negationsIn(one) <= negationsIn(same)) return [];
  const text = `The summary negates with "${mark.word}" what the original does not: ${shown(same)}`;
  return [{ kind: "negation-added", piece: mark.word, text }];
}

const outcomes = [
  ["failed", "passed"],
  ["passed", "failed"],
] as const;

function turnedOutcomes({ one, other }: Compared): readonly Reason[] {
  return outcomes.flatMap(([was, is]) => {
    // "Did not pass" has failed.
    if (isNegatedMark(one, is) !== isNegatedMark(other, was)) return [];
    const turned = count(one, is) > count(other, is) && count(one, was) < count(other, was);
    const piece = other.marks.find(({ kind }) => kind === was)?.word;
    if (!turned || piece === undefined) return [];
    const text = `The outcome "${piece}" of the original is turned: ${shown(other)}`;
    return [{ kind: "outcome-turned", piece, text } as const];
  });
}

function isNegatedMark(statement: Statement, kind: MarkKind): boolean {
  const word = statement.marks.find((mark) => mark.kind === kind)?.word ?? "";
  return clausesOf(statement).some(({ words, negation }) => negation !== null && words.includes(word));
}

function count({ marks }: Pick<Statement, "marks">, kind: MarkKind): number {
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

/** A copy, word by word, of which nothing is missing but a number or a name. */
function leftOut(one: Statement, other: Statement): readonly Reason[] {
  const [own, its] = [tokensOf(one), tokensOf(other)];
  if (own.length < copiedMin || own.length >= its.length || its.length - own.length > leftOutMax) return [];
  const gone: string[] = [];
  let at = 0;
  for (const { word, sort } of its) {
    if (own[at]?.word === word) at += 1;
    else if (sort === "number" || sort === "name") gone.push(word);
    else return [];
  }
  if (at < own.length) return [];
  return gone.map((piece) => {
    const text = `The summary leaves ${piece} out of: ${shown(other)}`;
    return { kind: "fact-lost", piece, text } as const;
  });
}

/** A copy, word by word, with another number or name in it. */
function putInstead(one: Statement, other: Statement): readonly Reason[] {
  const [own, its] = [tokensOf(one), tokensOf(other)];
  if (own.length !== its.length || own.length < insteadMin) return [];
  const changed = own.filter(({ word }, at) => word !== its[at]?.word);
  const same = own.filter(({ sort, word }, at) => sort === "word" && word === its[at]?.word).length;
  if (changed.length !== 1 || same < copiedMin) return [];
  return changed
    .filter(({ sort }) => sort === "number" || sort === "name")
    .map(({ word: piece }) => {
      const text = `The summary has ${piece} instead of what stands in: ${shown(other)}`;
      return { kind: "fact-elsewhere", piece, text } as const;
    });
}

const insteadMin = 4;
const copiedMin = 2;
const leftOutMax = 2;

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
function addedOptions(one: Statement, union: Pick<Statement, "marks">): readonly Reason[] {
  const options = one.marks.filter((mark) => mark.kind === "option" && !isBound(one, mark));
  const mark = options.at(-1);
  if (mark === undefined || options.length <= count(union, "option") || count(union, "obligation") === 0)
    return [];
  const text = `The summary says "${mark.word}" where the original leaves no choice: ${shown(one)}`;
  return [{ kind: "constraint-lost", piece: mark.word, text }];
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

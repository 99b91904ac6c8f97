import { contradictionsIn } from "./acceptance/acceptance.ts";
import {
  coverage,
  hasName,
  hasNumber,
  indexOriginal,
  indexText,
  nearest,
  type OriginalIndex,
} from "./acceptance/acceptance-index.ts";
import type { ReasonKind } from "./acceptance/acceptance-reasons.ts";
import {
  isCode,
  type NumberFact,
  type Statement,
  statementsOf,
  wordsOf,
} from "./acceptance/acceptance-text.ts";
import { isFiller, markOf, stemOf, unitOf } from "./acceptance/acceptance-words.ts";
import { type Difference, difference, distinct, firstOf } from "./coherence.ts";

/** Two statements have one subject if the second has this share of the first. */
const sameThingMin = 0.7;
/** The share in the other direction: a statement with much else may have another subject. */
const sameBackMin = 0.65;
/** If a name differs, the rest must be nearly equal. */
const sameButNameMin = 0.8;

/**
 * Finds where an answer contradicts a memory: another number beside the same word, another unit, another
 * negation, bound or outcome, another name in an otherwise equal statement. Questions and assumptions do not
 * count. It compares words, not meaning, so an empty list proves nothing.
 */
export function contradictions(answer: string, memory: string): readonly Difference[] {
  const index = indexOriginal(memory);
  const found = assertionsOf(answer).flatMap((whole) =>
    clausesOf(whole).flatMap((one) =>
      nearestTo(index, one)
        .flatMap((other) => contradicted(index, one, other))
        // A word that one clause lost may be in another.
        .filter((piece) => one === whole || !isLostOnly(piece, one, whole)),
    ),
  );
  return firstOf(found.map((piece) => difference("said-otherwise", piece)));
}

/** Whether an answer repeats all of a memory, with every number, name and mark. */
export function restates(answer: string, memory: string): boolean {
  const index = indexOriginal(memory);
  const told = index.statements.filter(({ words, numbers }) => words.length + numbers.length > 0);
  const said = assertionsOf(answer);
  return told.length > 0 && told.every((other) => said.some((one) => saysAgain(index, one, other)));
}

/** Questions, assumptions and code assert nothing. */
const supposed =
  /\?\s*$|^\W*(?:if|suppose|imagine|assuming|what if|whether|should we|maybe|perhaps)\b|\b(?:would|were to|could be|might)\b/i;
const assertionsMax = 2_000;
const candidatesMax = 4;

function assertionsOf(answer: string): readonly Statement[] {
  return distinct(answer)
    .slice(0, assertionsMax)
    .filter(({ text, words }) => words.length > 0 && !supposed.test(text) && !isCode(text));
}

function nearestTo(index: OriginalIndex, { words }: Statement): readonly Statement[] {
  return nearest(index, new Set(words)).slice(0, candidatesMax);
}

/** A statement and its clauses: other clauses would hide a match. */
function clausesOf(statement: Statement): readonly Statement[] {
  const clauses = statement.text.split(/[,;:—–]\s+|\s(?:and|but|that|because|while|so)\s/);
  return clauses.length < 2 ? [statement] : [statement, ...clauses.flatMap(statementsOf)];
}

function saysAgain(index: OriginalIndex, one: Statement, other: Statement): boolean {
  if (coverage(index, other, one) < sameThingMin) return false;
  if (!other.numbers.every(({ value }) => hasNumber(one, value))) return false;
  if (!other.names.every((name) => hasName(one, name))) return false;
  return turnsIn(one, other).length === 0;
}

function isLostOnly(piece: string, clause: Statement, whole: Statement): boolean {
  const small = piece.toLowerCase();
  return !wordsOf(clause).includes(small) && wordsOf(whole).includes(small);
}

function contradicted(index: OriginalIndex, one: Statement, other: Statement): readonly string[] {
  const [shared, back] = [coverage(index, other, one), coverage(index, one, other)];
  if (shared < sameThingMin || back < sameBackMin || plainCount(other) < 2) return [];
  if (isQualified(one, other) || firstNumber(one) !== firstNumber(other)) return [];
  const isSame = shared >= sameButNameMin && back >= sameButNameMin;
  return [...turnsIn(one, other), ...(isSame ? otherNames(one, other) : [])];
}

function turnsIn(one: Statement, other: Statement): readonly string[] {
  const index = indexText({ text: other.text, statements: [other] });
  const turned = contradictionsIn(index, one).filter(({ kind }) => isTurn(kind));
  return [
    ...turned.map(({ piece }) => piece),
    ...otherNumbers(one, other),
    ...otherUnits(one, other),
    ...addedNegations(one, other),
  ];
}

/** The number by which a statement names its subject, as in "Migration 14 passed". */
function firstNumber(statement: Statement): string | null {
  const second = wordsOf(statement)[1] ?? "";
  return /^\d+$/.test(second) ? second : null;
}

/** A word before a shared one changes the subject: "the staging API" is not "the API". */
function isQualified(one: Statement, other: Statement): boolean {
  const [chain, there] = [wordsOf(one), wordsOf(other)];
  const known = (word: string) => other.words.includes(stemOf(word)) || there.includes(word);
  return chain.some((word, at) => {
    const before = chain[at - 1];
    if (before === undefined || isFiller(word) || !known(word) || known(before)) return false;
    return !isFiller(before) && !/\d|ly$|n't$/.test(before) && markOf(before, "") === null;
  });
}

function isTurn(kind: ReasonKind): boolean {
  return (
    kind === "negation-lost" ||
    kind === "constraint-lost" ||
    kind === "outcome-turned" ||
    kind === "unit-changed"
  );
}

/** A statement of hardly anything but names has no single subject. */
function plainCount({ words, names }: Statement): number {
  const named = new Set(names.map((name) => name.toLowerCase()));
  return new Set(words.filter((word) => !named.has(word))).size;
}

/** A number that replaces another beside the same word. */
function otherNumbers(one: Statement, other: Statement): readonly string[] {
  const gone = other.numbers.filter(({ value }) => !hasNumber(one, value));
  const fresh = one.numbers.filter(({ value }) => !hasNumber(other, value));
  return fresh
    .filter((number) => gone.some((was) => isBesideSame(number, was)))
    .map(({ written }) => written);
}

function isBesideSame({ beside, unit }: NumberFact, was: NumberFact): boolean {
  const isWord = (word: string) => word !== "" && !isFiller(word);
  const isAfter = isWord(beside.after) && beside.after === was.beside.after;
  const isBefore = isWord(beside.before) && beside.before === was.beside.before;
  return isAfter || isBefore || (unit !== null && unit === was.unit);
}

/** A unit without a number, as in "per minute". */
function otherUnits(one: Statement, other: Statement): readonly string[] {
  const was = wordsOf(other)
    .filter((_word, at, words) => words[at - 1] === "per")
    .map(unitOf);
  return wordsOf(one).filter((word, at, words) => {
    const unit = unitOf(word);
    if (unit === null || words[at - 1] !== "per") return false;
    return was.length > 0 && was.every((known) => known !== null && known !== unit);
  });
}

function addedNegations(one: Statement, other: Statement): readonly string[] {
  const negations = ({ marks }: Statement) => marks.filter(({ kind }) => kind === "negation");
  if (negations(other).length > 0) return [];
  const about = negations(one).filter(({ at }) =>
    one.words.slice(Math.max(0, at - 1), at + 2).some((word) => other.words.includes(word)),
  );
  return about.map(({ word }) => word);
}

function otherNames(one: Statement, other: Statement): readonly string[] {
  const isGone = other.names.some((name) => !hasName(one, name));
  return isGone ? one.names.filter((name) => !hasName(other, name)) : [];
}

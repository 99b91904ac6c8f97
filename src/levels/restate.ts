import { isCode } from "./acceptance-code.ts";
import { complaintsAbout, coverage, hasName, hasNumber } from "./acceptance-compare.ts";
import type { ReasonKind } from "./acceptance-facts.ts";
import { indexOriginal, nearest, type OriginalIndex } from "./acceptance-index.ts";
import { lostNegations } from "./acceptance-negations.ts";
import { type NumberFact, type Statement, statementsOf } from "./acceptance-statements.ts";
import { isFiller, markOf, stemOf, unitOf } from "./acceptance-words.ts";
import { type Difference, difference, distinct, firstOf } from "./coherence.ts";

/** Two statements are about one thing if so much of what the first says is in the second. */
const sameThingMin = 0.7;
/** And so much the other way round: who says much else may mean another thing. */
const sameBackMin = 0.65;
/** With another name in it a statement is about the same thing only if all else is the same. */
const sameButNameMin = 0.8;

/**
 * Where an answer says otherwise what a memory says: another number beside the same word, another unit, a
 * negation or a bound more or less, an outcome turned, another name in an otherwise equal statement.
 * Questions and what is only supposed say nothing. Words are compared, not meaning: an empty list is no
 * proof.
 */
export function contradictions(answer: string, memory: string): readonly Difference[] {
  const index = indexOriginal(memory);
  const found = assertionsOf(answer).flatMap((whole) =>
    clausesOf(whole).flatMap((one) =>
      nearestTo(index, one)
        .flatMap((other) => contradicted(index, one, other))
        // What a clause has lost may stand in another.
        .filter((piece) => one === whole || !isLostOnly(piece, one, whole)),
    ),
  );
  return firstOf(found.map((piece) => difference("said-otherwise", piece)));
}

/** Whether an answer says again all that a memory says, with every number, name and mark of it. */
export function restates(answer: string, memory: string): boolean {
  const index = indexOriginal(memory);
  const told = index.statements.filter(({ words, numbers }) => words.length + numbers.length > 0);
  const said = assertionsOf(answer);
  return told.length > 0 && told.every((other) => said.some((one) => saysAgain(index, one, other)));
}

/** What only may be, or is asked, asserts nothing; code is not talk. */
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
  return nearest(index, new Set(words))
    .slice(0, candidatesMax)
    .map(({ statement }) => statement);
}

/** A statement and the clauses in it: what is said beside a thing would hide that it is said. */
function clausesOf(statement: Statement): readonly Statement[] {
  const clauses = statement.text.split(/[,;:—–]\s+|\s(?:and|but|that|because|while|so)\s/);
  return clauses.length < 2 ? [statement] : [statement, ...clauses.flatMap(statementsOf)];
}

function saysAgain(index: OriginalIndex, one: Statement, other: Statement): boolean {
  if (coverage(index, other, one) < sameThingMin) return false;
  if (!other.numbers.every(({ value }) => hasNumber(one, value))) return false;
  if (!other.names.every((name) => hasName(one, name))) return false;
  return turnsIn(index, one, other).length === 0;
}

function isLostOnly(piece: string, clause: Statement, { chain }: Statement): boolean {
  const small = piece.toLowerCase();
  return !clause.chain.includes(small) && chain.includes(small);
}

function contradicted(index: OriginalIndex, one: Statement, other: Statement): readonly string[] {
  const [shared, back] = [coverage(index, other, one), coverage(index, one, other)];
  if (shared < sameThingMin || back < sameBackMin || plainCount(other) < 2) return [];
  if (isQualified(one, other) || firstNumber(one) !== firstNumber(other)) return [];
  const isSame = shared >= sameButNameMin && back >= sameButNameMin;
  return [...turnsIn(index, one, other), ...(isSame ? otherNames(one, other) : [])];
}

function turnsIn(index: OriginalIndex, one: Statement, other: Statement): readonly string[] {
  const turned = complaintsAbout({ index, one, other, summary: [one] }).filter(({ kind }) => isTurn(kind));
  return [
    ...lostNegations(one, other).map(({ piece }) => piece),
    ...turned.map(({ piece }) => piece),
    ...otherNumbers(one, other),
    ...otherUnits(one, other),
    ...addedNegations(one, other),
  ];
}

/** The number by which a statement names its subject, as in "Migration 14 passed". */
function firstNumber({ chain }: Statement): string | null {
  return /^\d+$/.test(chain[1] ?? "") ? (chain[1] ?? null) : null;
}

/** A word right before one that both have makes another thing of it: "the staging API" is not "the API". */
function isQualified({ chain }: Statement, other: Statement): boolean {
  const known = (word: string) => other.words.includes(stemOf(word)) || other.chain.includes(word);
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

/** Statements of hardly anything but names are about too much at once. */
function plainCount({ words, names }: Statement): number {
  const named = new Set(names.map((name) => name.toLowerCase()));
  return new Set(words.filter((word) => !named.has(word))).size;
}

/** A number that stands where another stood: beside the same word. */
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

/** A unit that stands without a number beside it, as in "per minute". */
function otherUnits(one: Statement, other: Statement): readonly string[] {
  return one.chain.filter((word, at) => {
    const unit = unitOf(word);
    const before = one.chain[at - 1];
    if (unit === null || before !== "per") return false;
    const was = other.chain.filter((_, index) => other.chain[index - 1] === "per").map(unitOf);
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
